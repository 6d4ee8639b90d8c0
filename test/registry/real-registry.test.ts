// The client against docker-registry: open, behind htpasswd, and behind a token service of the test's own.
import { createSign, X509Certificate } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { fixedCredentials, type Credential } from '../../src/registry/credentials.ts'
import { loopbackRegistries } from '../../src/registry/egress-policy.ts'
import { openRegistry } from '../../src/registry/open-registry.ts'
import { handClock } from './hand-clock.ts'
import { missingPrograms, realRegistry, type RealRegistry } from './real-registry.ts'

const absent = missingPrograms('docker-registry', 'skopeo', 'htpasswd')
if (absent !== undefined) console.warn(`left out: the real registry, because ${absent} is not installed`)
const withRegistry = absent === undefined ? describe : describe.skip

const image = { layers: [Buffer.alloc(1024)] }
const robot = { kind: 'basic', username: 'robot', password: 'secret' } as const

async function resolving(
  registry: RealRegistry,
  credential: Credential | undefined,
  more: readonly string[] = [],
  platforms = false,
) {
  const client = openRegistry({
    clock: handClock(),
    platforms,
    egress: {
      ...loopbackRegistries(registry.host, ...more),
      tokenHosts: { [registry.host]: more },
    },
    credentials: credential ? [fixedCredentials({ [registry.host]: credential })] : [],
    limits: { attempts: 1 },
  })
  return {
    resolve: (name: string) => client.resolve(`${registry.host}/${name}`),
    client,
  }
}

withRegistry('an open docker-registry', () => {
  let registry: RealRegistry
  beforeAll(async () => {
    registry = await realRegistry()
  })
  afterAll(() => registry.close())

  test("finds what skopeo put there, of all four types, with skopeo's digests", async () => {
    const pushed = {
      'a/oci:1': await registry.push(image, 'a/oci:1', { format: 'oci' }),
      'a/docker:1': await registry.push(image, 'a/docker:1', { format: 'v2s2' }),
      'a/index:1': await registry.push({ ...image, architectures: ['amd64', 'arm64'] }, 'a/index:1', {
        format: 'oci',
      }),
      'a/list:1': await registry.push({ ...image, architectures: ['amd64', 's390x'] }, 'a/list:1', {
        format: 'v2s2',
      }),
    }
    const { resolve, client } = await resolving(registry, undefined)
    const withPlatforms = await resolving(registry, undefined, [], true)
    for (const [name, digest] of Object.entries(pushed)) {
      expect(await resolve(name)).toMatchObject({ kind: 'ok', digest })
      expect(await resolve(`${name.split(':')[0]}@${digest}`)).toMatchObject({ kind: 'ok', digest })
    }
    expect(await withPlatforms.resolve('a/oci:1')).toMatchObject({ platforms: ['linux/amd64'] })
    expect(await withPlatforms.resolve('a/index:1')).toMatchObject({
      platforms: ['linux/amd64', 'linux/arm64'],
    })
    expect(await withPlatforms.resolve('a/list:1')).toMatchObject({
      platforms: ['linux/amd64', 'linux/s390x'],
    })
    expect(await resolve('a/oci:2')).toMatchObject({ kind: 'missing' })
    expect(await resolve('a/none:1')).toMatchObject({ kind: 'missing' })
    expect(await resolve(`a/oci@sha256:${'0'.repeat(64)}`)).toMatchObject({ kind: 'missing' })
    await Promise.all([client.close(), withPlatforms.client.close()])
  }, 60_000)
})

withRegistry('docker-registry behind htpasswd', () => {
  test('opens for the right password only', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'htpasswd-'))
    const file = join(folder, 'htpasswd')
    await writeFile(file, spawnSync('htpasswd', ['-Bbn', 'robot', 'secret']).stdout)
    const registry = await realRegistry({ kind: 'htpasswd', file })
    const digest = await registry.push(image, 'a/b:1', { credentials: 'robot:secret' })
    const known = await resolving(registry, robot)
    expect(await known.resolve('a/b:1')).toMatchObject({ kind: 'ok', digest })
    expect(await known.resolve('a/b:2')).toMatchObject({ kind: 'missing' })
    const stranger = await resolving(registry, undefined)
    expect(await stranger.resolve('a/b:1')).toMatchObject({ kind: 'missing-or-private' })
    const wrong = await resolving(registry, { ...robot, password: 'wrong' })
    expect(await wrong.resolve('a/b:1')).toMatchObject({ kind: 'unknown' })
    await Promise.all([known, stranger, wrong].map(({ client }) => client.close()))
    await registry.close()
    await rm(folder, { recursive: true })
  }, 60_000)
})

withRegistry('docker-registry behind a token service', () => {
  test('one token per repository; strangers may see what is public only', async () => {
    const folder = new URL('./loopback-certificate/', import.meta.url)
    const certificate = await readFile(new URL('certificate.pem', folder), 'utf8')
    const key = await readFile(new URL('key.pem', folder), 'utf8')
    let tokens = 0
    // Signs what the scope asks for: everything for the robot, pulls of public/* for everyone.
    const service = createServer((request, response) => {
      tokens += 1
      const query = new URL(request.url ?? '', 'http://token.test').searchParams
      const isRobot = request.headers.authorization === `Basic ${btoa('robot:secret')}`
      const access = query.getAll('scope').flatMap((scope) => {
        const [type, name = '', actions = ''] = scope.split(':')
        if (!isRobot && !name.startsWith('public/')) return []
        return [{ type, name, actions: isRobot ? actions.split(',') : ['pull'] }]
      })
      const now = Math.floor(Date.now() / 1000)
      const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const header = part({
        typ: 'JWT',
        alg: 'ES256',
        x5c: [new X509Certificate(certificate).raw.toString('base64')],
      })
      const claims = part({
        iss: 'test',
        sub: 'robot',
        aud: 'registry.test',
        exp: now + 300,
        nbf: now - 10,
        iat: now,
        jti: String(tokens),
        access,
      })
      const signature = createSign('sha256')
        .update(`${header}.${claims}`)
        .sign({ key, dsaEncoding: 'ieee-p1363' })
      response.end(
        JSON.stringify({ token: `${header}.${claims}.${signature.toString('base64url')}`, expires_in: 300 }),
      )
    })
    await new Promise<void>((ready) => service.listen(0, '127.0.0.1', ready))
    const tokenHost = `127.0.0.1:${(service.address() as AddressInfo).port}`
    const registry = await realRegistry({
      kind: 'token',
      realm: `http://${tokenHost}/token`,
      service: 'registry.test',
      issuer: 'test',
      certificate: new URL('certificate.pem', folder).pathname,
    })
    const secret = await registry.push(image, 'private/b:1', { credentials: 'robot:secret' })
    const open = await registry.push(image, 'public/b:1', { credentials: 'robot:secret' })
    tokens = 0
    const known = await resolving(registry, robot, [tokenHost])
    const answers = await Promise.all(Array.from({ length: 20 }, () => known.resolve('private/b:1')))
    for (const answer of answers) expect(answer).toMatchObject({ kind: 'ok', digest: secret })
    expect(tokens).toBe(1)
    expect(await known.resolve('private/b:2')).toMatchObject({ kind: 'missing' })
    const stranger = await resolving(registry, undefined, [tokenHost])
    expect(await stranger.resolve('public/b:1')).toMatchObject({ kind: 'ok', digest: open })
    expect(await stranger.resolve('private/b:1')).toMatchObject({ kind: 'missing-or-private' })
    await Promise.all([known.client.close(), stranger.client.close(), registry.close()])
    await new Promise((done) => {
      service.close(done)
      service.closeAllConnections()
    })
  }, 60_000)
})
