import { afterEach, describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { request } from 'node:https'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startMockRegistry } from '../../../sandbox/registry/registry.ts'
import type { MockRegistry, MockRegistryOptions } from '../../../sandbox/registry/registry.ts'
import { computeBytesDigest, manifestMediaTypes } from '../../../sandbox/registry/registry-image.ts'
import { findMissingProgram } from '../../left-out.ts'

const execFileAsync = promisify(execFile)
const allManifestMediaTypes = Object.values(manifestMediaTypes).join(', ')
let mockRegistry: MockRegistry
const startTestRegistry = async (options: MockRegistryOptions = {}): Promise<MockRegistry> =>
  (mockRegistry = await startMockRegistry(options))
const fetchFromRegistry = (
  path: string,
  headers: Record<string, string> = { accept: allManifestMediaTypes },
  method = 'GET',
): Promise<Response> => fetch(mockRegistry.url + path, { headers, method, redirect: 'manual' })
afterEach(async () => mockRegistry.stop())

describe('pulling', () => {
  test('a tag and its digest return the same bytes, and their hash is the digest', async () => {
    await startTestRegistry()
    const { digest, reference } = mockRegistry.putImage('org/bundle', 'v1', { labels: { a: 'b' } })
    expect(reference).toBe(`${mockRegistry.host}/org/bundle@${digest}`)
    const byTag = await fetchFromRegistry('/v2/org/bundle/manifests/v1')
    expect(byTag.headers.get('docker-content-digest')).toBe(digest)
    const bytes = Buffer.from(await byTag.arrayBuffer())
    expect(computeBytesDigest(bytes)).toBe(digest)
    expect(
      Buffer.from(await (await fetchFromRegistry(`/v2/org/bundle/manifests/${digest}`)).arrayBuffer()),
    ).toEqual(bytes)
  })

  test('a manifest with a type that is not in Accept is reported as unknown', async () => {
    await startTestRegistry()
    mockRegistry.putImage('org/one', 'v1', { format: 'oci' })
    mockRegistry.putImage('org/two', 'v1', { platforms: ['linux/amd64', 'linux/arm64'], format: 'docker' })
    expect(
      (await fetchFromRegistry('/v2/org/one/manifests/v1', { accept: manifestMediaTypes.dockerManifest }))
        .status,
    ).toBe(404)
    expect(
      (await fetchFromRegistry('/v2/org/two/manifests/v1', { accept: manifestMediaTypes.dockerManifest }))
        .status,
    ).toBe(404)
    expect((await fetchFromRegistry('/v2/org/two/manifests/v1')).headers.get('content-type')).toBe(
      manifestMediaTypes.dockerList,
    )
  })

  test('the same content has the same digest every time', async () => {
    await startTestRegistry()
    const content = {
      labels: { x: 'y' },
      files: { 'manifests/a.yaml': 'a: 1\n' },
      platforms: ['linux/amd64', 'linux/s390x'],
    }
    expect(mockRegistry.putImage('a/a', 'x', content).digest).toBe(
      mockRegistry.putImage('b/b', 'x', content).digest,
    )
  })

  test('a real client copies an image out, and its layer contains the files', async () => {
    await startTestRegistry()
    if (findMissingProgram('skopeo')) return
    mockRegistry.putImage('org/bundle', 'v1', {
      labels: { channel: 'stable' },
      files: { 'manifests/csv.yaml': 'kind: x\n' },
    })
    const folder = await mkdtemp(join(tmpdir(), 'registry-'))
    await execFileAsync('skopeo', [
      'copy',
      '--quiet',
      '--src-tls-verify=false',
      `docker://${mockRegistry.host}/org/bundle:v1`,
      `dir:${folder}`,
    ])
    const files = await readdir(folder)
    const blobs = await Promise.all(
      files.filter((it) => /^[0-9a-f]{64}$/.test(it)).map((it) => readFile(join(folder, it))),
    )
    expect(blobs.some((it) => it.toString().includes('"channel":"stable"'))).toBe(true)
    const layer = files.filter((it) => /^[0-9a-f]{64}$/.test(it)).find((_, at) => blobs[at]?.[0] === 0x1f)
    const { stdout } = await execFileAsync('tar', ['xzOf', join(folder, layer ?? ''), 'manifests/csv.yaml'])
    expect(stdout).toBe('kind: x\n')
    // Copy it back under another name, to upload blobs and the manifest as a client does.
    await execFileAsync('skopeo', [
      'copy',
      '--quiet',
      '--dest-tls-verify=false',
      `dir:${folder}`,
      `docker://${mockRegistry.host}/copied/bundle:v2`,
    ])
    expect(mockRegistry.manifest('copied/bundle', 'v2')?.digest).toBe(
      mockRegistry.manifest('org/bundle', 'v1')?.digest,
    )
    await rm(folder, { recursive: true })
  })
})

describe('tokens', () => {
  const users = { robot: 'pass:word' }
  const tokenFor = async (scope: string, authorization?: string): Promise<Response> =>
    fetchFromRegistry(
      `/token?service=sandbox&scope=${scope}`,
      authorization === undefined ? {} : { authorization },
    )

  test('the challenge names the scope, and an anonymous token for it opens a public repository', async () => {
    await startTestRegistry({ auth: { kind: 'bearer' } })
    mockRegistry.putImage('org/public', 'v1')
    const rejected = await fetchFromRegistry('/v2/org/public/manifests/v1')
    expect(rejected.status).toBe(401)
    expect(rejected.headers.get('www-authenticate')).toBe(
      `Bearer realm="${mockRegistry.url}/token",service="sandbox",scope="repository:org/public:pull"`,
    )
    const { token } = (await (await tokenFor('repository:org/public:pull')).json()) as { token: string }
    expect(
      (
        await fetchFromRegistry('/v2/org/public/manifests/v1', {
          accept: allManifestMediaTypes,
          authorization: `Bearer ${token}`,
        })
      ).status,
    ).toBe(200)
  })

  test.each([
    ['hub', 200, 401],
    ['ghcr', 401, 401],
  ] as const)(
    'a private repository rejects anonymous clients, in the manner of %s',
    async (style, tokenStatus, manifestStatus) => {
      await startTestRegistry({ auth: { kind: 'bearer', private: ['org/hidden'], style, users } })
      mockRegistry.putImage('org/hidden', 'v1')
      const answer = await tokenFor('repository:org/hidden:pull')
      expect(answer.status).toBe(tokenStatus)
      const { token = 'none' } = (await answer.json()) as { token?: string }
      expect(
        (
          await fetchFromRegistry('/v2/org/hidden/manifests/v1', {
            accept: allManifestMediaTypes,
            authorization: `Bearer ${token}`,
          })
        ).status,
      ).toBe(manifestStatus)
      const named = await tokenFor('repository:org/hidden:pull', `Basic ${btoa('robot:pass:word')}`)
      const { token: good } = (await named.json()) as { token: string }
      expect(
        (
          await fetchFromRegistry('/v2/org/hidden/manifests/v1', {
            accept: allManifestMediaTypes,
            authorization: `Bearer ${good}`,
          })
        ).status,
      ).toBe(200)
      expect((await tokenFor('repository:org/hidden:pull', `Basic ${btoa('robot:wrong')}`)).status).toBe(401)
    },
  )

  test('basic authentication is required for every request', async () => {
    await startTestRegistry({ auth: { kind: 'basic', users } })
    mockRegistry.putImage('org/one', 'v1')
    expect((await fetchFromRegistry('/v2/org/one/manifests/v1')).headers.get('www-authenticate')).toBe(
      'Basic realm="registry"',
    )
    const authorization = `Basic ${btoa('robot:pass:word')}`
    expect(
      (await fetchFromRegistry('/v2/org/one/manifests/v1', { accept: allManifestMediaTypes, authorization }))
        .status,
    ).toBe(200)
  })
})

describe('faults', () => {
  test('a broken HEAD does not affect GET', async () => {
    await startTestRegistry()
    mockRegistry.putImage('org/one', 'v1')
    mockRegistry.quirks.headStatus = 404
    expect(
      (await fetchFromRegistry('/v2/org/one/manifests/v1', { accept: allManifestMediaTypes }, 'HEAD')).status,
    ).toBe(404)
    expect((await fetchFromRegistry('/v2/org/one/manifests/v1')).status).toBe(200)
  })

  test('the digest header can be wrong or missing', async () => {
    await startTestRegistry()
    const { digest } = mockRegistry.putImage('org/one', 'v1')
    mockRegistry.quirks.digestHeader = 'wrong'
    expect(
      (await fetchFromRegistry('/v2/org/one/manifests/v1')).headers.get('docker-content-digest'),
    ).not.toBe(digest)
    mockRegistry.quirks.digestHeader = 'missing'
    expect(
      (await fetchFromRegistry('/v2/org/one/manifests/v1')).headers.get('docker-content-digest'),
    ).toBeNull()
  })

  test('blobs redirect to storage that requires no token', async () => {
    await startTestRegistry({ auth: { kind: 'bearer' } })
    mockRegistry.putImage('org/one', 'v1', { files: { a: 'a' } })
    const { layers } = JSON.parse(mockRegistry.manifest('org/one', 'v1')?.bytes.toString() ?? '') as {
      layers: { digest: string }[]
    }
    const { token } = (await (await fetchFromRegistry('/token?scope=repository:org/one:pull')).json()) as {
      token: string
    }
    mockRegistry.quirks.redirectBlobs = true
    const moved = await fetchFromRegistry(`/v2/org/one/blobs/${layers[0]?.digest}`, {
      authorization: `Bearer ${token}`,
    })
    expect(moved.status).toBe(307)
    const bytes = await (await fetch(moved.headers.get('location') ?? '')).arrayBuffer()
    expect(computeBytesDigest(new Uint8Array(bytes))).toBe(layers[0]?.digest)
  })

  test('faults last as long as configured and are logged', async () => {
    await startTestRegistry()
    mockRegistry.putImage('org/one', 'v1')
    mockRegistry.fail(() => true, { status: 429, headers: { 'retry-after': '7' } }, 2)
    expect((await fetchFromRegistry('/v2/org/one/manifests/v1')).headers.get('retry-after')).toBe('7')
    expect((await fetchFromRegistry('/v2/org/one/manifests/v1')).status).toBe(429)
    expect((await fetchFromRegistry('/v2/org/one/manifests/v1')).status).toBe(200)
    mockRegistry.fail((it) => it.kind === 'ping', { disconnect: true }, 1)
    await expect(fetchFromRegistry('/v2/')).rejects.toThrow()
    expect(mockRegistry.requests.map((it) => [it.kind, it.status])).toEqual([
      ['manifest', 429],
      ['manifest', 429],
      ['manifest', 200],
      ['ping', 0],
    ])
  })
})

describe('pushing', () => {
  test('rejects a manifest with missing blobs, and bytes that do not match their digest', async () => {
    await startTestRegistry()
    const put = (path: string, body: string, type = 'application/octet-stream'): Promise<Response> =>
      fetch(mockRegistry.url + path, { method: 'PUT', body, headers: { 'content-type': type } })
    const config = { mediaType: 'x', digest: computeBytesDigest(Buffer.from('{}')), size: 2 }
    const manifest = JSON.stringify({
      schemaVersion: 2,
      mediaType: manifestMediaTypes.ociManifest,
      config,
      layers: [],
    })
    expect((await put('/v2/new/one/manifests/v1', manifest, manifestMediaTypes.ociManifest)).status).toBe(400)
    const { headers } = await fetch(`${mockRegistry.url}/v2/new/one/blobs/uploads/`, { method: 'POST' })
    const location = headers.get('location') ?? ''
    expect((await put(`${location}?digest=${computeBytesDigest(Buffer.from('else'))}`, '{}')).status).toBe(
      400,
    )
    const again = await fetch(`${mockRegistry.url}/v2/new/one/blobs/uploads/`, { method: 'POST' })
    expect((await put(`${again.headers.get('location')}?digest=${config.digest}`, '{}')).status).toBe(201)
    expect((await put('/v2/new/one/manifests/v1', manifest, manifestMediaTypes.ociManifest)).status).toBe(201)
    expect((await fetchFromRegistry('/v2/new/one/tags/list')).status).toBe(200)
  })
})

test('serves TLS with a certificate', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'registry-'))
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await execFileAsync('openssl', [
    'req',
    '-x509',
    ...curve,
    '-keyout',
    key,
    '-out',
    cert,
    '-days',
    '1',
    ...subject,
  ])
  await startTestRegistry({ tls: { key: await readFile(key, 'utf8'), cert: await readFile(cert, 'utf8') } })
  expect(mockRegistry.url).toMatch(/^https:/)
  const ca = await readFile(cert, 'utf8')
  const status = await new Promise((resolve, reject) => {
    request(`${mockRegistry.url}/v2/`, { ca }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })
  expect(status).toBe(200)
  await rm(folder, { recursive: true })
})
