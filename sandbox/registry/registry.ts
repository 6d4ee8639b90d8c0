// A small OCI registry in one process: pull, push, tags, tokens, and injected faults that occur in real registries.
// Everything is in memory. It is as strict about Accept as ghcr.io.
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { RegistryAuthorizer } from './registry-auth.ts'
import type { RegistryAuth } from './registry-auth.ts'
import { MockRegistryStorage, createErrorResponse } from './registry-content.ts'
import type { RegistryContentRequest, RegistryResponse } from './registry-content.ts'
import type { MockImageSpec } from './registry-image.ts'

export interface MockRegistryOptions {
  /** 0 or undefined: any free port. */
  readonly port?: number
  readonly auth?: RegistryAuth
  /** Keys and certificates in PEM. Without them, the registry uses plain HTTP. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

export type RegistryRequestKind = 'ping' | 'token' | 'manifest' | 'blob' | 'upload' | 'tags' | 'other'

export interface RecordedRegistryRequest {
  readonly method: string
  readonly kind: RegistryRequestKind
  readonly path: string
  readonly repository: string
  /** A tag or digest, or '' for a request without one. */
  readonly reference: string
  /** The status of the answer, or 0 if there was none. */
  readonly status: number
  /** Whether the request had credentials or a token. */
  readonly authorized: boolean
}

type RegistryRequestDetails = Omit<RecordedRegistryRequest, 'status'>
export type RegistryRequestMatcher = (request: RegistryRequestDetails) => boolean

interface FaultHttpResponse {
  readonly status: number
  readonly code?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}
export type RegistryFaultEffect =
  FaultHttpResponse | { readonly delay: number } | { readonly disconnect: true }

interface RegistryFault {
  readonly matches: RegistryRequestMatcher
  readonly outcome: RegistryFaultEffect
  remaining: number
}

const repositoryNamePattern = '([a-z0-9]+(?:[._/-]+[a-z0-9]+)*)'
const pathPatternByRequestKind: readonly (readonly [RegistryRequestKind, RegExp])[] = [
  ['ping', /^\/v2\/?$/],
  ['token', /^\/token$/],
  ['manifest', new RegExp(`^/v2/${repositoryNamePattern}/manifests/([^/]+)$`)],
  ['upload', new RegExp(`^/v2/${repositoryNamePattern}/blobs/uploads/([^/]*)$`)],
  ['blob', new RegExp(`^/(?:v2|storage)/${repositoryNamePattern}/blobs/([^/]+)$`)],
  ['tags', new RegExp(`^/v2/${repositoryNamePattern}/tags/list()$`)],
]

export class MockRegistry extends MockRegistryStorage {
  readonly requests: RecordedRegistryRequest[] = []
  readonly #server: Server
  readonly #secure: boolean
  readonly #guard: RegistryAuthorizer
  readonly #faults: RegistryFault[] = []

  constructor(options: MockRegistryOptions) {
    super()
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      this.#serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
    }
    this.#secure = options.tls !== undefined
    this.#server = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener)
    this.#guard = new RegistryAuthorizer(options.auth ?? { kind: 'none' }, () => this.url)
  }

  async listen(port: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(port, '127.0.0.1', resolve)
    })
  }

  /** `127.0.0.1:port`: the host in references. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }
  get url(): string {
    return `${this.#secure ? 'https' : 'http'}://${this.host}`
  }

  /** The next `times` matching requests end this way. After a delay, the normal answer follows. */
  fail(
    matches: RegistryRequestMatcher,
    outcome: RegistryFaultEffect,
    times = Number.POSITIVE_INFINITY,
  ): () => void {
    const fault: RegistryFault = { matches, outcome, remaining: times }
    this.#faults.push(fault)
    return () => {
      fault.remaining = 0
    }
  }

  /** Adds an image, with an optional tag, and returns its digest and a full reference by digest. */
  override putImage(
    repository: string,
    tag: string | undefined,
    content: MockImageSpec = {},
  ): { readonly digest: string; readonly reference: string } {
    const { digest, reference } = super.putImage(repository, tag, content)
    return { digest, reference: `${this.host}/${reference}` }
  }

  async stop(): Promise<void> {
    await new Promise((resolve) => {
      this.#server.close(resolve)
      this.#server.closeAllConnections()
    })
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url)
    const method = request.method ?? 'GET'
    const [kind, found] = classifyRequestPath(url.pathname)
    const [, repository = '', reference = ''] = found ?? []
    const authorized = request.headers.authorization !== undefined
    const call: RegistryRequestDetails = {
      method,
      kind,
      path: url.pathname,
      repository,
      reference: decodeURIComponent(reference),
      authorized,
    }
    const fault = this.#faults.find((it) => it.remaining > 0 && it.matches(call))
    if (fault !== undefined) fault.remaining -= 1
    const received = Buffer.concat(await request.toArray())
    if (fault !== undefined && 'disconnect' in fault.outcome) {
      this.requests.push({ ...call, status: 0 })
      response.destroy()
      return
    }
    if (fault !== undefined && 'delay' in fault.outcome) await wait(fault.outcome.delay)
    const reply =
      fault !== undefined && 'status' in fault.outcome
        ? toFaultResponse(fault.outcome)
        : this.#answer(request, call, url, received)
    this.requests.push({ ...call, status: reply.status })
    const body = Buffer.from(reply.body ?? '')
    const headers = {
      'docker-distribution-api-version': 'registry/2.0',
      'content-length': String(body.length),
      ...reply.headers,
    }
    response.writeHead(reply.status, headers).end(method === 'HEAD' ? undefined : body)
  }

  #answer(request: IncomingMessage, asked: RegistryRequestDetails, url: URL, body: Buffer): RegistryResponse {
    const { method, kind, repository, path } = asked
    if (kind === 'token') {
      const token = this.#guard.issue(
        request,
        url,
        new URLSearchParams(method === 'POST' ? body.toString() : ''),
      )
      return token === undefined
        ? createErrorResponse(401, 'UNAUTHORIZED')
        : {
            status: 200,
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ ...token, access_token: token.token }),
          }
    }
    if (kind === 'other') return createErrorResponse(404, 'NAME_INVALID')
    // Object storage requires no token: the URL is sufficient.
    if (!path.startsWith('/storage/')) {
      const action = method === 'GET' || method === 'HEAD' ? 'pull' : method === 'DELETE' ? 'delete' : 'push'
      const denial = this.#guard.check(request, kind === 'ping' ? undefined : { repository, action })
      if (denial !== undefined)
        return createErrorResponse(
          denial.status,
          denial.status === 401 ? 'UNAUTHORIZED' : 'DENIED',
          undefined,
          denial.headers,
        )
    }
    const wanted: RegistryContentRequest = { ...asked, headers: request.headers, url, body }
    switch (kind) {
      case 'ping':
        return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }
      case 'manifest':
        if (method === 'DELETE') return this.deleteManifest(wanted)
        return method === 'PUT' ? this.receiveManifest(wanted) : this.getManifest(wanted)
      case 'blob':
        return this.getBlob(wanted)
      case 'tags':
        return this.listTags(wanted)
      case 'upload':
        return this.upload(wanted)
    }
  }
}

function classifyRequestPath(path: string): [RegistryRequestKind, RegExpExecArray | null] {
  for (const [kind, shape] of pathPatternByRequestKind) {
    const found = shape.exec(path)
    if (found !== null) return [kind, found]
  }
  return ['other', null]
}

function toFaultResponse(outcome: FaultHttpResponse): RegistryResponse {
  if (outcome.body !== undefined)
    return { status: outcome.status, headers: { ...outcome.headers }, body: outcome.body }
  return createErrorResponse(outcome.status, outcome.code ?? 'UNKNOWN', undefined, { ...outcome.headers })
}

export async function startMockRegistry(options: MockRegistryOptions = {}): Promise<MockRegistry> {
  const registry = new MockRegistry(options)
  await registry.listen(options.port ?? 0)
  return registry
}
