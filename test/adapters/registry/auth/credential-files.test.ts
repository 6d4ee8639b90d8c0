// Credentials from helper programs, docker and podman files, and mounted pull secrets.
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import {
  loadMountedPullSecrets,
  loadSystemCredentials,
  createDockerConfigCredentials,
  parseDockerConfig,
} from '../../../../src/adapters/registry/auth/credential-files.ts'
import {
  findCredential,
  createCachedCredentialHelperQuery,
  type CredentialHelperOptions,
} from '../../../../src/adapters/registry/auth/credentials.ts'
import { createSelfRemovingDirectory } from '../../../temporary-directory.ts'

const toBase64 = (text: string) => Buffer.from(text).toString('base64')
const createCredentialSource = (config: unknown, options: CredentialHelperOptions = {}) =>
  createDockerConfigCredentials(
    parseDockerConfig(JSON.stringify(config), 'config.json'),
    createCachedCredentialHelperQuery(options),
  )
const basic = (username: string, password: string) => ({ kind: 'basic', username, password })

describe('local helpers and files', () => {
  const folder = createSelfRemovingDirectory('credentials')
  beforeAll(async () => {
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
    await helper('counting', `printf x >> '${folder}/counted'; printf '{"Username":"u","Secret":"s"}'`)
    await helper('failing', `printf x >> '${folder}/counted'; exit 3`)
    await mkdir(join(folder, '.docker'))
    await mkdir(join(folder, '.config/containers'), { recursive: true })
    await writeFile(
      join(folder, '.docker/config.json'),
      JSON.stringify({ auths: { a: { auth: toBase64('docker:1') }, b: { auth: toBase64('docker:1') } } }),
    )
    await writeFile(
      join(folder, '.config/containers/auth.json'),
      JSON.stringify({ auths: { a: { auth: toBase64('podman:2') } } }),
    )
  })

  test('a helper serves its configured host, and the credential store serves all other hosts', async () => {
    const options = { helperPath: `${folder}:/usr/bin:/bin` }
    const found = createCredentialSource({ credHelpers: { 'quay.io': 'good' }, credsStore: 'token' }, options)
    expect(await found.find('quay.io', 'a')).toEqual(basic('quay.io', 's'))
    expect(await found.find('other.example', 'a')).toEqual({ kind: 'identity', token: 'refresh' })
    expect(
      await createCredentialSource({ credHelpers: { 'docker.io': 'good' } }, options).find('docker.io', 'a'),
    ).toEqual(basic('https://index.docker.io/v1/', 's'))
    const beside = createCredentialSource(
      { credsStore: 'none', auths: { x: { auth: toBase64('u:p') } } },
      options,
    )
    expect(await beside.find('q', 'a')).toBeUndefined()
    expect(await beside.find('x', 'a')).toEqual(basic('u', 'p'))
  })
  test('a helper that fails, floods, hangs, is missing, or has an invalid name is an error', async () => {
    const options = { helperPath: `${folder}:/usr/bin:/bin`, helperTimeout: 300 }
    for (const name of ['broken', 'talker', 'sleeper', 'absent', '../evil', 'a b', '.hidden', ''])
      await expect(
        createCredentialSource({ credHelpers: { q: name } }, options).find('q', 'a'),
      ).rejects.toMatchObject({ code: 'credentials', message: expect.not.stringContaining('s3cret') })
  })
  test('a helper runs once an hour for each host, and once in five seconds while it fails', async () => {
    let now = 0
    const counted = join(folder, 'counted')
    await writeFile(counted, '')
    const runs = async () => (await readFile(counted, 'utf8')).length
    const options = { helperPath: `${folder}:/usr/bin:/bin`, now: () => now }
    const found = createCredentialSource({ credHelpers: { good: 'counting', bad: 'failing' } }, options)
    const [first, second] = await Promise.all([found.find('good', 'a'), found.find('good', 'b')])
    expect([first, second, await runs()]).toEqual([basic('u', 's'), basic('u', 's'), 1])
    now = 3_599_999
    await found.find('good', 'a')
    expect(await runs()).toBe(1)
    now = 3_600_001
    await found.find('good', 'a')
    expect(await runs()).toBe(2)
    for (const [later, count] of [
      [0, 3],
      [4_999, 3],
      [5_001, 4],
    ] as const) {
      now = 3_600_001 + later
      await expect(found.find('bad', 'a')).rejects.toMatchObject({ code: 'credentials' })
      expect(await runs()).toBe(count)
    }
  })
  test('Kubernetes pull secrets in the new and old format are read from one directory', async () => {
    const mounted = join(folder, 'secrets')
    const auths = (user: string) => ({ 'quay.io/org': { username: user, password: 'p' } })
    await mkdir(join(mounted, 'b-new', '..2026'), { recursive: true })
    await mkdir(join(mounted, 'c-old'), { recursive: true })
    // Like the kubelet: the file is a symbolic link through another link to the directory of this version.
    await writeFile(
      join(mounted, 'b-new', '..2026', '.dockerconfigjson'),
      JSON.stringify({ auths: auths('new') }),
    )
    await symlink('..2026', join(mounted, 'b-new', '..data'))
    await symlink('..data/.dockerconfigjson', join(mounted, 'b-new', '.dockerconfigjson'))
    await writeFile(
      join(mounted, 'c-old', '.dockercfg'),
      JSON.stringify({ ...auths('old'), 'r.example': { auth: toBase64('old:p') } }),
    )
    const sources = await loadSystemCredentials({ HOME: join(folder, 'nothing'), PULL_SECRETS: mounted })
    expect(await findCredential(sources, 'quay.io', 'org/a')).toEqual(basic('new', 'p'))
    expect(await findCredential(sources, 'quay.io', 'other/a')).toEqual({ kind: 'anonymous' })
    expect(await findCredential(sources, 'r.example', 'a')).toEqual(basic('old', 'p'))
    const single = await loadMountedPullSecrets(join(mounted, 'c-old'))
    expect(await findCredential(single, 'r.example', 'a')).toEqual(basic('old', 'p'))
  })
  test('a secrets directory that is empty or missing is an error at startup', async () => {
    for (const [directory, reason] of [
      [join(folder, '.config'), /contains no pull secret/],
      [join(folder, 'nowhere'), /cannot read/],
    ] as const)
      await expect(loadSystemCredentials({ PULL_SECRETS: directory })).rejects.toMatchObject({
        code: 'credentials',
        message: expect.stringMatching(reason),
      })
  })
  test('a rotated secret is reloaded, and an unreadable one fails until the next valid version', async () => {
    let now = 0
    const mounted = await mkdtemp(join(folder, 'rotated-'))
    const write = (text: string) => writeFile(join(mounted, '.dockerconfigjson'), text)
    const config = (password: string) => JSON.stringify({ auths: { r: { username: 'AWS', password } } })
    await write(config('first'))
    const sources = await loadMountedPullSecrets(mounted, { now: () => now })
    const find = () => findCredential(sources, 'r', 'a')
    expect(await find()).toEqual(basic('AWS', 'first'))
    await write(config('the second'))
    expect(await find()).toEqual(basic('AWS', 'first'))
    now += 10_000
    expect(await find()).toEqual(basic('AWS', 'the second'))
    await write('{"auths": s3cret')
    now += 10_000
    for (let round = 0; round < 2; round += 1)
      await expect(find()).rejects.toMatchObject({ message: expect.not.stringContaining('s3cret') })
    await write(config('the third one'))
    now += 10_000
    expect(await find()).toEqual(basic('AWS', 'the third one'))
    await rm(join(mounted, '.dockerconfigjson'))
    now += 10_000
    expect(await find()).toEqual(basic('AWS', 'the third one'))
  })
  test('DOCKER_AUTH_CONFIG, podman, and docker files are read, and podman precedes docker', async () => {
    const sources = await loadSystemCredentials({
      HOME: folder,
      DOCKER_AUTH_CONFIG: JSON.stringify({ auths: { c: { auth: toBase64('env:3') } } }),
    })
    expect(await findCredential(sources, 'a', 'x')).toEqual(basic('podman', '2'))
    expect(await findCredential(sources, 'b', 'x')).toEqual(basic('docker', '1'))
    expect(await findCredential(sources, 'c', 'x')).toEqual(basic('env', '3'))
    expect(await findCredential(sources, 'd', 'x')).toEqual({ kind: 'anonymous' })
    expect(await loadSystemCredentials({ HOME: join(folder, 'nothing') })).toEqual([])
  })
})
