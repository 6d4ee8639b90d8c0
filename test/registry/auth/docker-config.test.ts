import { describe, expect, test } from '@jest/globals'
import { dockerConfigCredentials, parseDockerConfig } from '../../../src/registry/auth/docker-config.ts'

const auth = (text: string) => Buffer.from(text).toString('base64')
const source = (config: unknown) =>
  dockerConfigCredentials(parseDockerConfig(JSON.stringify(config), 'config.json'))
const basic = (username: string, password: string) => ({ kind: 'basic', username, password })

describe('credential files', () => {
  test('the most specific key wins, cut at slashes only', async () => {
    const found = source({
      auths: {
        'quay.io': { auth: auth('all:1') },
        'quay.io/org': { auth: auth('org:2') },
        'quay.io/org/app': { auth: auth('app:3') },
      },
    })
    expect(await found.find('quay.io', 'org/app')).toEqual(basic('app', '3'))
    expect(await found.find('quay.io', 'org/application')).toEqual(basic('org', '2'))
    expect(await found.find('quay.io', 'organization/app')).toEqual(basic('all', '1'))
    expect(await found.find('notquay.io', 'org/app')).toBeUndefined()
    expect(await found.find('quay.io.evil.example', 'org/app')).toBeUndefined()
  })
  test('Docker Hub keeps its old key, and keys may be URLs', async () => {
    const found = source({
      auths: {
        'https://index.docker.io/v1/': { auth: auth('hub:x') },
        'https://r.example/v2/': { auth: auth('r:y') },
      },
    })
    expect(await found.find('docker.io', 'library/foo')).toEqual(basic('hub', 'x'))
    expect(await found.find('r.example', 'foo')).toEqual(basic('r', 'y'))
  })
  test('a password may contain colons, lack padding or end in NULs', async () => {
    const found = source({
      auths: {
        a: { auth: auth('u:p:q:r') },
        b: { auth: auth('u:p').replace(/=+$/, '') },
        c: { auth: auth('u:p\0\0') },
      },
    })
    expect(await found.find('a', 'x')).toEqual(basic('u', 'p:q:r'))
    expect(await found.find('b', 'x')).toEqual(basic('u', 'p'))
    expect(await found.find('c', 'x')).toEqual(basic('u', 'p'))
  })
  test('tokens come before passwords', async () => {
    const found = source({
      auths: { a: { registrytoken: 'r', auth: auth('u:p') }, b: { identitytoken: 'i', auth: auth('u:p') } },
    })
    expect(await found.find('a', 'x')).toEqual({ kind: 'bearer', token: 'r' })
    expect(await found.find('b', 'x')).toEqual({ kind: 'identity', token: 'i' })
  })
  test('an entry that cannot be read fails loudly and does not become anonymous, nor is it quoted', async () => {
    for (const entry of [{ auth: '!!!' }, { auth: auth('nocolon') }, { username: 'u' }]) {
      const failure = source({ auths: { 'quay.io': entry } }).find('quay.io', 'a')
      await expect(failure).rejects.toMatchObject({
        code: 'credentials',
        message: expect.stringContaining('quay.io'),
      })
    }
    for (const text of ['{"auths": s3cret', '[]', '{"auths": []}', '{"auths": {"a": 1}}'])
      expect(() => parseDockerConfig(text, 'config.json')).toThrow(/^config\.json(?!.*s3cret)/)
  })
  test('an empty entry, as docker login leaves it beside a store, is none', async () => {
    expect(await source({ auths: { 'quay.io': {} } }).find('quay.io', 'a')).toBeUndefined()
  })
})
