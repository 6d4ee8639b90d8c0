// The pusher with difficult registries: where it sends uploads, what it repeats, and which responses it trusts.
import { describe, expect, test } from '@jest/globals'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import {
  RegistryImagePusher,
  type ImagePusher,
  type ImagePusherOptions,
} from '../../../src/adapters/image/open-pusher.ts'
import { HttpRegistryClient } from '../../../src/adapters/registry/open-registry.ts'
import { createBlob, createImage } from './create-images.ts'
import {
  createStaticCredentialSource,
  sendRegistryError,
  startScriptedRegistry,
  computeSha256Digest,
  type RegistryScript,
} from '../registry/scripted-registry.ts'
import {
  clock,
  closeAfterTest,
  registryServer,
  secondRegistryServer as storageServer,
  startRegistriesBeforeEach,
} from '../registry/registry-fixture.ts'

startRegistriesBeforeEach()

function createPusher(options: Partial<ImagePusherOptions> = {}): ImagePusher {
  return closeAfterTest(
    new RegistryImagePusher({
      clock,
      egress: allowLoopbackRegistries(registryServer.host, storageServer.host),
      credentials: [
        createStaticCredentialSource({
          [registryServer.host]: { kind: 'basic', username: 'u', password: 'secret' },
        }),
      ],
      random: () => 0,
      ...options,
    }),
  )
}
const sampleImage = createImage({ 'configs/a.yaml': 'a' })
const createRequest = (more: object = {}) => ({
  host: registryServer.host,
  repository: 'org/app',
  ...sampleImage,
  tags: ['v1'],
  ...more,
})
const listRegistryRequests = (from = registryServer) =>
  from.requests.map(({ method, path }) => `${method} ${path.split('/').slice(4).join('/')}`)
/** Requires the password on every request. */
const requireBasicAuth: RegistryScript = ({ headers }, response) => {
  if (headers.authorization === `Basic ${btoa('u:secret')}`) return
  response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
}
const isBlobUploadRequest = (method: string, path: string) =>
  (method === 'PUT' || method === 'PATCH') && path.includes('/blobs/uploads/')

describe('a push', () => {
  test('sends blobs, the manifest by digest, and the tag, then reads the tag', async () => {
    const { digest } = await createPusher().push(createRequest({ blobs: sampleImage.blobs.slice(0, 1) }))
    const [blob] = sampleImage.blobs
    expect(listRegistryRequests()).toEqual([
      `HEAD blobs/${blob?.digest}`,
      'POST blobs/uploads/',
      'PUT blobs/uploads/upload-1',
      `PUT manifests/${digest}`,
      'PUT manifests/v1',
      'GET manifests/v1',
    ])
    const put = registryServer.requests.find(({ method }) => method === 'PUT')
    // The query from the registry is sent back unchanged.
    expect(put?.query.get('_state')).toBe('a=b')
    expect(put?.headers['content-length']).toBe(String(blob?.size))
  })
  test('sends a duplicate blob once, and does not read an existing one', async () => {
    const there = registryServer.addBlob('already there')
    const unread = { ...there, read: () => Promise.reject(new Error('read')) }
    const [blob] = sampleImage.blobs
    const { blobs } = await createPusher().push(createRequest({ blobs: [unread, blob, blob] }))
    expect(blobs).toEqual({ present: 1, mounted: 0, uploaded: 1 })
  })
  test('tags nothing if a blob cannot be sent', async () => {
    registryServer.script = ({ method, path }, response) =>
      void (isBlobUploadRequest(method, path) && sendRegistryError(response, 400, 'DIGEST_INVALID', 'no'))
    await expect(createPusher().push(createRequest())).rejects.toMatchObject({
      code: 'bad-reply',
      message: expect.stringMatching(/^push to .*\/org\/app failed: .*DIGEST_INVALID/),
    })
    expect(listRegistryRequests().some((step) => step.includes('manifests'))).toBe(false)
  })
  test('does not send bytes that do not match the digest', async () => {
    const blob = { ...createBlob(Buffer.from('one')), read: async () => Buffer.from('two') }
    await expect(createPusher().push(createRequest({ blobs: [blob] }))).rejects.toMatchObject({
      code: 'digest-mismatch',
    })
    expect(listRegistryRequests().some((step) => step.startsWith('PUT'))).toBe(false)
  })
  test.each([
    ['a blob', (path: string) => path.includes('/blobs/uploads/')],
    ['a manifest', (path: string) => path.includes('/manifests/')],
  ])('fails if the registry returns another digest for %s', async (_name, matches) => {
    registryServer.script = ({ method, path }, response) =>
      void (
        method === 'PUT' &&
        matches(path) &&
        response.writeHead(201, { 'docker-content-digest': computeSha256Digest('other') }).end()
      )
    await expect(createPusher().push(createRequest())).rejects.toMatchObject({ code: 'digest-mismatch' })
  })
  test('fails if the tag does not hold the pushed manifest', async () => {
    const other = Buffer.from(JSON.stringify({ schemaVersion: 2 }))
    registryServer.script = ({ method }, response) =>
      void (method === 'GET' && response.writeHead(200).end(other))
    await expect(createPusher().push(createRequest())).rejects.toMatchObject({
      code: 'digest-mismatch',
      message: expect.stringContaining('the tag v1 on '),
    })
  })
})

describe('an upload', () => {
  const leadTo =
    (location: string): RegistryScript =>
    ({ method, path }, response) =>
      void (method === 'POST' && path.endsWith('/uploads/') && response.writeHead(202, { location }).end())
  test('to another origin is sent without our credentials', async () => {
    let sent: Buffer | undefined
    storageServer.script = ({ body }, response) => ((sent = body), void response.writeHead(201).end())
    const lead = leadTo(`${storageServer.origin}/signed/put?X-Signature=a%2Fb+c`)
    registryServer.script = (request, response, earlier) =>
      requireBasicAuth(request, response, earlier) ?? lead(request, response, earlier)
    const [blob] = sampleImage.blobs
    await createPusher().push(createRequest({ blobs: [blob] }))
    expect(sent).toEqual(await blob?.read())
    expect(storageServer.requests[0]?.headers).not.toHaveProperty('authorization')
    expect(storageServer.requests[0]?.query.get('digest')).toBe(blob?.digest)
    expect(registryServer.requests.at(-1)?.headers.authorization).toMatch(/^Basic /)
  })
  test.each([
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/x',
    'http://127.0.0.1:1/x',
    'https://localhost/x',
    'http://quay.io/x',
    'https://user:password@quay.io/x',
    'file:///etc/passwd',
  ])('to %s is blocked', async (location) => {
    registryServer.script = leadTo(location)
    await expect(createPusher().push(createRequest())).rejects.toMatchObject({ code: 'blocked' })
  })
  test('from a registry with TLS to plain HTTP is blocked, even on the same host', async () => {
    const secure = await startScriptedRegistry({ tls: true })
    const { loopbackCertificate } = await import('../registry/scripted-registry.ts')
    secure.script = leadTo(`http://${storageServer.host}/x`)
    const pusher = createPusher({
      egress: {
        plainHttp: [storageServer.host],
        internal: { [secure.host]: ['127.0.0.1/32'], [storageServer.host]: ['127.0.0.1/32'] },
        certificates: { '127.0.0.1': loopbackCertificate },
      },
    })
    await expect(pusher.push(createRequest({ host: secure.host }))).rejects.toMatchObject({
      code: 'blocked',
      message: expect.stringContaining('without TLS'),
    })
    expect(storageServer.requests).toHaveLength(0)
    await secure.close()
  })
  test('does not follow a redirect, and fails without an upload URL', async () => {
    registryServer.script = ({ method }, response) =>
      void (method === 'POST' && response.writeHead(307, { location: `${storageServer.origin}/x` }).end())
    await expect(createPusher().push(createRequest())).rejects.toMatchObject({ code: 'bad-reply' })
    registryServer.script = ({ method }, response) =>
      void (method === 'POST' && response.writeHead(202).end())
    await expect(createPusher().push(createRequest())).rejects.toThrow(/did not return an upload URL/)
    expect(storageServer.requests).toHaveLength(0)
  })
})

describe('failures', () => {
  test.each([500, 503, 429])(
    'HTTP %i in one step restarts the blob instead of repeating the step',
    async (status) => {
      let failed = 0
      registryServer.script = ({ method, path }, response) =>
        void (isBlobUploadRequest(method, path) && failed++ === 0 && response.writeHead(status).end())
      await createPusher().push(createRequest({ blobs: sampleImage.blobs.slice(0, 1) }))
      expect(
        listRegistryRequests()
          .slice(0, 6)
          .map((step) => step.replace(/sha256.*/, '')),
      ).toEqual([
        'HEAD blobs/',
        'POST blobs/uploads/',
        'PUT blobs/uploads/upload-1',
        'HEAD blobs/',
        'POST blobs/uploads/',
        'PUT blobs/uploads/upload-2',
      ])
      expect(clock.slept).toContain(500)
    },
  )
  test('an upload with a lost response is detected and not sent again', async () => {
    const [blob] = sampleImage.blobs
    let cut = 0
    registryServer.script = async ({ method, path, body }, response) => {
      if (!isBlobUploadRequest(method, path) || cut++ > 0) return
      registryServer.addBlob(body)
      response.socket?.destroy()
      return true
    }
    expect((await createPusher().push(createRequest({ blobs: [blob] }))).blobs.present).toBe(1)
  })
  test('a failed manifest push is retried', async () => {
    registryServer.script = ({ method, path }, response, earlier) =>
      void (
        method === 'PUT' &&
        path.includes('/manifests/') &&
        earlier === 0 &&
        response.writeHead(502).end()
      )
    await createPusher().push(createRequest())
    expect(registryServer.holds('org/app@v1')).toBe(true)
  })
  test('a push without permission is reported as a credentials error', async () => {
    registryServer.script = ({ method }, response) =>
      void (method === 'POST' && sendRegistryError(response, 403, 'DENIED', 'no push here'))
    await expect(createPusher().push(createRequest())).rejects.toMatchObject({
      code: 'credentials',
      message: expect.stringContaining('no push here'),
    })
  })
})

describe('scopes', () => {
  /** The registry's challenge requests every scope; the token service records the requested scopes. */
  const greedy = (scopes: string[]): void => {
    registryServer.script = ({ headers }, response) => {
      if (headers.authorization?.startsWith('Bearer ')) return
      const scope = 'repository:org/app:pull,push,delete registry:catalog:* repository:other/app:*'
      response
        .writeHead(401, {
          'www-authenticate': `Bearer realm="${storageServer.origin}/t",service="s",scope="${scope}"`,
        })
        .end()
    }
    storageServer.script = ({ query }, response) => {
      scopes.push(query.getAll('scope').join(' '))
      response.end(JSON.stringify({ token: 'x' }))
    }
  }
  test('the reader never requests push, regardless of the challenge of the registry', async () => {
    const scopes: string[] = []
    greedy(scopes)
    registryServer.add('org/app', 'v1')
    const always = registryServer.script as RegistryScript
    // Never accepts a token, so that the reader tries every scope.
    registryServer.script = (request, response, earlier) =>
      always({ ...request, headers: { ...request.headers, authorization: undefined } }, response, earlier)
    const reader = new HttpRegistryClient({
      clock,
      egress: allowLoopbackRegistries(registryServer.host, storageServer.host),
    })
    await reader.resolve(`${registryServer.host}/org/app:v1`)
    expect(new Set(scopes)).toEqual(
      new Set(['repository:org/app:pull', 'repository:org/app:pull repository:other/app:pull']),
    )
    await reader.close()
  })
  test('the pusher requests its repository, and pull for the repository that it mounts from', async () => {
    const scopes: string[] = []
    greedy(scopes)
    const [blob] = sampleImage.blobs
    await createPusher({ credentials: [] }).push(
      createRequest({ blobs: [{ ...blob, mountFrom: 'base/image' }] }),
    )
    expect(scopes).toEqual([
      'repository:org/app:pull,push',
      'repository:org/app:pull,push repository:base/image:pull',
    ])
  })
})

test('a token that expires during a push is replaced, and the push continues', async () => {
  let issued = 0
  let left = 0
  storageServer.script = (_request, response) => {
    issued += 1
    left = 2
    response.end(JSON.stringify({ token: `token-${issued}` }))
  }
  registryServer.script = ({ headers }, response) => {
    if (headers.authorization === `Bearer token-${issued}` && left-- > 0) return
    const challenge = `Bearer realm="http://${storageServer.host}/token",service="s",scope="repository:org/app:pull,push"`
    response.writeHead(401, { 'www-authenticate': `${challenge},error="invalid_token"` }).end()
  }
  const { digest } = await createPusher({
    egress: {
      ...allowLoopbackRegistries(registryServer.host, storageServer.host),
      tokenHosts: { [registryServer.host]: [storageServer.host] },
    },
  }).push(createRequest())
  expect(issued).toBeGreaterThan(2)
  expect(digest).toBe(computeSha256Digest(sampleImage.manifests[0].bytes))
})

describe('registry quirks', () => {
  const large = createBlob(Buffer.alloc(2500, 'x'))
  const only = (host: string, more: Partial<ImagePusherOptions> = {}) =>
    createPusher({
      egress: allowLoopbackRegistries(host),
      limits: { attempts: 1, chunkBytes: 1000 },
      ...more,
    })
  const pieces = () =>
    registryServer.requests
      .filter(({ method }) => method === 'PATCH')
      .map(({ headers }) => headers['content-range'])
  const smallBodies: RegistryScript = ({ body, path }, response) =>
    void (body.length > 1000 && path.includes('/uploads/') && response.writeHead(413).end())

  test('ACR: a body that is too large for one request is sent in chunks, in order', async () => {
    registryServer.script = smallBodies
    await only(registryServer.host).push(createRequest({ blobs: [large] }))
    expect(pieces()).toEqual(['0-999', '1000-1999', '2000-2499'])
    expect(registryServer.holds(large.digest)).toBe(true)
  })
  test('ACR: a connection that breaks under a large body is handled like a size limit', async () => {
    registryServer.script = ({ method, body }, response) => {
      if (method !== 'PUT' || body.length <= 1000) return
      response.socket?.destroy()
      return true
    }
    await only(registryServer.host, {
      limits: { attempts: 1, chunkBytes: 1000, chunkedFallbackBytes: 2000 },
    }).push(createRequest({ blobs: [large] }))
    expect(registryServer.holds(large.digest)).toBe(true)
  })
  test('chunks have at least the minimum length that the registry sets', async () => {
    registryServer.script = ({ method, path, body }, response) => {
      if (method === 'PUT' && body.length > 1000) response.writeHead(413).end()
      else if (method === 'POST') response.setHeader('oci-chunk-min-length', '1500')
      return path === ''
    }
    await only(registryServer.host).push(createRequest({ blobs: [large] }))
    expect(pieces()).toEqual(['0-1499', '1500-2499'])
  })
  test('ECR Public: a blob is sent if its HEAD request is rejected', async () => {
    registryServer.script = ({ method, path }, response) =>
      void (method === 'HEAD' && path.includes('/blobs/') && response.writeHead(401).end())
    expect((await createPusher().push(createRequest())).blobs).toEqual({
      present: 0,
      mounted: 0,
      uploaded: 2,
    })
  })
  test('quay.io: a mount is requested only with a source repository, and uploaded if rejected', async () => {
    registryServer.script = ({ query }, response) =>
      void (query.has('mount') && sendRegistryError(response, 400, 'UNSUPPORTED', 'no mounts'))
    const [blob, other] = sampleImage.blobs
    await createPusher().push(createRequest({ blobs: [{ ...blob, mountFrom: 'base/image' }, other] }))
    const mounts = registryServer.requests.filter(({ query }) => query.has('mount'))
    expect(mounts.map(({ query }) => query.get('from'))).toEqual(['base/image'])
    expect(registryServer.holds(blob?.digest ?? '')).toBe(true)
  })
  test('GAR: a mount that returns an upload URL continues as that upload', async () => {
    const [blob] = sampleImage.blobs
    await createPusher().push(createRequest({ blobs: [{ ...blob, mountFrom: 'base/image' }] }))
    expect(listRegistryRequests().filter((step) => step.startsWith('POST'))).toHaveLength(1)
    expect(registryServer.holds(blob?.digest ?? '')).toBe(true)
  })
  test.each([
    ['GAR', 'europe-docker.pkg.dev', []],
    ['GCR', 'gcr.io', []],
    ['ghcr.io', 'ghcr.io', ['0-2499']],
  ])('%s: %s gets no second chunk', async (_name, name, expected) => {
    // The name resolves to this machine, where the scripted registry listens on its port.
    registryServer.script = ({ method, body, path }, response) =>
      void (
        method === 'PUT' &&
        body.length > 1000 &&
        path.includes('/uploads/') &&
        response.writeHead(413).end()
      )
    const port = Number(registryServer.host.split(':')[1])
    const pusher = only(`${name}:${port}`, { resolve: async () => ['127.0.0.1'] })
    const pushed = pusher.push(createRequest({ host: `${name}:${port}`, blobs: [large], tags: [] }))
    if (expected.length === 0) await expect(pushed).rejects.toMatchObject({ status: 413 })
    else await pushed
    expect(pieces()).toEqual(expected)
  })
})

describe('the content of a registry', () => {
  const pushTarget = () => ({ host: registryServer.host, repository: 'org/app' })

  test('tags are listed page by page, and a missing repository has none', async () => {
    registryServer.script = ({ path, query }, response) => {
      if (!path.endsWith('/tags/list')) return
      const isFirst = !query.has('last')
      response
        .writeHead(200, isFirst ? { link: '</v2/org/app/tags/list?last=b>; rel="next"' } : {})
        .end(JSON.stringify({ name: 'org/app', tags: isFirst ? ['b', null] : ['a', 'b'] }))
    }
    await expect(createPusher().listTags(pushTarget())).resolves.toEqual(['a', 'b'])
    registryServer.script = (_request, response) => sendRegistryError(response, 404, 'NAME_UNKNOWN', 'no')
    await expect(createPusher().listTags(pushTarget())).resolves.toEqual([])
  })
  test('the next page of tags is never requested from another host', async () => {
    registryServer.script = (_request, response) =>
      void response
        .writeHead(200, { link: `<http://${storageServer.host}/v2/org/app/tags/list>; rel="next"` })
        .end(JSON.stringify({ tags: ['a'] }))
    await expect(createPusher().listTags(pushTarget())).rejects.toMatchObject({ code: 'blocked' })
    expect(storageServer.requests).toEqual([])
  })
  test.each([
    [202, true],
    [404, false],
  ])('HTTP %s for a deletion tells whether the manifest existed', async (status, isDeleted) => {
    registryServer.script = ({ method }, response) =>
      void (method === 'DELETE' && response.writeHead(status).end())
    await expect(createPusher().deleteManifest(pushTarget(), computeSha256Digest('x'))).resolves.toBe(
      isDeleted,
    )
  })
  test('a registry without deletion is reported as `unsupported`', async () => {
    registryServer.script = (_request, response) => sendRegistryError(response, 405, 'UNSUPPORTED', 'no')
    await expect(createPusher().deleteManifest(pushTarget(), computeSha256Digest('x'))).rejects.toMatchObject(
      { code: 'unsupported' },
    )
  })
})
