import { describe, expect, test } from '@jest/globals'
import {
  createDockerConfigCredentials,
  parseDockerConfig,
} from '../../../../src/adapters/registry/auth/credential-files.ts'

const toBase64 = (text: string) => Buffer.from(text).toString('base64')
const createCredentialSource = (config: unknown) =>
  createDockerConfigCredentials(parseDockerConfig(JSON.stringify(config), 'config.json'))
const createBasicCredential = (username: string, password: string) => ({ kind: 'basic', username, password })

describe('credential files', () => {
  test('the most specific key wins, and prefixes end only at slashes', async () => {
    const found = createCredentialSource({
      auths: {
        'quay.io': { auth: toBase64('all:1') },
        'quay.io/org': { auth: toBase64('org:2') },
        'quay.io/org/app': { auth: toBase64('app:3') },
      },
    })
    expect(await found.find('quay.io', 'org/app')).toEqual(createBasicCredential('app', '3'))
    expect(await found.find('quay.io', 'org/application')).toEqual(createBasicCredential('org', '2'))
    expect(await found.find('quay.io', 'organization/app')).toEqual(createBasicCredential('all', '1'))
    for (const host of ['notquay.io', 'xquay.io', 'quay.io.evil.example', 'quay.io:5000', 'sub.quay.io'])
      expect(await found.find(host, 'org/app')).toBeUndefined()
  })
  test('Docker Hub uses its legacy key, and keys can be URLs', async () => {
    const found = createCredentialSource({
      auths: {
        'https://index.docker.io/v1/': { auth: toBase64('hub:x') },
        'https://r.example/v2/': { auth: toBase64('r:y') },
      },
    })
    expect(await found.find('docker.io', 'library/foo')).toEqual(createBasicCredential('hub', 'x'))
    expect(await found.find('r.example', 'foo')).toEqual(createBasicCredential('r', 'y'))
  })
  test('a password can contain colons, lack base64 padding, or end in NULs', async () => {
    const found = createCredentialSource({
      auths: {
        a: { auth: toBase64('u:p:q:r') },
        b: { auth: toBase64('u:p').replace(/=+$/, '') },
        c: { auth: toBase64('u:p\0\0') },
      },
    })
    expect(await found.find('a', 'x')).toEqual(createBasicCredential('u', 'p:q:r'))
    expect(await found.find('b', 'x')).toEqual(createBasicCredential('u', 'p'))
    expect(await found.find('c', 'x')).toEqual(createBasicCredential('u', 'p'))
  })
  test('tokens take precedence over passwords', async () => {
    const found = createCredentialSource({
      auths: {
        a: { registrytoken: 'r', auth: toBase64('u:p') },
        b: { identitytoken: 'i', auth: toBase64('u:p') },
      },
    })
    expect(await found.find('a', 'x')).toEqual({ kind: 'bearer', token: 'r' })
    expect(await found.find('b', 'x')).toEqual({ kind: 'identity', token: 'i' })
  })
  test('an unreadable entry is an error, not anonymous access, and is not quoted', async () => {
    for (const entry of [{ auth: '!!!' }, { auth: toBase64('nocolon') }, { username: 'u' }]) {
      const failure = createCredentialSource({ auths: { 'quay.io': entry } }).find('quay.io', 'a')
      await expect(failure).rejects.toMatchObject({
        code: 'credentials',
        message: expect.stringContaining('quay.io'),
      })
    }
    for (const text of ['{"auths": s3cret', '[]', '{"auths": []}', '{"auths": {"a": 1}}'])
      expect(() => parseDockerConfig(text, 'config.json')).toThrow(/^config\.json(?!.*s3cret)/)
  })
  test('an empty entry, as docker login writes it with a credential store, is ignored', async () => {
    expect(await createCredentialSource({ auths: { 'quay.io': {} } }).find('quay.io', 'a')).toBeUndefined()
  })
})
