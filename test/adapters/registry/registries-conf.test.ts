// How the registries.conf of the operator determines which registries serve a reference.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { parseImageReference } from '../../../packages/fbc/src/go/reference/image-reference.ts'
import { EgressPolicy } from '../../../src/adapters/registry/transport/egress-policy.ts'
import {
  toEgressOptions,
  parseRegistriesConf,
  readRegistriesConf,
  getRegistryEndpoints,
  type RegistriesConfRule,
} from '../../../src/adapters/registry/registries-conf.ts'
import { HttpRegistryClient } from '../../../src/adapters/registry/open-registry.ts'
import { readRegistryAccess } from '../../../src/adapters/registry/registry-access.ts'
import { createManualClock } from './manual-clock.ts'
import { loopbackCertificate, startScriptedRegistry } from './scripted-registry.ts'
import { createSelfRemovingDirectory } from '../../temporary-directory.ts'

const imageDigest = `sha256:${'a'.repeat(64)}`

/** Returns the endpoints for a reference, with `mirror!` before mirrors: `mirror!m.example/a b.example/c`. */
function formatRegistryEndpoints(rules: readonly RegistriesConfRule[], text: string): string {
  const { reference } = parseImageReference(text)
  if (!reference) throw new Error(text)
  return getRegistryEndpoints(reference, rules)
    .map(({ host, repository, isMirror }) => `${isMirror ? 'mirror!' : ''}${host}/${repository}`)
    .join(' ')
}
const parseTestRegistriesConf = (text: string) => parseRegistriesConf(text, 'registries.conf')

describe('the rules of a file', () => {
  const rules = parseTestRegistriesConf(`
    unqualified-search-registries = ["docker.io"]
    short-name-mode = "enforcing"
    [[registry]]
    location = "quay.io"
    [[registry.mirror]]
    location = "mirror.example/quay"
    [[registry.mirror]]
    location = "tags.example"
    pull-from-mirror = "tag-only"
    [[registry.mirror]]
    location = "digests.example/"
    pull-from-mirror = "digest-only"

    [[registry]]
    prefix = "quay.io/org/app"
    location = "other.example/renamed"
    mirror-by-digest-only = true
    [[registry.mirror]]
    location = "mirror.example:8443/app"

    [[registry]]
    prefix = "*.corp.example"
    [[registry.mirror]]
    location = "cache.example"
    [[registry]]
    prefix = "*.corp.example/secret"
    blocked = true
    [[registry]]
    prefix = "index.docker.io/library"
    location = "hub.example/library"
  `)
  test.each([
    ['quay.io/a/b:1', 'mirror!mirror.example/quay/a/b mirror!tags.example/a/b quay.io/a/b'],
    [`quay.io/a/b@${imageDigest}`, 'mirror!mirror.example/quay/a/b mirror!digests.example/a/b quay.io/a/b'],
    // Only the longest prefix applies, so the mirrors of quay.io are not used.
    [`quay.io/org/app@${imageDigest}`, 'mirror!mirror.example:8443/app other.example/renamed'],
    ['quay.io/org/app:1', 'other.example/renamed'],
    ['quay.io/org/app/sub:1', 'other.example/renamed/sub'],
    [
      'quay.io/org/application:1',
      'mirror!mirror.example/quay/org/application mirror!tags.example/org/application quay.io/org/application',
    ],
    ['a.corp.example/x:1', 'mirror!cache.example/x a.corp.example/x'],
    ['a.b.corp.example:5000/x:1', 'a.b.corp.example:5000/x'],
    ['corp.example/x:1', 'corp.example/x'],
    ['acorp.example/x:1', 'acorp.example/x'],
    ['evil.example/a.corp.example/x:1', 'evil.example/a.corp.example/x'],
    ['a.corp.example.evil.example/x:1', 'a.corp.example.evil.example/x'],
    ['quay.io.evil.example/a:1', 'quay.io.evil.example/a'],
    ['foo', 'hub.example/library/foo'],
    ['org/foo', 'registry-1.docker.io/org/foo'],
  ])('%s is requested from %s', (text, expected) => {
    expect(formatRegistryEndpoints(rules, text)).toBe(expected)
  })
  test('a blocked image is not requested from any registry', async () => {
    expect(() => formatRegistryEndpoints(rules, 'a.corp.example/secret/x:1')).toThrow(
      /registries\.conf on the catalog-bot host blocks/,
    )
    expect(formatRegistryEndpoints(rules, 'a.corp.example/secretary:1')).toContain('cache.example/secretary')
    const client = new HttpRegistryClient({
      clock: createManualClock(),
      rules,
      resolve: () => Promise.reject(new Error('asked')),
    })
    expect(await client.resolve('a.corp.example/secret/x:1')).toEqual({
      kind: 'blocked',
      reason: 'registries.conf on the catalog-bot host blocks *.corp.example/secret',
    })
    await client.close()
  })
})

test.each([
  ['invalid TOML', 'x = \n', /registries\.conf, line 1: invalid TOML/],
  ['version 1', '[registries.search]\nregistries = ["a"]', /version 1/],
  ['neither prefix nor location', '[[registry]]\nblocked = true', /neither a prefix nor a location/],
  ['an unknown key', '[[registry]]\nlocation = "a.b"\nmirrors = []', /mirrors/],
  ['a value of the wrong type', '[[registry]]\nlocation = "a.b"\ninsecure = "yes"', /insecure/],
  [
    'an unknown value of pull-from-mirror',
    '[[registry]]\nlocation = "a.b"\n[[registry.mirror]]\nlocation = "c.d"\npull-from-mirror = "some"',
    /pull-from-mirror/,
  ],
  [
    'conflicting mirror settings',
    '[[registry]]\nlocation = "a.b"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "c.d"\npull-from-mirror = "all"',
    /which conflict/,
  ],
  ['a scheme', '[[registry]]\nlocation = "https://a.b"', /without a scheme/],
  ['a tag', '[[registry]]\nprefix = "a.b/c:1"', /without a scheme, tag/],
  ['a wildcard as a location', '[[registry]]\nprefix = "a.b"\nlocation = "*.c.d"', /wildcard/],
  ['an insecure wildcard', '[[registry]]\nprefix = "*.b"\ninsecure = true', /each insecure host separately/],
  ['a duplicate prefix', '[[registry]]\nlocation = "a.b"\n[[registry]]\nprefix = "A.b"', /is defined twice/],
])('an invalid file with %s is rejected', (_name, text, reason) => {
  expect(() => parseTestRegistriesConf(text)).toThrow(reason)
})

describe('what a file allows', () => {
  const egress = toEgressOptions(
    parseTestRegistriesConf(`
      [[registry]]
      location = "quay.io"
      [[registry.mirror]]
      location = "mirror.test:7000/quay"
      insecure = true
      [[registry]]
      location = "localhost:5000"
      insecure = true
      [[registry]]
      prefix = "a.example"
      location = "b.example"
    `),
  )
  const policy = new EgressPolicy(egress)
  test('a mirror can have a private address and any port, and needs insecure = true to skip TLS', () => {
    policy.checkUrl(new URL('http://mirror.test:7000/v2/'))
    policy.checkAddresses('mirror.test', 7000, ['10.1.2.3'])
    policy.checkAddresses('b.example', 443, ['192.168.0.9', 'fd00::1'])
    expect(() => policy.checkUrl(new URL('http://b.example/'))).toThrow(/requires TLS/)
    policy.checkUrl(new URL('http://localhost:5000/v2/'))
    policy.checkAddresses('localhost', 5000, ['127.0.0.1', '::1'])
  })
  test('a mirror cannot have a metadata, link-local, or loopback address', () => {
    for (const address of ['169.254.169.254', '127.0.0.1', 'fe80::1', '168.63.129.16', '::1'])
      expect(() => policy.checkAddresses('mirror.test', 7000, [address])).toThrow(/public/)
  })
  test('the original registry of a rule keeps the default restrictions', () => {
    for (const host of ['quay.io', 'a.example'])
      expect(() => policy.checkAddresses(host, 443, ['10.1.2.3'])).toThrow(/public/)
    expect(() => policy.checkUrl(new URL('http://quay.io/'))).toThrow(/requires TLS/)
  })
})

describe('file locations', () => {
  const folder = createSelfRemovingDirectory('registries')
  beforeAll(async () => {
    const write = async (path: string, text: string) => {
      await mkdir(join(folder, path, '..'), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    const mirrored = (by: string) =>
      `[[registry]]\nlocation = "quay.io"\n[[registry.mirror]]\nlocation = "${by}"\n`
    await write('etc/registries.conf', mirrored('machine.example'))
    await write('etc/registries.conf.d/50-a.conf', '[[registry]]\nlocation = "a.example"\nblocked = true')
    await write('home/.config/containers/registries.conf', mirrored('user.example'))
    await write('given.conf', mirrored('given.example'))
    await write('given.conf.d/10.conf', mirrored('first.example'))
    await write('given.conf.d/20.conf', mirrored('second.example'))
    await write('given.conf.d/30.txt', mirrored('never.example'))
    await write('search.conf', 'unqualified-search-registries = ["registry.fedoraproject.org"]')
    await write('home2/.config/containers/registries.conf', 'unqualified-search-registries = ["a", "b"]')
  })
  const quay = async (environment: Record<string, string>) =>
    formatRegistryEndpoints(await readRegistriesConf(environment, join(folder, 'etc')), 'quay.io/a')

  test('the user file replaces the system file, and the system drop-ins still apply', async () => {
    expect(await quay({ HOME: join(folder, 'nobody') })).toContain('machine.example')
    const rules = await readRegistriesConf({ HOME: join(folder, 'home') }, join(folder, 'etc'))
    expect(formatRegistryEndpoints(rules, 'quay.io/a')).toContain('user.example')
    expect(() => formatRegistryEndpoints(rules, 'a.example/x')).toThrow(/blocks/)
    expect(await readRegistriesConf({ HOME: join(folder, 'nobody') }, join(folder, 'nothing'))).toEqual([])
  })
  test('REGISTRIES_CONF replaces both files, and later drop-ins take precedence', async () => {
    const named = { HOME: join(folder, 'home'), REGISTRIES_CONF: join(folder, 'given.conf') }
    expect(await quay(named)).toBe('mirror!second.example/a quay.io/a')
  })
  test('REGISTRIES_CONF with a missing file or with unqualified-search-registries is rejected', async () => {
    await expect(quay({ REGISTRIES_CONF: join(folder, 'none.conf') })).rejects.toThrow(/does not exist/)
    await expect(quay({ REGISTRIES_CONF: join(folder, 'search.conf') })).rejects.toThrow(
      /unqualified-search-registries is not supported; image names without a registry always mean docker\.io/,
    )
    // The default podman configuration has them for interactive use, so they are ignored outside REGISTRIES_CONF.
    expect(await readRegistriesConf({ HOME: join(folder, 'home2') }, join(folder, 'nothing'))).toEqual([])
  })
})

describe('the registry access of an operator', () => {
  test('uses mirrors, certificates, and internal addresses, and blocks all other registries', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'access-'))
    const secure = await startScriptedRegistry({ tls: true })
    const mirror = await startScriptedRegistry()
    const found = mirror.add('cache/org/app', 'v1')
    secure.add('a/b', '1')
    await writeFile(
      join(folder, 'registries.conf'),
      `[[registry]]\nlocation = "quay.io"\n[[registry.mirror]]\nlocation = "${mirror.host}/cache"\ninsecure = true\n`,
    )
    await mkdir(join(folder, 'certs.d', secure.host), { recursive: true })
    await writeFile(join(folder, 'certs.d', secure.host, 'ca.crt'), loopbackCertificate)
    const environment = {
      HOME: folder,
      REGISTRIES_CONF: join(folder, 'registries.conf'),
      REGISTRY_CERTIFICATES: join(folder, 'certs.d'),
      INTERNAL_REGISTRIES: `${secure.host}=127.0.0.1/32`,
      ONLY_REGISTRIES: `${mirror.host}, ${secure.host}`,
    }
    const access = await readRegistryAccess(environment)
    expect(access.egress.certificates).toEqual({ [secure.host]: `${loopbackCertificate}\n` })
    const client = new HttpRegistryClient({ clock: createManualClock(), ...access })
    expect(await client.resolve('quay.io/org/app:v1')).toMatchObject({ kind: 'ok', digest: found })
    expect(await client.resolve(`${secure.host}/a/b:1`)).toMatchObject({ kind: 'ok' })
    expect(await client.resolve('ghcr.io/a/b:1')).toEqual({
      kind: 'blocked',
      reason: 'ghcr.io is not one of the allowed registries',
    })
    expect(await client.identity('quay.io/org/app:v1')).toBe(`${mirror.host} anonymous, anonymous`)
    await Promise.all([client.close(), mirror.close(), secure.close(), rm(folder, { recursive: true })])
  })
  test.each([
    [
      { INTERNAL_REGISTRIES: 'registry.internal' },
      /INTERNAL_REGISTRIES: "registry\.internal" does not have the form HOST=/,
    ],
    [{ REGISTRY_CERTIFICATES: '/nowhere' }, /REGISTRY_CERTIFICATES: cannot read \/nowhere/],
  ])('%j is rejected with the name of the variable', async (environment, reason) => {
    await expect(readRegistryAccess({ HOME: '/nowhere', ...environment })).rejects.toThrow(reason)
  })
})
