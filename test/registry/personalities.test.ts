// The nine registries that people use, each with its ways of logging in, of saying no and of being odd, as scripts.
// What each does is written down beside it; what the client makes of it is the test.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import {
  fixedCredentials,
  type Credential,
  type CredentialSource,
} from '../../src/registry/auth/credentials.ts'
import { dockerConfigCredentials, parseDockerConfig } from '../../src/registry/auth/docker-config.ts'
import { loopbackRegistries } from '../../src/registry/transport/egress-policy.ts'
import { mediaTypes } from '../../src/registry/manifest.ts'
import { openRegistry, type RegistryOptions } from '../../src/registry/open-registry.ts'
import type { RegistryClient } from '../../src/registry/registry-client.ts'
import { defaultRetryPolicy } from '../../src/registry/retrying-exchange.ts'
import { handClock, type HandClock } from './manual-clock.ts'
import { refuse, scriptedRegistry, type Script, type ScriptedRegistry } from './scripted-registry.ts'

let registry: ScriptedRegistry
/** The token service, blob store or sign-on host where it is another one. */
let elsewhere: ScriptedRegistry
let clock: HandClock
const clients: RegistryClient[] = []

beforeEach(async () => {
  registry = await scriptedRegistry()
  elsewhere = await scriptedRegistry()
  clock = handClock()
})
afterEach(async () => {
  await Promise.all([...clients.splice(0).map((one) => one.close()), registry.close(), elsewhere.close()])
})

function open(
  credential?: Credential | CredentialSource,
  options: Partial<RegistryOptions> = {},
): RegistryClient {
  const source =
    credential && ('find' in credential ? credential : fixedCredentials({ [registry.host]: credential }))
  const client = openRegistry({
    clock,
    egress: {
      ...loopbackRegistries(registry.host, elsewhere.host),
      tokenHosts: { [registry.host]: [elsewhere.host] },
    },
    credentials: source ? [source] : [],
    random: () => 0,
    ...options,
  })
  clients.push(client)
  return client
}
const at = (rest: string) => `${registry.host}/${rest}`
const asked = (method: string, part: string) =>
  registry.requests.filter((request) => request.method === method && request.path.includes(part)).length
const login = (username: string, password: string): Credential => ({ kind: 'basic', username, password })
const isLogin = (header: string | undefined, username: string, password: string) =>
  header === `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
const tokenFor = (scope: string | null) => `token-${Buffer.from(scope ?? '').toString('hex')}`

/** Manifests and blobs for those only who bring the token of their repository. */
const wantsToken =
  (realm: string, service: string): Script =>
  ({ path, headers }, response) => {
    const repository = /^\/v2\/(.+)\/(?:manifests|blobs)\//.exec(path)?.[1]
    if (repository === undefined) return
    const scope = `repository:${repository}:pull`
    if (headers.authorization === `Bearer ${tokenFor(scope)}`) return
    const error = headers.authorization === undefined ? '' : ',error="insufficient_scope"'
    response.setHeader(
      'www-authenticate',
      `Bearer realm="${realm}",service="${service}",scope="${scope}"${error}`,
    )
    refuse(response, 401, 'UNAUTHORIZED', 'authentication required')
  }
/** Says "not found" for a type that the Accept header does not name, as ghcr.io and ACR do. */
const strictAccept =
  (type: string): Script =>
  ({ headers }, response) => {
    if (!(headers.accept ?? '').includes(type))
      refuse(
        response,
        404,
        'MANIFEST_UNKNOWN',
        'OCI index found, but Accept header does not support OCI indexes',
      )
  }
const all =
  (...scripts: readonly Script[]): Script =>
  async (request, response, earlier) => {
    for (const script of scripts)
      if ((await script(request, response, earlier)) || response.writableEnded) return true
    return false
  }
const index = { schemaVersion: 2, mediaType: mediaTypes.ociIndex, manifests: [] }

describe('Docker Hub', () => {
  // Everyone gets a token of 300 s, without the scope for what is private or not there; a HEAD is no pull.
  const isPublic = (repository: string) => repository.startsWith('library/')
  beforeEach(() => {
    registry.script = all(wantsToken(`${elsewhere.origin}/token`, 'registry.docker.io'), (_, response) => {
      response.setHeader('ratelimit-limit', '100;w=21600').setHeader('ratelimit-remaining', '99;w=21600')
    })
    elsewhere.script = ({ query, headers }, response) => {
      const scope = query.get('scope') ?? ''
      const allowed =
        isPublic(scope.split(':')[1] ?? '') || isLogin(headers.authorization, 'me', 'dckr_pat_x')
      response.end(JSON.stringify({ token: tokenFor(allowed ? scope : ''), expires_in: 300 }))
    }
    registry.add('library/busybox', '1')
    registry.add('me/private', '1')
  })
  const hub = (credential?: Credential) =>
    open(credential && fixedCredentials({ [registry.host]: credential }), {
      rules: [{ prefix: 'docker.io', location: registry.host }],
    })
  test('a short name is found by HEADs alone, which count as no pull', async () => {
    expect(await hub().resolve('busybox:1')).toMatchObject({ kind: 'ok' })
    expect(asked('GET', '/manifests/')).toBe(0)
    expect(elsewhere.requests[0]?.query.get('service')).toBe('registry.docker.io')
    expect(elsewhere.requests[0]?.query.get('scope')).toBe('repository:library/busybox:pull')
  })
  test('private and missing cannot be told apart by strangers, and can with an access token', async () => {
    const [anonymous, known] = [hub(), hub(login('me', 'dckr_pat_x'))]
    for (const name of ['me/private:1', 'me/nothing:1'])
      expect(await anonymous.resolve(name)).toMatchObject({ kind: 'missing-or-private' })
    expect(await known.resolve('me/private:1')).toMatchObject({ kind: 'ok' })
    expect(await known.resolve('me/nothing:1')).toMatchObject({ kind: 'missing' })
  })
  test('the limit of pulls and the bare 429 against abuse are waits, not absences', async () => {
    registry.script = (_, response) =>
      refuse(response, 429, 'TOOMANYREQUESTS', 'You have reached your pull rate limit')
    expect(await hub().resolve('busybox:1')).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('limits requests'),
    })
    registry.script = (_, response) => void response.writeHead(429).end('Too Many Requests')
    expect(await hub().resolve('busybox:1')).toMatchObject({ kind: 'unknown' })
  })
})

describe('quay.io', () => {
  // Tokens from the registry itself, for robots named org+name; old images in schema 1; touchy about rates.
  beforeEach(() => {
    registry.script = all(
      ({ path, query, headers }, response) => {
        if (path !== '/v2/auth') return
        const scope = query.get('scope') ?? ''
        const allowed = scope.includes(':open/') || isLogin(headers.authorization, 'org+robot', 'KEY:1')
        response.end(JSON.stringify({ token: tokenFor(allowed ? scope : '') }))
        return true
      },
      wantsToken(`${registry.origin}/v2/auth`, registry.host),
    )
  })
  test('a robot account sees what is private, and its name arrives whole', async () => {
    registry.add('org/app', '1')
    expect(await open(login('org+robot', 'KEY:1')).resolve(at('org/app:1'))).toMatchObject({ kind: 'ok' })
    expect(registry.requests.find(({ path }) => path === '/v2/auth')?.query.get('account')).toBe('org+robot')
    expect(await open().resolve(at('org/app:1'))).toMatchObject({ kind: 'missing-or-private' })
  })
  test('an image in schema 1 is there, and no cluster pulls it', async () => {
    registry.add(
      'open/old',
      '1',
      { schemaVersion: 1, fsLayers: [] },
      'application/vnd.docker.distribution.manifest.v1+prettyjws',
    )
    expect(await open().resolve(at('open/old:1'))).toMatchObject({ kind: 'unsupported' })
  })
  test('a 401 out of nothing is met with a new token', async () => {
    registry.add('open/app', '1')
    registry.add('open/app', '2')
    const client = open()
    await client.resolve(at('open/app:1'))
    const script = registry.script as Script
    let noise = 1
    registry.script = async (request, response, earlier) => {
      if (!request.path.includes('/manifests/') || noise-- <= 0) return script(request, response, earlier)
      response.setHeader(
        'www-authenticate',
        `Bearer realm="${registry.origin}/v2/auth",service="${registry.host}"`,
      )
      refuse(response, 401, 'UNAUTHORIZED', 'noise')
    }
    expect(await client.resolve(at('open/app:2'))).toMatchObject({ kind: 'ok' })
  })
  test('asked carefully: four at a time at first, fewer after a 429, all answered in the end', async () => {
    const window = defaultRetryPolicy.windows['quay.io']
    expect(window).toEqual({ start: 4, most: 32 })
    let [active, most, refused] = [0, 0, 0]
    const script = registry.script as Script
    const names = Array.from({ length: 20 }, (_, n) => `${n}`)
    for (const tag of names) registry.add('open/app', tag)
    registry.script = async (request, response, earlier) => {
      if (!request.path.includes('/manifests/')) return script(request, response, earlier)
      active += 1
      // What is under way before the first answer that was no refusal.
      if (refused <= 3) most = Math.max(most, active)
      await new Promise((done) => setTimeout(done, 5))
      active -= 1
      if (request.headers.authorization !== undefined && refused++ < 3)
        return void response.writeHead(429, { 'retry-after': '1' }).end()
      return script(request, response, earlier)
    }
    const client = open(undefined, { limits: { windows: window ? { [registry.host]: window } : {} } })
    const answers = await Promise.all(names.map((tag) => client.resolve(at(`open/app:${tag}`))))
    expect(new Set(answers.map(({ kind }) => kind))).toEqual(new Set(['ok']))
    expect(most).toBe(4)
    expect(clock.slept.some((wait) => wait === 1000)).toBe(true)
  })
})

describe('ghcr.io', () => {
  // The token itself is refused for what is private or not there; types that Accept does not name do not exist.
  beforeEach(() => {
    registry.script = all(
      ({ path, query, headers }, response) => {
        if (path !== '/token') return
        const scope = query.get('scope') ?? ''
        if (scope.includes(':open/') || isLogin(headers.authorization, 'user', 'ghp_x'))
          response.end(JSON.stringify({ token: tokenFor(scope) }))
        else refuse(response, 403, 'DENIED', 'requested access to the resource is denied')
        return true
      },
      wantsToken(`${registry.origin}/token`, 'ghcr.io'),
      strictAccept(mediaTypes.ociIndex),
    )
    registry.add('open/app', '1', index, mediaTypes.ociIndex)
    registry.add('org/private', '1', index, mediaTypes.ociIndex)
  })
  test('a public index is found, because all four types are accepted', async () => {
    expect(await open().resolve(at('open/app:1'))).toMatchObject({
      kind: 'ok',
      mediaType: mediaTypes.ociIndex,
    })
    expect(await open().resolve(at('open/app:2'))).toMatchObject({ kind: 'missing' })
  })
  test('a refused token means missing or private to strangers, and our trouble with a token of ours', async () => {
    expect(await open().resolve(at('org/private:1'))).toMatchObject({ kind: 'missing-or-private' })
    expect(await open(login('user', 'ghp_x')).resolve(at('org/private:1'))).toMatchObject({ kind: 'ok' })
    expect(await open(login('user', 'ghp_expired')).resolve(at('org/private:1'))).toMatchObject({
      kind: 'unknown',
      reason: expect.stringContaining('does not take our credentials'),
    })
  })
})

describe('registry.redhat.io', () => {
  // Tokens from the single sign-on; service accounts with a "|" in the name; a help text for strangers; blobs on a CDN.
  const account = '12345678|catalog-bot'
  beforeEach(() => {
    registry.script = all(
      wantsToken(`${elsewhere.origin}/auth/realms/rhc4tp/protocol/docker-v2/auth`, 'docker-registry'),
      ({ path }, response) => {
        if (path.includes('/blobs/'))
          response.writeHead(302, { location: `${elsewhere.origin}/cdn?sig=x` }).end()
        else if (!registry.holds(path.slice('/v2/'.length).replace('/manifests/', '@')))
          refuse(response, 404, 'UNKNOWN', 'Not Found')
      },
    )
    elsewhere.script = ({ path, query, headers }, response) => {
      if (path === '/cdn') response.end('layer')
      else if (isLogin(headers.authorization, account, 'jwt.jwt.jwt'))
        response.end(
          JSON.stringify({ access_token: tokenFor(query.get('scope')), token: tokenFor(query.get('scope')) }),
        )
      else
        refuse(
          response,
          401,
          'UNAUTHORIZED',
          'Please login to the Red Hat Registry using your Customer Portal credentials. Further instructions can be found here: https://access.redhat.com/RegistryAuthentication',
        )
    }
    registry.add('rhel9/app', '1')
  })
  test('a service account is known to the single sign-on, a missing manifest is missing', async () => {
    const client = open(login(account, 'jwt.jwt.jwt'))
    expect(await client.resolve(at('rhel9/app:1'))).toMatchObject({ kind: 'ok' })
    expect(await client.resolve(at('rhel9/app:2'))).toMatchObject({ kind: 'missing' })
    expect(elsewhere.requests[0]?.query.get('account')).toBe(account)
    const blob = { mediaType: '', digest: registry.addBlob('layer').digest, size: 5 }
    await client.fetchBlob({ host: registry.host, repository: 'rhel9/app' }, blob)
    const fromCdn = elsewhere.requests.filter(({ path }) => path === '/cdn')
    expect(fromCdn.map(({ headers }) => headers.authorization)).toEqual([undefined])
  })
  test('strangers are shown the help text', async () => {
    expect(await open().resolve(at('rhel9/app:1'))).toMatchObject({
      kind: 'missing-or-private',
      reason: expect.stringContaining('https://access.redhat.com/RegistryAuthentication'),
    })
  })
})

describe('ECR', () => {
  // Basic with a password of twelve hours, no tokens; HEAD without the digest.
  beforeEach(() => {
    registry.script = ({ method, path, headers }, response) => {
      if (!isLogin(headers.authorization, 'AWS', 'twelve-hours'))
        return void response
          .writeHead(401, {
            'www-authenticate': 'Basic realm="https://ecr.example/",service="ecr.amazonaws.com"',
          })
          .end('Not Authorized')
      if (method === 'HEAD' && registry.holds(path.slice('/v2/'.length).replace('/manifests/', '@')))
        response.writeHead(200, { 'content-type': mediaTypes.dockerManifest, 'content-length': 300 }).end()
    }
  })
  test('is found by its bytes, with no token asked for, and forgets nobody between two images', async () => {
    const digest = registry.add('team/app', '1')
    registry.add('team/other', '1')
    const client = open(login('AWS', 'twelve-hours'))
    expect(await client.resolve(at('team/app:1'))).toMatchObject({ kind: 'ok', digest })
    registry.requests.length = 0
    expect(await client.resolve(at('team/other:1'))).toMatchObject({ kind: 'ok' })
    // With the password at once: what the host wants is remembered.
    expect(registry.requests).toHaveLength(1)
    expect(await client.resolve(at('team/app:2'))).toMatchObject({ kind: 'missing' })
    expect(registry.requests.some(({ path }) => path.includes('token'))).toBe(false)
  })
  test('a password that has run out is our trouble', async () => {
    expect(await open(login('AWS', 'yesterday')).resolve(at('team/app:1'))).toMatchObject({ kind: 'unknown' })
  })
})

describe('GAR', () => {
  // Tokens from the registry itself; a whole JSON key for a password; 403 for a project that one may not see or that
  // is not there, 404 for an image that is not there.
  const key = JSON.stringify({ type: 'service_account', private_key: '-----BEGIN\n:"\\' })
  beforeEach(() => {
    registry.script = all(
      ({ path, query, headers }, response) => {
        if (path !== '/v2/token') return
        const known =
          isLogin(headers.authorization, '_json_key', key) ||
          isLogin(headers.authorization, 'oauth2accesstoken', 'ya29.x')
        const scope = query.get('scope') ?? ''
        if (known || scope.includes(':open-project/'))
          response.end(JSON.stringify({ token: tokenFor(scope), expires_in: 3600 }))
        else
          refuse(
            response,
            403,
            'DENIED',
            'Unauthenticated request. Unauthenticated requests do not have permission',
          )
        return true
      },
      wantsToken(`${registry.origin}/v2/token`, registry.host),
      ({ path }, response) => {
        if (path.includes('/no-project/'))
          refuse(response, 403, 'DENIED', 'Permission denied on resource (or it may not exist)')
        else if (path.includes('/no-repo/'))
          refuse(response, 404, 'NAME_UNKNOWN', 'Repository "no-repo" not found')
      },
    )
    registry.add('project/repo/image', '1')
    registry.add('open-project/repo/image', '1')
  })
  test.each([
    ['_json_key', key],
    ['oauth2accesstoken', 'ya29.x'],
  ])('%s opens project, repository and image', async (username, password) => {
    const client = open(login(username, password))
    expect(await client.resolve(at('project/repo/image:1'))).toMatchObject({ kind: 'ok' })
    expect(await client.resolve(at('project/repo/image:2'))).toMatchObject({ kind: 'missing' })
    expect(await client.resolve(at('project/no-repo/image:1'))).toMatchObject({ kind: 'missing' })
    // Google itself does not say which: so neither do we.
    expect(await client.resolve(at('no-project/x/image:1'))).toMatchObject({ kind: 'missing-or-private' })
  })
  test('a key survives the docker config that gcloud and `docker login` write', async () => {
    const auth = Buffer.from(`_json_key:${key}`).toString('base64')
    const source = dockerConfigCredentials(
      parseDockerConfig(JSON.stringify({ auths: { [`https://${registry.host}`]: { auth } } }), 'config.json'),
    )
    expect(await open(source).resolve(at('project/repo/image:1'))).toMatchObject({ kind: 'ok' })
  })
  test('what is public is open to strangers, the rest missing or private', async () => {
    expect(await open().resolve(at('open-project/repo/image:1'))).toMatchObject({ kind: 'ok' })
    expect(await open().resolve(at('project/repo/image:1'))).toMatchObject({ kind: 'missing-or-private' })
  })
})

describe('ACR', () => {
  // A refresh token under the user of zeros, exchanged by POST for an `access_token`; or an admin's password.
  const zeros = '00000000-0000-0000-0000-000000000000'
  beforeEach(() => {
    registry.script = all(
      ({ method, path, query, headers, body }, response) => {
        if (path !== '/oauth2/token') return
        const form = new URLSearchParams(body.toString())
        const scope = form.get('scope') ?? query.get('scope')
        const known =
          method === 'POST'
            ? form.get('grant_type') === 'refresh_token' && form.get('refresh_token') === 'refresh'
            : isLogin(headers.authorization, 'admin', 'p')
        if (known) response.end(JSON.stringify({ access_token: tokenFor(scope) }))
        else refuse(response, 401, 'UNAUTHORIZED', 'authentication required')
        return true
      },
      wantsToken(`${registry.origin}/oauth2/token`, registry.host),
      strictAccept(mediaTypes.ociIndex),
    )
    registry.add('app', '1', index, mediaTypes.ociIndex)
  })
  test('what `az acr login` leaves in the docker config opens it', async () => {
    const entry = { auth: Buffer.from(`${zeros}:`).toString('base64'), identitytoken: 'refresh' }
    const source = dockerConfigCredentials(
      parseDockerConfig(JSON.stringify({ auths: { [registry.host]: entry } }), 'config.json'),
    )
    expect(await open(source).resolve(at('app:1'))).toMatchObject({ kind: 'ok' })
    const post = registry.requests.find(({ method }) => method === 'POST')
    expect(new URLSearchParams(post?.body.toString()).get('scope')).toBe('repository:app:pull')
    expect(post?.headers.authorization).toBeUndefined()
  })
  test("so does the admin's password, and no wrong one", async () => {
    expect(await open(login('admin', 'p')).resolve(at('app:1'))).toMatchObject({ kind: 'ok' })
    expect(await open(login('admin', 'q')).resolve(at('app:1'))).toMatchObject({ kind: 'unknown' })
    expect(await open().resolve(at('app:1'))).toMatchObject({ kind: 'missing-or-private' })
  })
})

describe('Harbor', () => {
  // Tokens from /service/token for robots named robot$project+name; UNKNOWN for what is not there; a proxy cache below
  // a project's name; Content-Type with parameters from the proxy in front.
  beforeEach(() => {
    registry.script = all(
      ({ path, query, headers }, response) => {
        if (path !== '/service/token') return
        const scope = query.get('scope') ?? ''
        const allowed = isLogin(headers.authorization, 'robot$project+bot', 's')
        response.end(
          JSON.stringify({ token: tokenFor(allowed ? scope : ''), access_token: '', expires_in: 1800 }),
        )
        return true
      },
      wantsToken(`${registry.origin}/service/token`, 'harbor-registry'),
      ({ path }, response) => {
        if (registry.holds(path.slice('/v2/'.length).replace('/manifests/', '@'))) return
        refuse(response, 404, 'UNKNOWN', 'Not Found')
      },
    )
    registry.add('quay-proxy/org/app', '1', undefined, `${mediaTypes.ociManifest}; charset=utf-8`)
  })
  test('a robot finds what a project holds, below any prefix, and UNKNOWN is missing', async () => {
    const client = open(login('robot$project+bot', 's'))
    expect(await client.resolve(at('quay-proxy/org/app:1'))).toMatchObject({
      kind: 'ok',
      mediaType: mediaTypes.ociManifest,
    })
    expect(asked('HEAD', '/manifests/')).toBe(0)
    expect(await client.resolve(at('quay-proxy/org/app:2'))).toMatchObject({ kind: 'missing' })
    expect(await open().resolve(at('quay-proxy/org/app:1'))).toMatchObject({ kind: 'missing-or-private' })
  })
})

describe('Nexus', () => {
  // Basic; HEAD says 404 for what GET has; HTML for its own errors.
  beforeEach(() => {
    registry.script = ({ method, path, headers }, response) => {
      if (!isLogin(headers.authorization, 'u', 'p'))
        response
          .writeHead(401, { 'www-authenticate': 'BASIC realm="Sonatype Nexus Repository Manager"' })
          .end()
      else if (method === 'HEAD') response.writeHead(404).end()
      else if (path.includes('/broken/'))
        response.writeHead(500, { 'content-type': 'text/html' }).end('<html>Error</html>')
    }
    registry.add('hosted/app', '1')
    registry.add('hosted/app', '2')
  })
  test('is asked by GET, and is believed when both say no', async () => {
    const client = open(login('u', 'p'))
    expect(await client.resolve(at('hosted/none:1'))).toMatchObject({ kind: 'missing' })
    const heads = asked('HEAD', '/manifests/')
    expect(heads).toBeGreaterThan(0)
    for (const tag of ['1', '2'])
      expect(await client.resolve(at(`hosted/app:${tag}`))).toMatchObject({ kind: 'ok' })
    expect(asked('HEAD', '/manifests/')).toBe(heads)
  })
  test('its own trouble is trouble', async () => {
    const answer = await open(login('u', 'p')).resolve(at('hosted/broken/app:1'))
    expect(answer).toMatchObject({ kind: 'unknown', reason: expect.not.stringContaining('<') })
  })
})
