// Scripts that imitate the authentication, the errors, and the quirks of nine common registries. Comments describe the
// behavior, and the tests check how the client handles it.
import { beforeEach, describe, expect, test } from '@jest/globals'
import type { RegistryCredential, CredentialSource } from '../../../src/adapters/registry/auth/credentials.ts'
import {
  createDockerConfigCredentials,
  parseDockerConfig,
} from '../../../src/adapters/registry/auth/credential-files.ts'
import { allowLoopbackRegistries } from '../../../src/adapters/registry/transport/egress-policy.ts'
import { computeSha256Digest, manifestMediaTypes } from '../../../src/adapters/registry/manifest.ts'
import { type RegistryClientOptions } from '../../../src/adapters/registry/open-registry.ts'
import type { RegistryClient } from '../../../src/adapters/registry/registry-client.ts'
import { defaultRetryPolicy } from '../../../src/adapters/registry/retrying-request.ts'
import { createStaticCredentialSource, sendRegistryError, type RegistryScript } from './scripted-registry.ts'
import {
  clock,
  createTestRegistryClient,
  formatTestImageReference,
  registryServer,
  secondRegistryServer,
  startRegistriesBeforeEach,
} from './registry-fixture.ts'

startRegistriesBeforeEach()

function createClientWithCredential(
  credential?: RegistryCredential | CredentialSource,
  options: Partial<RegistryClientOptions> = {},
): RegistryClient {
  const source =
    credential &&
    ('find' in credential ? credential : createStaticCredentialSource({ [registryServer.host]: credential }))
  return createTestRegistryClient({
    egress: {
      ...allowLoopbackRegistries(registryServer.host, secondRegistryServer.host),
      tokenHosts: { [registryServer.host]: [secondRegistryServer.host] },
    },
    credentials: source ? [source] : [],
    ...options,
  })
}
/** Resolves an image of the test registry with a new client. */
const resolveImage = (image: string, ...client: Parameters<typeof createClientWithCredential>) =>
  createClientWithCredential(...client).resolve(formatTestImageReference(image))
const resolveImageKind = async (...image: Parameters<typeof resolveImage>) =>
  (await resolveImage(...image)).kind
const resolveKind = async (client: RegistryClient, image: string) =>
  (await client.resolve(formatTestImageReference(image))).kind
const countRegistryRequests = (method: string, part: string) =>
  registryServer.requests.filter((request) => request.method === method && request.path.includes(part)).length
const createBasicCredential = (username: string, password: string): RegistryCredential => ({
  kind: 'basic',
  username,
  password,
})
const isBasicAuthHeader = (header: string | undefined, username: string, password: string) =>
  header === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
const createScopedToken = (scope: string | null) => `token-${Buffer.from(scope ?? '').toString('hex')}`

/** Serves manifests and blobs only with a token for the repository. */
const requireBearerToken =
  (realm: string, service: string): RegistryScript =>
  ({ path, headers }, response) => {
    const repository = /^\/v2\/(.+)\/(?:manifests|blobs)\//.exec(path)?.[1]
    if (repository === undefined) return
    const scope = `repository:${repository}:pull`
    if (headers.authorization === `Bearer ${createScopedToken(scope)}`) return
    const error = headers.authorization === undefined ? '' : ',error="insufficient_scope"'
    response.setHeader(
      'www-authenticate',
      `Bearer realm="${realm}",service="${service}",scope="${scope}"${error}`,
    )
    sendRegistryError(response, 401, 'UNAUTHORIZED', 'authentication required')
  }
/** Returns 404 for a media type that the Accept header does not contain, as ghcr.io and ACR do. */
const requireAcceptHeader =
  (type: string): RegistryScript =>
  ({ headers }, response) => {
    if (!(headers.accept ?? '').includes(type))
      sendRegistryError(
        response,
        404,
        'MANIFEST_UNKNOWN',
        'OCI index found, but Accept header does not support OCI indexes',
      )
  }
const combineRegistryScripts =
  (...scripts: readonly RegistryScript[]): RegistryScript =>
  async (request, response, earlier) => {
    for (const script of scripts)
      if ((await script(request, response, earlier)) || response.writableEnded) return true
    return false
  }
const emptyImageIndex = { schemaVersion: 2, mediaType: manifestMediaTypes.ociIndex, manifests: [] }

describe('Docker Hub', () => {
  // Every client gets a token for 300 s, without the scope if an image is private or missing. A HEAD is not a pull.
  const isPublic = (repository: string) => repository.startsWith('library/')
  beforeEach(() => {
    registryServer.script = combineRegistryScripts(
      requireBearerToken(`${secondRegistryServer.origin}/token`, 'registry.docker.io'),
      (_, response) => {
        response.setHeader('ratelimit-limit', '100;w=21600').setHeader('ratelimit-remaining', '99;w=21600')
      },
    )
    secondRegistryServer.script = ({ query, headers }, response) => {
      const scope = query.get('scope') ?? ''
      const allowed =
        isPublic(scope.split(':')[1] ?? '') || isBasicAuthHeader(headers.authorization, 'me', 'dckr_pat_x')
      response.end(JSON.stringify({ token: createScopedToken(allowed ? scope : ''), expires_in: 300 }))
    }
    registryServer.add('library/busybox', '1')
    registryServer.add('me/private', '1')
  })
  const hub = (credential?: RegistryCredential) =>
    createClientWithCredential(
      credential && createStaticCredentialSource({ [registryServer.host]: credential }),
      { rules: [{ prefix: 'docker.io', location: registryServer.host }] },
    )
  test('a short name is resolved only with HEAD requests, which do not count as pulls', async () => {
    expect(await hub().resolve('busybox:1')).toMatchObject({ kind: 'ok' })
    expect(countRegistryRequests('GET', '/manifests/')).toBe(0)
    expect(secondRegistryServer.requests[0]?.query.get('service')).toBe('registry.docker.io')
    expect(secondRegistryServer.requests[0]?.query.get('scope')).toBe('repository:library/busybox:pull')
  })
  test('private and missing images are distinguishable only with an access token', async () => {
    const [anonymous, known] = [hub(), hub(createBasicCredential('me', 'dckr_pat_x'))]
    for (const name of ['me/private:1', 'me/nothing:1'])
      expect(await anonymous.resolve(name)).toMatchObject({ kind: 'missing-or-private' })
    expect(await known.resolve('me/private:1')).toMatchObject({ kind: 'ok' })
    expect(await known.resolve('me/nothing:1')).toMatchObject({ kind: 'missing' })
  })
  test('the pull rate limit and a plain 429 are inconclusive, not missing', async () => {
    registryServer.script = (_, response) =>
      sendRegistryError(response, 429, 'TOOMANYREQUESTS', 'You have reached your pull rate limit')
    expect(await hub().resolve('busybox:1')).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('is rate limiting requests'),
    })
    registryServer.script = (_, response) => void response.writeHead(429).end('Too Many Requests')
    expect(await hub().resolve('busybox:1')).toMatchObject({ kind: 'unknown' })
  })
})

describe('quay.io', () => {
  // The registry issues tokens, robots are named org+name, old images use schema 1, and rate limits are strict.
  beforeEach(() => {
    registryServer.script = combineRegistryScripts(
      ({ path, query, headers }, response) => {
        if (path !== '/v2/auth') return
        const scope = query.get('scope') ?? ''
        const allowed =
          scope.includes(':open/') || isBasicAuthHeader(headers.authorization, 'org+robot', 'KEY:1')
        response.end(JSON.stringify({ token: createScopedToken(allowed ? scope : '') }))
        return true
      },
      requireBearerToken(`${registryServer.origin}/v2/auth`, registryServer.host),
    )
  })
  test('a robot account can read private images, and its full name is sent', async () => {
    registryServer.add('org/app', '1')
    expect(await resolveImageKind('org/app:1', createBasicCredential('org+robot', 'KEY:1'))).toBe('ok')
    expect(registryServer.requests.find(({ path }) => path === '/v2/auth')?.query.get('account')).toBe(
      'org+robot',
    )
    expect(await resolveImageKind('org/app:1')).toBe('missing-or-private')
  })
  test('a schema 1 image is unsupported', async () => {
    registryServer.add(
      'open/old',
      '1',
      { schemaVersion: 1, fsLayers: [] },
      'application/vnd.docker.distribution.manifest.v1+prettyjws',
    )
    expect(await resolveImageKind('open/old:1')).toBe('unsupported')
  })
  test('an unexpected 401 is retried with a new token', async () => {
    registryServer.add('open/app', '1')
    registryServer.add('open/app', '2')
    const client = createClientWithCredential()
    await client.resolve(formatTestImageReference('open/app:1'))
    const script = registryServer.script as RegistryScript
    let noise = 1
    registryServer.script = async (request, response, earlier) => {
      if (!request.path.includes('/manifests/') || noise-- <= 0) return script(request, response, earlier)
      response.setHeader(
        'www-authenticate',
        `Bearer realm="${registryServer.origin}/v2/auth",service="${registryServer.host}"`,
      )
      sendRegistryError(response, 401, 'UNAUTHORIZED', 'noise')
    }
    expect(await resolveKind(client, 'open/app:2')).toBe('ok')
  })
  test('starts with four concurrent requests, waits after a 429, and resolves all images', async () => {
    const window = defaultRetryPolicy.windows['quay.io']
    expect(window).toEqual({ start: 4, max: 32 })
    let [active, maxConcurrent, rejected] = [0, 0, 0]
    const script = registryServer.script as RegistryScript
    const names = Array.from({ length: 20 }, (_, n) => `${n}`)
    for (const tag of names) registryServer.add('open/app', tag)
    registryServer.script = async (request, response, earlier) => {
      if (!request.path.includes('/manifests/')) return script(request, response, earlier)
      active += 1
      // Counts concurrent requests only until the first successful response.
      if (rejected <= 3) maxConcurrent = Math.max(maxConcurrent, active)
      await new Promise((done) => setTimeout(done, 5))
      active -= 1
      if (request.headers.authorization !== undefined && rejected++ < 3)
        return void response.writeHead(429, { 'retry-after': '1' }).end()
      return script(request, response, earlier)
    }
    const client = createClientWithCredential(undefined, {
      limits: { windows: window ? { [registryServer.host]: window } : {} },
    })
    const answers = await Promise.all(
      names.map((tag) => client.resolve(formatTestImageReference(`open/app:${tag}`))),
    )
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['ok']))
    expect(maxConcurrent).toBe(4)
    expect(clock.slept.some((wait) => wait === 1000)).toBe(true)
  })
})

describe('ghcr.io', () => {
  // The token is denied for private and missing images. A media type missing from Accept returns 404.
  beforeEach(() => {
    registryServer.script = combineRegistryScripts(
      ({ path, query, headers }, response) => {
        if (path !== '/token') return
        const scope = query.get('scope') ?? ''
        if (scope.includes(':open/') || isBasicAuthHeader(headers.authorization, 'user', 'ghp_x'))
          response.end(JSON.stringify({ token: createScopedToken(scope) }))
        else sendRegistryError(response, 403, 'DENIED', 'requested access to the resource is denied')
        return true
      },
      requireBearerToken(`${registryServer.origin}/token`, 'ghcr.io'),
      requireAcceptHeader(manifestMediaTypes.ociIndex),
    )
    registryServer.add('open/app', '1', emptyImageIndex, manifestMediaTypes.ociIndex)
    registryServer.add('org/private', '1', emptyImageIndex, manifestMediaTypes.ociIndex)
  })
  test('a public index is found because all four media types are accepted', async () => {
    const digest = computeSha256Digest(Buffer.from(JSON.stringify(emptyImageIndex)))
    expect(await resolveImage('open/app:1')).toEqual({ kind: 'ok', digest })
    expect(await resolveImageKind('open/app:2')).toBe('missing')
  })
  test('a denied token means missing or private, and is inconclusive with expired credentials', async () => {
    expect(await resolveImageKind('org/private:1')).toBe('missing-or-private')
    expect(await resolveImageKind('org/private:1', createBasicCredential('user', 'ghp_x'))).toBe('ok')
    expect(await resolveImage('org/private:1', createBasicCredential('user', 'ghp_expired'))).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('rejected the configured credentials'),
    })
  })
})

describe('registry.redhat.io', () => {
  // Single sign-on issues tokens, service accounts have a "|" in the name, anonymous clients get a help text, and a CDN
  // serves the blobs.
  const account = '12345678|catalog-bot'
  beforeEach(() => {
    registryServer.script = combineRegistryScripts(
      requireBearerToken(
        `${secondRegistryServer.origin}/auth/realms/rhc4tp/protocol/docker-v2/auth`,
        'docker-registry',
      ),
      ({ path }, response) => {
        if (path.includes('/blobs/'))
          response.writeHead(302, { location: `${secondRegistryServer.origin}/cdn?sig=x` }).end()
        else if (!registryServer.holds(path.slice('/v2/'.length).replace('/manifests/', '@')))
          sendRegistryError(response, 404, 'UNKNOWN', 'Not Found')
      },
    )
    secondRegistryServer.script = ({ path, query, headers }, response) => {
      if (path === '/cdn') response.end('layer')
      else if (isBasicAuthHeader(headers.authorization, account, 'jwt.jwt.jwt'))
        response.end(
          JSON.stringify({
            access_token: createScopedToken(query.get('scope')),
            token: createScopedToken(query.get('scope')),
          }),
        )
      else
        sendRegistryError(
          response,
          401,
          'UNAUTHORIZED',
          'Please login to the Red Hat Registry using your Customer Portal credentials. Further instructions can be found here: https://access.redhat.com/RegistryAuthentication',
        )
    }
    registryServer.add('rhel9/app', '1')
  })
  test('a service account resolves images, and the CDN receives no credentials', async () => {
    const client = createClientWithCredential(createBasicCredential(account, 'jwt.jwt.jwt'))
    expect(await resolveKind(client, 'rhel9/app:1')).toBe('ok')
    expect(await resolveKind(client, 'rhel9/app:2')).toBe('missing')
    expect(secondRegistryServer.requests[0]?.query.get('account')).toBe(account)
    const blob = { mediaType: '', digest: registryServer.addBlob('layer').digest, size: 5 }
    await client.fetchBlob({ host: registryServer.host, repository: 'rhel9/app' }, blob)
    const fromCdn = secondRegistryServer.requests.filter(({ path }) => path === '/cdn')
    expect(fromCdn.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })
  test('the reason for an anonymous client contains the help text', async () => {
    expect(await resolveImage('rhel9/app:1')).toMatchObject({
      kind: 'missing-or-private',
      reason: expect.stringContaining('https://access.redhat.com/RegistryAuthentication'),
    })
  })
})

describe('ECR', () => {
  // Basic authentication with a password that is valid for twelve hours, no tokens, and HEAD without a digest.
  beforeEach(() => {
    registryServer.script = ({ method, path, headers }, response) => {
      if (!isBasicAuthHeader(headers.authorization, 'AWS', 'twelve-hours'))
        return void response
          .writeHead(401, {
            'www-authenticate': 'Basic realm="https://ecr.example/",service="ecr.amazonaws.com"',
          })
          .end('Not Authorized')
      if (method === 'HEAD' && registryServer.holds(path.slice('/v2/'.length).replace('/manifests/', '@')))
        response
          .writeHead(200, { 'content-type': manifestMediaTypes.dockerManifest, 'content-length': 300 })
          .end()
    }
  })
  test('images are resolved with Basic authentication, which is reused for the next image', async () => {
    const digest = registryServer.add('team/app', '1')
    registryServer.add('team/other', '1')
    const client = createClientWithCredential(createBasicCredential('AWS', 'twelve-hours'))
    expect(await client.resolve(formatTestImageReference('team/app:1'))).toMatchObject({ kind: 'ok', digest })
    registryServer.requests.length = 0
    expect(await resolveKind(client, 'team/other:1')).toBe('ok')
    // The client caches the authentication scheme of the host, so the first request has the password.
    expect(registryServer.requests).toHaveLength(1)
    expect(await resolveKind(client, 'team/app:2')).toBe('missing')
    expect(registryServer.requests.some(({ path }) => path.includes('token'))).toBe(false)
  })
  test('an expired password is inconclusive', async () => {
    expect(await resolveImageKind('team/app:1', createBasicCredential('AWS', 'yesterday'))).toBe('unknown')
  })
})

describe('GAR', () => {
  // The registry issues tokens, the password is an entire JSON key, an inaccessible or missing project returns 403, and
  // a missing image returns 404.
  const key = JSON.stringify({ type: 'service_account', private_key: '-----BEGIN\n:"\\' })
  beforeEach(() => {
    registryServer.script = combineRegistryScripts(
      ({ path, query, headers }, response) => {
        if (path !== '/v2/token') return
        const known =
          isBasicAuthHeader(headers.authorization, '_json_key', key) ||
          isBasicAuthHeader(headers.authorization, 'oauth2accesstoken', 'ya29.x')
        const scope = query.get('scope') ?? ''
        if (known || scope.includes(':open-project/'))
          response.end(JSON.stringify({ token: createScopedToken(scope), expires_in: 3600 }))
        else
          sendRegistryError(
            response,
            403,
            'DENIED',
            'Unauthenticated request. Unauthenticated requests do not have permission',
          )
        return true
      },
      requireBearerToken(`${registryServer.origin}/v2/token`, registryServer.host),
      ({ path }, response) => {
        if (path.includes('/no-project/'))
          sendRegistryError(response, 403, 'DENIED', 'Permission denied on resource (or it may not exist)')
        else if (path.includes('/no-repo/'))
          sendRegistryError(response, 404, 'NAME_UNKNOWN', 'Repository "no-repo" not found')
      },
    )
    registryServer.add('project/repo/image', '1')
    registryServer.add('open-project/repo/image', '1')
  })
  test.each([
    ['_json_key', key],
    ['oauth2accesstoken', 'ya29.x'],
  ])(
    '%s can read the project, and missing images and repositories are missing',
    async (username, password) => {
      const client = createClientWithCredential(createBasicCredential(username, password))
      expect(await resolveKind(client, 'project/repo/image:1')).toBe('ok')
      expect(await resolveKind(client, 'project/repo/image:2')).toBe('missing')
      expect(await resolveKind(client, 'project/no-repo/image:1')).toBe('missing')
      // Google does not report which one applies.
      expect(await resolveKind(client, 'no-project/x/image:1')).toBe('missing-or-private')
    },
  )
  test('a key from a docker config that gcloud or `docker login` writes is accepted', async () => {
    const auth = Buffer.from(`_json_key:${key}`).toString('base64')
    const source = createDockerConfigCredentials(
      parseDockerConfig(
        JSON.stringify({ auths: { [`https://${registryServer.host}`]: { auth } } }),
        'config.json',
      ),
    )
    expect(await resolveImageKind('project/repo/image:1', source)).toBe('ok')
  })
  test('public images are found anonymously, and all others are missing or private', async () => {
    expect(await resolveImageKind('open-project/repo/image:1')).toBe('ok')
    expect(await resolveImageKind('project/repo/image:1')).toBe('missing-or-private')
  })
})

describe('ACR', () => {
  // A refresh token with an all-zero user name, exchanged by POST for an `access_token`, or an admin password.
  const zeros = '00000000-0000-0000-0000-000000000000'
  beforeEach(() => {
    registryServer.script = combineRegistryScripts(
      ({ method, path, query, headers, body }, response) => {
        if (path !== '/oauth2/token') return
        const form = new URLSearchParams(body.toString())
        const scope = form.get('scope') ?? query.get('scope')
        const known =
          method === 'POST'
            ? form.get('grant_type') === 'refresh_token' && form.get('refresh_token') === 'refresh'
            : isBasicAuthHeader(headers.authorization, 'admin', 'p')
        if (known) response.end(JSON.stringify({ access_token: createScopedToken(scope) }))
        else sendRegistryError(response, 401, 'UNAUTHORIZED', 'authentication required')
        return true
      },
      requireBearerToken(`${registryServer.origin}/oauth2/token`, registryServer.host),
      requireAcceptHeader(manifestMediaTypes.ociIndex),
    )
    registryServer.add('app', '1', emptyImageIndex, manifestMediaTypes.ociIndex)
  })
  test('a docker config that `az acr login` writes is accepted', async () => {
    const entry = { auth: Buffer.from(`${zeros}:`).toString('base64'), identitytoken: 'refresh' }
    const source = createDockerConfigCredentials(
      parseDockerConfig(JSON.stringify({ auths: { [registryServer.host]: entry } }), 'config.json'),
    )
    expect(await resolveImageKind('app:1', source)).toBe('ok')
    const post = registryServer.requests.find(({ method }) => method === 'POST')
    expect(new URLSearchParams(post?.body.toString()).get('scope')).toBe('repository:app:pull')
    expect(post?.headers.authorization).toBeUndefined()
  })
  test('the admin password is accepted, and a wrong one is inconclusive', async () => {
    expect(await resolveImageKind('app:1', createBasicCredential('admin', 'p'))).toBe('ok')
    expect(await resolveImageKind('app:1', createBasicCredential('admin', 'q'))).toBe('unknown')
    expect(await resolveImageKind('app:1')).toBe('missing-or-private')
  })
})

describe('Harbor', () => {
  // /service/token issues tokens for robots named robot$project+name, missing images return UNKNOWN, a proxy cache is a
  // project, and the Content-Type has parameters.
  beforeEach(() => {
    registryServer.script = combineRegistryScripts(
      ({ path, query, headers }, response) => {
        if (path !== '/service/token') return
        const scope = query.get('scope') ?? ''
        const allowed = isBasicAuthHeader(headers.authorization, 'robot$project+bot', 's')
        response.end(
          JSON.stringify({
            token: createScopedToken(allowed ? scope : ''),
            access_token: '',
            expires_in: 1800,
          }),
        )
        return true
      },
      requireBearerToken(`${registryServer.origin}/service/token`, 'harbor-registry'),
      ({ path }, response) => {
        if (registryServer.holds(path.slice('/v2/'.length).replace('/manifests/', '@'))) return
        sendRegistryError(response, 404, 'UNKNOWN', 'Not Found')
      },
    )
    registryServer.add(
      'quay-proxy/org/app',
      '1',
      undefined,
      `${manifestMediaTypes.ociManifest}; charset=utf-8`,
    )
  })
  test('a robot resolves an image of a proxy cache, and UNKNOWN means missing', async () => {
    const client = createClientWithCredential(createBasicCredential('robot$project+bot', 's'))
    expect(await resolveKind(client, 'quay-proxy/org/app:1')).toBe('ok')
    const reference = { host: registryServer.host, repository: 'quay-proxy/org/app', tag: '1' }
    expect((await client.fetchManifest(reference)).mediaType).toBe(manifestMediaTypes.ociManifest)
    expect(countRegistryRequests('HEAD', '/manifests/')).toBe(0)
    expect(await resolveKind(client, 'quay-proxy/org/app:2')).toBe('missing')
    expect(await resolveImageKind('quay-proxy/org/app:1')).toBe('missing-or-private')
  })
})

describe('Nexus', () => {
  // Basic authentication, HEAD returns 404 for manifests that GET returns, and errors are HTML.
  beforeEach(() => {
    registryServer.script = ({ method, path, headers }, response) => {
      if (!isBasicAuthHeader(headers.authorization, 'u', 'p'))
        response
          .writeHead(401, { 'www-authenticate': 'BASIC realm="Sonatype Nexus Repository Manager"' })
          .end()
      else if (method === 'HEAD') response.writeHead(404).end()
      else if (path.includes('/broken/'))
        response.writeHead(500, { 'content-type': 'text/html' }).end('<html>Error</html>')
    }
    registryServer.add('hosted/app', '1')
    registryServer.add('hosted/app', '2')
  })
  test('images are resolved with GET, and are missing only if GET and HEAD return 404', async () => {
    const client = createClientWithCredential(createBasicCredential('u', 'p'))
    expect(await resolveKind(client, 'hosted/none:1')).toBe('missing')
    const heads = countRegistryRequests('HEAD', '/manifests/')
    expect(heads).toBeGreaterThan(0)
    for (const tag of ['1', '2']) expect(await resolveKind(client, `hosted/app:${tag}`)).toBe('ok')
    expect(countRegistryRequests('HEAD', '/manifests/')).toBe(heads)
  })
  test('a server error is inconclusive, and the reason contains no HTML', async () => {
    const answer = await resolveImage('hosted/broken/app:1', createBasicCredential('u', 'p'))
    expect(answer).toMatchObject({ kind: 'unknown', reason: expect.not.stringContaining('<') })
  })
})
