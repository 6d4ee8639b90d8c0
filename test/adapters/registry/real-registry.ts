// Debian's docker-registry on a random loopback port, with or without a login, and images that skopeo pushes to it.
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { findFreePort } from '../../../scripts/free-port.ts'

export interface RealRegistry {
  readonly host: string
  /** Writes an image layout and pushes it with skopeo. Returns the digest that skopeo reports. */
  push(
    image: TestImageSpec,
    name: string,
    options?: { readonly credentials?: string; readonly format?: 'oci' | 'v2s2' },
  ): Promise<string>
  close(): Promise<void>
}

export interface TestImageSpec {
  readonly labels?: Readonly<Record<string, string>>
  /** Uncompressed tar archives. */
  readonly layers: readonly Uint8Array[]
  /** One image per architecture, in an index if there are several. Default: only amd64. */
  readonly architectures?: readonly string[]
}

export type RegistryLogin =
  | { readonly kind: 'none' }
  | { readonly kind: 'htpasswd'; readonly file: string }
  | {
      readonly kind: 'token'
      readonly realm: string
      readonly service: string
      readonly issuer: string
      readonly certificate: string
    }

export async function startRealRegistry(
  login: RegistryLogin = { kind: 'none' },
  port?: number,
): Promise<RealRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'real-registry-'))
  const chosen = port ?? (await findFreePort())
  const host = `127.0.0.1:${chosen}`
  const auth = {
    none: {},
    htpasswd: { auth: { htpasswd: { realm: 'test', path: login.kind === 'htpasswd' ? login.file : '' } } },
    token:
      login.kind === 'token'
        ? {
            auth: {
              token: {
                realm: login.realm,
                service: login.service,
                issuer: login.issuer,
                rootcertbundle: login.certificate,
              },
            },
          }
        : {},
  }[login.kind]
  const config = {
    version: '0.1',
    log: { level: 'error', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(folder, 'data') } },
    http: { addr: host, secret: 'test' },
    ...auth,
  }
  // JSON is YAML.
  await writeFile(join(folder, 'config.yml'), JSON.stringify(config))
  const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' })
  await waitUntilRegistryReady(host, child)
  let count = 0
  return {
    host,
    async push(image, name, options = {}) {
      const layout = join(folder, `layout-${(count += 1)}`)
      await writeImageLayout(image, layout)
      const digestFile = join(layout, 'digest')
      // Not spawnSync, because the token service of a test runs in this process.
      await promisify(execFile)(
        'skopeo',
        [
          'copy',
          '--quiet',
          '--insecure-policy',
          '--all',
          '--dest-tls-verify=false',
          `--digestfile=${digestFile}`,
          ...(options.credentials === undefined
            ? ['--dest-no-creds']
            : [`--dest-creds=${options.credentials}`]),
          ...(options.format === undefined ? [] : [`--format=${options.format}`]),
          `oci:${layout}:image`,
          `docker://${host}/${name}`,
        ],
        { timeout: 20_000 },
      )
      return (await readFile(digestFile, 'utf8')).trim()
    },
    async close() {
      const ended = new Promise((done) => child.once('exit', done))
      child.kill('SIGTERM')
      await ended
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Writes an OCI image layout with the single name `image`. */
export async function writeImageLayout(image: TestImageSpec, folder: string): Promise<void> {
  const blobs = join(folder, 'blobs', 'sha256')
  await mkdir(blobs, { recursive: true })
  const put = async (content: Uint8Array | string, mediaType: string) => {
    const hex = createHash('sha256').update(content).digest('hex')
    await writeFile(join(blobs, hex), content)
    return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(content) }
  }
  const manifests = []
  for (const architecture of image.architectures ?? ['amd64']) {
    const layers = []
    for (const tar of image.layers)
      layers.push(await put(gzipSync(tar, { level: 9 }), 'application/vnd.oci.image.layer.v1.tar+gzip'))
    const config = await put(
      JSON.stringify({
        architecture,
        os: 'linux',
        config: { Labels: image.labels ?? {} },
        rootfs: {
          type: 'layers',
          diff_ids: image.layers.map((tar) => `sha256:${createHash('sha256').update(tar).digest('hex')}`),
        },
      }),
      'application/vnd.oci.image.config.v1+json',
    )
    const manifest = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config,
      layers,
    }
    manifests.push({
      ...(await put(JSON.stringify(manifest), manifest.mediaType)),
      platform: { os: 'linux', architecture },
    })
  }
  const named = { annotations: { 'org.opencontainers.image.ref.name': 'image' } }
  const single = manifests.length === 1 ? manifests[0] : undefined
  const index = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json', manifests }
  const top = single
    ? { ...single, ...named }
    : { ...(await put(JSON.stringify(index), index.mediaType)), ...named }
  await writeFile(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}')
  await writeFile(join(folder, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [top] }))
}

async function waitUntilRegistryReady(host: string, child: ChildProcess): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`docker-registry ended with code ${child.exitCode}`)
    const up = await fetch(`http://${host}/v2/`).then(
      () => true,
      () => false,
    )
    if (up) return
    await new Promise((wait) => setTimeout(wait, 25))
  }
  throw new Error('docker-registry does not answer')
}
