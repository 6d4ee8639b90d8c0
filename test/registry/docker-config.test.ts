import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { findCredential } from '../../src/registry/credentials.ts'
import {
  dockerConfigCredentials,
  parseDockerConfig,
  pullSecretCredentials,
  systemCredentials,
} from '../../src/registry/docker-config.ts'

const auth = (text: string) => Buffer.from(text).toString('base64')
const source = (config: unknown, options = {}) =>
  dockerConfigCredentials(parseDockerConfig(JSON.stringify(config), 'config.json'), options)
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
  test('Kubernetes pull secrets, new and old', async () => {
    const auths = { 'quay.io': { username: 'u', password: 'p' } }
    for (const data of [
      { '.dockerconfigjson': auth(JSON.stringify({ auths })) },
      { '.dockercfg': auth(JSON.stringify(auths)) },
    ])
      expect(await pullSecretCredentials(data, 'pull').find('quay.io', 'a')).toEqual(basic('u', 'p'))
    expect(() => pullSecretCredentials({ other: '' }, 'pull')).toThrow('pull is not a pull secret')
  })
})

describe('files of this machine and helpers', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'credentials-'))
    const helper = async (name: string, body: string) => {
      await writeFile(join(folder, `docker-credential-${name}`), `#!/bin/sh\n${body}\n`)
      await chmod(join(folder, `docker-credential-${name}`), 0o755)
    }
    await helper(
      'good',
      `read server; printf '{"ServerURL":"%s","Username":"%s","Secret":"s"}' "$server" "$server"`,
    )
    await helper('token', `printf '{"Username":"<token>","Secret":"refresh"}'`)
    await helper('none', `echo 'credentials not found in native keychain'; exit 1`)
    await helper('broken', `echo s3cret; exit 3`)
    await helper('talker', `yes | head -c 200000`)
    await helper('sleeper', `exec sleep 30`)
    await mkdir(join(folder, '.docker'))
    await mkdir(join(folder, '.config/containers'), { recursive: true })
    await writeFile(
      join(folder, '.docker/config.json'),
      JSON.stringify({ auths: { a: { auth: auth('docker:1') }, b: { auth: auth('docker:1') } } }),
    )
    await writeFile(
      join(folder, '.config/containers/auth.json'),
      JSON.stringify({ auths: { a: { auth: auth('podman:2') } } }),
    )
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('a helper is asked for the host it is named for, the store for the rest', async () => {
    const options = { helperPath: `${folder}:/usr/bin:/bin` }
    const found = source(
      { credHelpers: { 'quay.io': 'good' }, credsStore: 'token', auths: { x: { auth: auth('u:p') } } },
      options,
    )
    expect(await found.find('quay.io', 'a')).toEqual(basic('quay.io', 's'))
    expect(await found.find('other.example', 'a')).toEqual({ kind: 'identity', token: 'refresh' })
    expect(await found.find('x', 'a')).toEqual(basic('u', 'p'))
    expect(await source({ credHelpers: { 'docker.io': 'good' } }, options).find('docker.io', 'a')).toEqual(
      basic('https://index.docker.io/v1/', 's'),
    )
    expect(await source({ credsStore: 'none' }, options).find('q', 'a')).toEqual({ kind: 'anonymous' })
  })
  test('a helper that fails, talks, sleeps, is not there or has a path for a name is our trouble', async () => {
    const options = { helperPath: `${folder}:/usr/bin:/bin`, helperTimeout: 300 }
    for (const name of ['broken', 'talker', 'sleeper', 'absent', '../evil', 'a b', '.hidden', ''])
      await expect(source({ credHelpers: { q: name } }, options).find('q', 'a')).rejects.toMatchObject({
        code: 'credentials',
        message: expect.not.stringContaining('s3cret'),
      })
  })
  test('the environment comes first, podman before docker, and files that are not there are none', async () => {
    const sources = await systemCredentials({
      HOME: folder,
      DOCKER_AUTH_CONFIG: JSON.stringify({ auths: { c: { auth: auth('env:3') } } }),
    })
    expect(await findCredential(sources, 'a', 'x')).toEqual(basic('podman', '2'))
    expect(await findCredential(sources, 'b', 'x')).toEqual(basic('docker', '1'))
    expect(await findCredential(sources, 'c', 'x')).toEqual(basic('env', '3'))
    expect(await findCredential(sources, 'd', 'x')).toEqual({ kind: 'anonymous' })
    expect(await systemCredentials({ HOME: join(folder, 'nothing') })).toEqual([])
  })
})
