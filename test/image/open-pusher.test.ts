// The pusher against registries that make it hard: where uploads may be sent, what is repeated, what is believed.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { fixedCredentials } from '../../src/registry/auth/credentials.ts'
import { loopbackRegistries } from '../../src/registry/transport/egress-policy.ts'
import { openPusher, type Pusher, type PusherOptions } from '../../src/image/open-pusher.ts'
import { openRegistry } from '../../src/registry/open-registry.ts'
import { handClock, type HandClock } from '../registry/manual-clock.ts'
import { blobToPush, imageToPush } from './images-to-push.ts'
import {
  refuse,
  scriptedRegistry,
  sha256,
  type ScriptedRegistry,
  type Script,
} from '../registry/scripted-registry.ts'

let registry: ScriptedRegistry
let storage: ScriptedRegistry
let clock: HandClock
const pushers: Pusher[] = []

beforeEach(async () => {
  registry = await scriptedRegistry()
  storage = await scriptedRegistry()
  clock = handClock()
})
afterEach(async () => {
  await Promise.all([...pushers.splice(0).map((one) => one.close()), registry.close(), storage.close()])
})

function open(options: Partial<PusherOptions> = {}): Pusher {
  const pusher = openPusher({
    clock,
    egress: loopbackRegistries(registry.host, storage.host),
    credentials: [
      fixedCredentials({ [registry.host]: { kind: 'basic', username: 'u', password: 'secret' } }),
    ],
    random: () => 0,
    ...options,
  })
  pushers.push(pusher)
  return pusher
}
const image = imageToPush({ 'configs/a.yaml': 'a' })
const order = (more: object = {}) => ({
  host: registry.host,
  repository: 'org/app',
  ...image,
  tags: ['v1'],
  ...more,
})
const steps = (from = registry) =>
  from.requests.map(({ method, path }) => `${method} ${path.split('/').slice(4).join('/')}`)
/** Wants the password on every request. */
const locked: Script = ({ headers }, response) => {
  if (headers.authorization === `Basic ${btoa('u:secret')}`) return
  response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
}
const isUploadStep = (method: string, path: string) =>
  (method === 'PUT' || method === 'PATCH') && path.includes('/blobs/uploads/')

describe('an order', () => {
  test('goes blobs, manifest by digest, tag, look at the tag', async () => {
    const { digest } = await open().push(order({ blobs: image.blobs.slice(0, 1) }))
    const [blob] = image.blobs
    expect(steps()).toEqual([
      `HEAD blobs/${blob?.digest}`,
      'POST blobs/uploads/',
      'PUT blobs/uploads/upload-1',
      `PUT manifests/${digest}`,
      'PUT manifests/v1',
      'GET manifests/v1',
    ])
    const put = registry.requests.find(({ method }) => method === 'PUT')
    // The query that the registry gave is sent back to the letter.
    expect(put?.query.get('_state')).toBe('a=b')
    expect(put?.headers['content-length']).toBe(String(blob?.size))
  })
  test('a blob that is named twice is sent once, and one that is there is not read', async () => {
    const there = registry.addBlob('already there')
    const unread = { ...there, read: () => Promise.reject(new Error('read')) }
    const [blob] = image.blobs
    const { blobs } = await open().push(order({ blobs: [unread, blob, blob] }))
    expect(blobs).toEqual({ present: 1, mounted: 0, uploaded: 1 })
  })
  test('nothing is tagged when a blob cannot be sent', async () => {
    registry.script = ({ method, path }, response) =>
      void (isUploadStep(method, path) && refuse(response, 400, 'DIGEST_INVALID', 'no'))
    await expect(open().push(order())).rejects.toMatchObject({
      code: 'bad-reply',
      message: expect.stringMatching(/^pushing to .*\/org\/app: .*DIGEST_INVALID/),
    })
    expect(steps().some((step) => step.includes('manifests'))).toBe(false)
  })
  test('bytes that are not what the digest says are not sent', async () => {
    const blob = { ...blobToPush(Buffer.from('one')), read: async () => Buffer.from('two') }
    await expect(open().push(order({ blobs: [blob] }))).rejects.toMatchObject({ code: 'digest-mismatch' })
    expect(steps().some((step) => step.startsWith('PUT'))).toBe(false)
  })
  test.each([
    ['a blob', (path: string) => path.includes('/blobs/uploads/')],
    ['a manifest', (path: string) => path.includes('/manifests/')],
  ])('a registry that took %s for something else is not believed', async (_name, matches) => {
    registry.script = ({ method, path }, response) =>
      void (
        method === 'PUT' &&
        matches(path) &&
        response.writeHead(201, { 'docker-content-digest': sha256('other') }).end()
      )
    await expect(open().push(order())).rejects.toMatchObject({ code: 'digest-mismatch' })
  })
  test('a tag that does not hold what was put there is a failure', async () => {
    const other = Buffer.from(JSON.stringify({ schemaVersion: 2 }))
    registry.script = ({ method }, response) => void (method === 'GET' && response.writeHead(200).end(other))
    await expect(open().push(order())).rejects.toMatchObject({
      code: 'digest-mismatch',
      message: expect.stringContaining('behind the tag v1'),
    })
  })
})

describe('where an upload is sent', () => {
  const leadTo =
    (location: string): Script =>
    ({ method, path }, response) =>
      void (method === 'POST' && path.endsWith('/uploads/') && response.writeHead(202, { location }).end())
  test('another origin gets the bytes without our credentials', async () => {
    let sent: Buffer | undefined
    storage.script = ({ body }, response) => ((sent = body), void response.writeHead(201).end())
    const lead = leadTo(`${storage.origin}/signed/put?X-Signature=a%2Fb+c`)
    registry.script = (request, response, earlier) =>
      locked(request, response, earlier) ?? lead(request, response, earlier)
    const [blob] = image.blobs
    await open().push(order({ blobs: [blob] }))
    expect(sent).toEqual(await blob?.read())
    expect(storage.requests[0]?.headers).not.toHaveProperty('authorization')
    expect(storage.requests[0]?.query.get('digest')).toBe(blob?.digest)
    expect(registry.requests.at(-1)?.headers.authorization).toMatch(/^Basic /)
  })
  test.each([
    'https://169.254.169.254/latest/meta-data',
    'https://10.0.0.1/x',
    'http://127.0.0.1:1/x',
    'https://localhost/x',
    'http://quay.io/x',
    'https://user:password@quay.io/x',
    'file:///etc/passwd',
  ])('%s gets nothing', async (location) => {
    registry.script = leadTo(location)
    await expect(open().push(order())).rejects.toMatchObject({ code: 'blocked' })
  })
  test('a registry that speaks TLS may not have it sent in the open, its own host included', async () => {
    const secure = await scriptedRegistry({ tls: true })
    const { loopbackCertificate } = await import('../registry/scripted-registry.ts')
    secure.script = leadTo(`http://${storage.host}/x`)
    const pusher = open({
      egress: {
        plainHttp: [storage.host],
        internal: { [secure.host]: ['127.0.0.1/32'], [storage.host]: ['127.0.0.1/32'] },
        certificates: { '127.0.0.1': loopbackCertificate },
      },
    })
    await expect(pusher.push(order({ host: secure.host }))).rejects.toMatchObject({
      code: 'blocked',
      message: expect.stringContaining('without TLS'),
    })
    expect(storage.requests).toHaveLength(0)
    await secure.close()
  })
  test('a redirect of an upload is not followed, and no place to send it to is an error', async () => {
    registry.script = ({ method }, response) =>
      void (method === 'POST' && response.writeHead(307, { location: `${storage.origin}/x` }).end())
    await expect(open().push(order())).rejects.toMatchObject({ code: 'bad-reply' })
    registry.script = ({ method }, response) => void (method === 'POST' && response.writeHead(202).end())
    await expect(open().push(order())).rejects.toThrow(/where to send the upload/)
    expect(storage.requests).toHaveLength(0)
  })
})

describe('trouble', () => {
  test.each([500, 503, 429])(
    'a step that fails with %i is not repeated: the blob is begun anew',
    async (status) => {
      let failed = 0
      registry.script = ({ method, path }, response) =>
        void (isUploadStep(method, path) && failed++ === 0 && response.writeHead(status).end())
      await open().push(order({ blobs: image.blobs.slice(0, 1) }))
      expect(
        steps()
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
  test('an upload whose answer was lost is found to be there, and not sent again', async () => {
    const [blob] = image.blobs
    let cut = 0
    registry.script = async ({ method, path, body }, response) => {
      if (!isUploadStep(method, path) || cut++ > 0) return
      registry.addBlob(body)
      response.socket?.destroy()
      return true
    }
    expect((await open().push(order({ blobs: [blob] }))).blobs.present).toBe(1)
  })
  test('a manifest may be put again', async () => {
    registry.script = ({ method, path }, response, earlier) =>
      void (
        method === 'PUT' &&
        path.includes('/manifests/') &&
        earlier === 0 &&
        response.writeHead(502).end()
      )
    await open().push(order())
    expect(registry.holds('org/app@v1')).toBe(true)
  })
  test('a registry that does not let us push says so as our trouble', async () => {
    registry.script = ({ method }, response) =>
      void (method === 'POST' && refuse(response, 403, 'DENIED', 'no push here'))
    await expect(open().push(order())).rejects.toMatchObject({
      code: 'credentials',
      message: expect.stringContaining('no push here'),
    })
  })
  test('an order that is called off ends', async () => {
    const stop = new AbortController()
    registry.script = () => (stop.abort(), true)
    await expect(open().push(order(), stop.signal)).rejects.toMatchObject({ code: 'aborted' })
  })
})

describe('rights', () => {
  /** The registry's challenge asks for everything; the service writes down what it is asked for. */
  const greedy = (scopes: string[]): void => {
    registry.script = ({ headers }, response) => {
      if (headers.authorization?.startsWith('Bearer ')) return
      const scope = 'repository:org/app:pull,push,delete registry:catalog:* repository:other/app:*'
      response
        .writeHead(401, {
          'www-authenticate': `Bearer realm="${storage.origin}/t",service="s",scope="${scope}"`,
        })
        .end()
    }
    storage.script = ({ query }, response) => {
      scopes.push(query.getAll('scope').join(' '))
      response.end(JSON.stringify({ token: 'x' }))
    }
  }
  test('the reader never asks for the right to push, whatever a registry wants it to ask for', async () => {
    const scopes: string[] = []
    greedy(scopes)
    registry.add('org/app', 'v1')
    const always = registry.script as Script
    // Never satisfied, so that every scope that the reader would try is seen.
    registry.script = (request, response, earlier) =>
      always({ ...request, headers: { ...request.headers, authorization: undefined } }, response, earlier)
    const reader = openRegistry({ clock, egress: loopbackRegistries(registry.host, storage.host) })
    await reader.resolve(`${registry.host}/org/app:v1`)
    expect(new Set(scopes)).toEqual(
      new Set(['repository:org/app:pull', 'repository:org/app:pull repository:other/app:pull']),
    )
    await reader.close()
  })
  test('the pusher asks for its repository, and for pulls of the one that it mounts from', async () => {
    const scopes: string[] = []
    greedy(scopes)
    const [blob] = image.blobs
    await open({ credentials: [] }).push(order({ blobs: [{ ...blob, mountFrom: 'base/image' }] }))
    expect(scopes).toEqual([
      'repository:org/app:pull,push',
      'repository:org/app:pull,push repository:base/image:pull',
    ])
  })
})

test('a token that expires in the middle of a push is replaced, and the push goes on', async () => {
  let issued = 0
  let left = 0
  storage.script = (_request, response) => {
    issued += 1
    left = 2
    response.end(JSON.stringify({ token: `token-${issued}` }))
  }
  registry.script = ({ headers }, response) => {
    if (headers.authorization === `Bearer token-${issued}` && left-- > 0) return
    const challenge = `Bearer realm="http://${storage.host}/token",service="s",scope="repository:org/app:pull,push"`
    response.writeHead(401, { 'www-authenticate': `${challenge},error="invalid_token"` }).end()
  }
  const { digest } = await open({
    egress: {
      ...loopbackRegistries(registry.host, storage.host),
      tokenHosts: { [registry.host]: [storage.host] },
    },
  }).push(order())
  expect(issued).toBeGreaterThan(2)
  expect(digest).toBe(sha256(image.manifests[0].bytes))
})

describe('registries with habits', () => {
  const large = blobToPush(Buffer.alloc(2500, 'x'))
  const only = (host: string, more: Partial<PusherOptions> = {}) =>
    open({
      egress: loopbackRegistries(host),
      limits: { attempts: 1, piece: 1000 },
      ...more,
    })
  const pieces = () =>
    registry.requests
      .filter(({ method }) => method === 'PATCH')
      .map(({ headers }) => headers['content-range'])
  const smallBodies: Script = ({ body, path }, response) =>
    void (body.length > 1000 && path.includes('/uploads/') && response.writeHead(413).end())

  test('ACR: a body that is too large in one piece is sent in pieces, in order', async () => {
    registry.script = smallBodies
    await only(registry.host).push(order({ blobs: [large] }))
    expect(pieces()).toEqual(['0-999', '1000-1999', '2000-2499'])
    expect(registry.holds(large.digest)).toBe(true)
  })
  test('ACR: a connection that breaks under a large body is a refusal of its size', async () => {
    registry.script = ({ method, body }, response) => {
      if (method !== 'PUT' || body.length <= 1000) return
      response.socket?.destroy()
      return true
    }
    await only(registry.host, { limits: { attempts: 1, piece: 1000, large: 2000 } }).push(
      order({ blobs: [large] }),
    )
    expect(registry.holds(large.digest)).toBe(true)
  })
  test('pieces are as large as the registry wants them at least', async () => {
    registry.script = ({ method, path, body }, response) => {
      if (method === 'PUT' && body.length > 1000) response.writeHead(413).end()
      else if (method === 'POST') response.setHeader('oci-chunk-min-length', '1500')
      return path === ''
    }
    await only(registry.host).push(order({ blobs: [large] }))
    expect(pieces()).toEqual(['0-1499', '1500-2499'])
  })
  test('ECR Public: a HEAD of a blob that is refused only means that the blob is sent', async () => {
    registry.script = ({ method, path }, response) =>
      void (method === 'HEAD' && path.includes('/blobs/') && response.writeHead(401).end())
    expect((await open().push(order())).blobs).toEqual({ present: 0, mounted: 0, uploaded: 2 })
  })
  test('quay.io: a mount is never asked for without the repository that has the blob, and a refused one is sent', async () => {
    registry.script = ({ query }, response) =>
      void (query.has('mount') && refuse(response, 400, 'UNSUPPORTED', 'no mounts'))
    const [blob, other] = image.blobs
    await open().push(order({ blobs: [{ ...blob, mountFrom: 'base/image' }, other] }))
    const mounts = registry.requests.filter(({ query }) => query.has('mount'))
    expect(mounts.map(({ query }) => query.get('from'))).toEqual(['base/image'])
    expect(registry.holds(blob?.digest ?? '')).toBe(true)
  })
  test('GAR: a mount that is answered by an upload is that upload', async () => {
    const [blob] = image.blobs
    await open().push(order({ blobs: [{ ...blob, mountFrom: 'base/image' }] }))
    expect(steps().filter((step) => step.startsWith('POST'))).toHaveLength(1)
    expect(registry.holds(blob?.digest ?? '')).toBe(true)
  })
  test.each([
    ['GAR', 'europe-docker.pkg.dev', []],
    ['GCR', 'gcr.io', []],
    ['ghcr.io', 'ghcr.io', ['0-2499']],
  ])('%s: %s gets no second piece', async (_name, name, expected) => {
    // By plain http on this machine's port 80 nothing listens: the name is led to the script by hand.
    registry.script = ({ method, body, path }, response) =>
      void (
        method === 'PUT' &&
        body.length > 1000 &&
        path.includes('/uploads/') &&
        response.writeHead(413).end()
      )
    const port = Number(registry.host.split(':')[1])
    const pusher = only(`${name}:${port}`, { resolve: async () => ['127.0.0.1'] })
    const pushed = pusher.push(order({ host: `${name}:${port}`, blobs: [large], tags: [] }))
    if (expected.length === 0) await expect(pushed).rejects.toMatchObject({ status: 413 })
    else await pushed
    expect(pieces()).toEqual(expected)
  })
})

describe('what is there', () => {
  const place = () => ({ host: registry.host, repository: 'org/app' })

  test('tags are listed page by page, those of a repository that is not there are none', async () => {
    registry.script = ({ path, query }, response) => {
      if (!path.endsWith('/tags/list')) return
      const isFirst = !query.has('last')
      response
        .writeHead(200, isFirst ? { link: '</v2/org/app/tags/list?last=b>; rel="next"' } : {})
        .end(JSON.stringify({ name: 'org/app', tags: isFirst ? ['b', null] : ['a', 'b'] }))
    }
    await expect(open().listTags(place())).resolves.toEqual(['a', 'b'])
    registry.script = (_request, response) => refuse(response, 404, 'NAME_UNKNOWN', 'no')
    await expect(open().listTags(place())).resolves.toEqual([])
  })
  test('the next page is asked of nobody else, with our password', async () => {
    registry.script = (_request, response) =>
      void response
        .writeHead(200, { link: `<http://${storage.host}/v2/org/app/tags/list>; rel="next"` })
        .end(JSON.stringify({ tags: ['a'] }))
    await expect(open().listTags(place())).rejects.toMatchObject({ code: 'blocked' })
    expect(storage.requests).toEqual([])
  })
  test.each([
    [202, true],
    [404, false],
  ])('a manifest is deleted, answered by %s', async (status, isDeleted) => {
    registry.script = ({ method }, response) => void (method === 'DELETE' && response.writeHead(status).end())
    await expect(open().deleteManifest(place(), sha256('x'))).resolves.toBe(isDeleted)
  })
  test('a registry that deletes nothing says so', async () => {
    registry.script = (_request, response) => refuse(response, 405, 'UNSUPPORTED', 'no')
    await expect(open().deleteManifest(place(), sha256('x'))).rejects.toMatchObject({ code: 'unsupported' })
  })
})
