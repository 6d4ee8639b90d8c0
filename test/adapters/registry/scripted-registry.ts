// A registry in the process of the test. It serves and accepts images, and a hook of the test can respond to any request
// first. Counts requests and connections. Serves HTTP, or HTTPS with a test certificate.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { CredentialSource, RegistryCredential } from '../../../src/adapters/registry/auth/credentials.ts'
import { manifestMediaTypes } from '../../../src/adapters/registry/manifest.ts'

export interface ScriptedRegistryRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export type RegistryScript = (
  request: ScriptedRegistryRequest,
  response: ServerResponse,
  /** The number of earlier requests with this method and path. */
  earlier: number,
) => boolean | void | Promise<boolean | void>

export interface ScriptedRegistry {
  /** `127.0.0.1:PORT`. */
  readonly host: string
  readonly origin: string
  readonly requests: ScriptedRegistryRequest[]
  connections(): number
  /** Called first for every request. Returns true, or ends the response, if it has responded. */
  script: RegistryScript | undefined
  /** Adds a manifest under a tag and its digest, returns the digest. */
  add(repository: string, tag: string, document?: unknown, mediaType?: string): string
  addBlob(content: Uint8Array | string): { digest: string; size: number }
  /** Whether it has a pushed or added manifest such as `org/app@v1`, or a blob by digest. */
  holds(name: string): boolean
  close(): Promise<void>
}

const certificateDirectory = new URL('./loopback-certificate/', import.meta.url)
export const loopbackCertificate = readFileSync(new URL('certificate.pem', certificateDirectory), 'utf8')

/** A source of a fixed credential for each host. */
export function createStaticCredentialSource(
  byHost: Readonly<Record<string, RegistryCredential>>,
): CredentialSource {
  const known = new Map(Object.entries(byHost).map(([host, value]) => [host.toLowerCase(), value]))
  return { find: async (host) => known.get(host.toLowerCase()) }
}

export function computeSha256Digest(content: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`
}

export function createImageManifest(seed: string): unknown {
  const config = computeSha256Digest(seed)
  return {
    schemaVersion: 2,
    mediaType: manifestMediaTypes.ociManifest,
    config: { mediaType: 'application/vnd.oci.image.config.v1+json', digest: config, size: seed.length },
    layers: [],
  }
}

export async function startScriptedRegistry(
  options: { readonly tls?: boolean } = {},
): Promise<ScriptedRegistry> {
  const manifests = new Map<string, { bytes: Buffer; mediaType: string }>()
  const blobs = new Map<string, Buffer>()
  const requestCounts = new Map<string, number>()
  let connections = 0

  const listener = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(incoming.url ?? '/', 'http://registry.test')
    const request = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      body: await readRequestBody(incoming),
    }
    registry.requests.push(request)
    const key = `${request.method} ${request.path}`
    const earlier = requestCounts.get(key) ?? 0
    requestCounts.set(key, earlier + 1)
    if ((await registry.script?.(request, response, earlier)) || response.writableEnded) return
    if (takePush(request, response)) return
    const manifest = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(request.path)
    const blob = /^\/v2\/.+\/blobs\/(.+)$/.exec(request.path)
    if (manifest) {
      const found = manifests.get(`${manifest[1]}@${manifest[2]}`)
      if (!found) return sendRegistryError(response, 404, 'MANIFEST_UNKNOWN', 'manifest unknown')
      response.writeHead(200, {
        'content-type': found.mediaType,
        'content-length': found.bytes.length,
        'docker-content-digest': computeSha256Digest(found.bytes),
      })
      response.end(request.method === 'HEAD' ? undefined : found.bytes)
    } else if (blob) {
      const found = blobs.get(blob[1] ?? '')
      if (!found) return sendRegistryError(response, 404, 'BLOB_UNKNOWN', 'blob unknown')
      response.writeHead(200, { 'content-length': found.length })
      response.end(request.method === 'HEAD' ? undefined : found)
    } else response.writeHead(request.path === '/v2/' ? 200 : 404).end('{}')
  }
  const uploads = new Map<string, Buffer>()
  /** Pushing by the distribution specification in its simplest form: no mounts, and relative locations. */
  function takePush(
    { method, path, query, headers, body }: ScriptedRegistryRequest,
    response: ServerResponse,
  ): boolean {
    const manifest = /^\/v2\/(.+)\/manifests\/(.+)$/.exec(path)
    if (method === 'PUT' && manifest) {
      const mediaType = headers['content-type'] ?? ''
      for (const name of [manifest[2], computeSha256Digest(body)])
        manifests.set(`${manifest[1]}@${name}`, { bytes: body, mediaType })
      response.writeHead(201, { 'docker-content-digest': computeSha256Digest(body) }).end()
      return true
    }
    const start = /^(\/v2\/.+\/blobs\/uploads\/)$/.exec(path)
    if (method === 'POST' && start) {
      const id = `upload-${uploads.size + 1}`
      uploads.set(id, Buffer.alloc(0))
      response.writeHead(202, { location: `${path}${id}?_state=a%3Db` }).end()
      return true
    }
    const step = /^\/v2\/.+\/blobs\/uploads\/(.+)$/.exec(path)
    const known = step && uploads.get(step[1] ?? '')
    if (!step || !known || (method !== 'PATCH' && method !== 'PUT')) return false
    const all = Buffer.concat([known, body])
    uploads.set(step[1] ?? '', all)
    if (method === 'PATCH') response.writeHead(202, { location: `${path}?_state=a%3Db` }).end()
    else if (computeSha256Digest(all) !== query.get('digest'))
      sendRegistryError(response, 400, 'DIGEST_INVALID', 'digest invalid')
    else {
      blobs.set(computeSha256Digest(all), all)
      response.writeHead(201, { 'docker-content-digest': computeSha256Digest(all) }).end()
    }
    return true
  }
  const onRequest: RequestListener = (request, response) => void listener(request, response)
  const server = options.tls
    ? createTlsServer(
        { key: readFileSync(new URL('key.pem', certificateDirectory)), cert: loopbackCertificate },
        onRequest,
      )
    : createServer(onRequest)
  server.keepAliveTimeout = 60_000
  server.on(options.tls ? 'secureConnection' : 'connection', () => (connections += 1))
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo

  const registry: ScriptedRegistry = {
    host: `127.0.0.1:${port}`,
    origin: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests: [],
    connections: () => connections,
    script: undefined,
    add(
      repository,
      tag,
      document = createImageManifest(`${repository}:${tag}`),
      mediaType = manifestMediaTypes.ociManifest,
    ) {
      const bytes = Buffer.from(typeof document === 'string' ? document : JSON.stringify(document))
      const digest = computeSha256Digest(bytes)
      for (const name of [tag, digest]) manifests.set(`${repository}@${name}`, { bytes, mediaType })
      return digest
    },
    addBlob(content) {
      const bytes = Buffer.from(content)
      const digest = computeSha256Digest(bytes)
      blobs.set(digest, bytes)
      return { digest, size: bytes.length }
    },
    holds: (name) => manifests.has(name) || blobs.has(name),
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
  return registry
}

async function readRequestBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
  } catch {
    // The client disconnected, so the body is incomplete.
  }
  return Buffer.concat(chunks)
}

export function sendRegistryError(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
): void {
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(JSON.stringify({ errors: [{ code, message }] }))
}
