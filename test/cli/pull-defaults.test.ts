// What `check` takes for granted where nobody says it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { defaultAuthor, defaultBase, mustBeRepository } from '../../src/cli/pull-defaults.ts'

let above: string
let repository: string
const before = { ...process.env }
const git = (...parameters: string[]) =>
  execFileSync('git', ['-C', repository, ...parameters], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

beforeAll(() => {
  above = mkdtempSync(join(tmpdir(), 'defaults-'))
  Object.assign(process.env, {
    HOME: above,
    XDG_CONFIG_HOME: join(above, 'config'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GH_CONFIG_DIR: '',
    GH_HOST: 'github.com',
  })
})
afterAll(() => {
  process.env = before
  rmSync(above, { recursive: true, force: true })
})
beforeEach(() => {
  repository = mkdtempSync(join(above, 'repository-'))
  git('init', '--quiet', '--initial-branch=work')
  git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'commit', '--quiet', '--allow-empty', '--message', 'x')
})
afterEach(() => rmSync(repository, { recursive: true, force: true }))

/** As a fetch leaves it. */
function remote(name: string, branches: readonly string[], head?: string): void {
  git('remote', 'add', name, '/nowhere')
  for (const branch of branches) git('update-ref', `refs/remotes/${name}/${branch}`, 'HEAD')
  if (head !== undefined) git('symbolic-ref', `refs/remotes/${name}/HEAD`, `refs/remotes/${name}/${head}`)
}

describe('the base', () => {
  test('is the default branch of the remote, whatever it is called', async () => {
    remote('origin', ['main', 'release/v4'], 'release/v4')
    expect(await defaultBase(repository)).toEqual({
      revision: 'refs/remotes/origin/release/v4',
      name: 'release/v4',
    })
  })

  test('is that of what a fork comes from', async () => {
    remote('origin', ['main'], 'main')
    remote('upstream', ['master'])
    expect(await defaultBase(repository)).toEqual({
      revision: 'refs/remotes/upstream/master',
      name: 'master',
    })
  })

  test('is a local branch where there is no remote', async () => {
    git('branch', 'main')
    expect(await defaultBase(repository)).toEqual({ revision: 'refs/heads/main', name: 'main' })
  })

  test('is asked for where nobody can know it', async () => {
    await expect(defaultBase(repository)).rejects.toThrow('name the base with --base')
    remote('mine', ['next'])
    await expect(defaultBase(repository)).rejects.toThrow('git remote set-head mine --auto')
  })
})

describe('the author', () => {
  test('is whom git names, else gh', async () => {
    const gh = join(above, 'config', 'gh')
    await expect(defaultAuthor(repository)).rejects.toThrow('--author LOGIN')
    mkdirSync(gh, { recursive: true })
    writeFileSync(join(gh, 'hosts.yml'), 'github.com:\n    user: of-gh\n    git_protocol: ssh\n')
    expect(await defaultAuthor(repository)).toBe('of-gh')
    git('config', 'github.user', 'of-git')
    expect(await defaultAuthor(repository)).toBe('of-git')
  })

  test.each(['[', 'github.com:\n', '- a\n', 'github.com: {user: 7}\n'])(
    'is nobody by a file of gh that says nobody: %j',
    async (text) => {
      const gh = join(above, 'config', 'gh')
      mkdirSync(gh, { recursive: true })
      writeFileSync(join(gh, 'hosts.yml'), text)
      await expect(defaultAuthor(repository)).rejects.toThrow('--author LOGIN')
    },
  )
})

test('a place that is no repository is told of in a sentence', async () => {
  await expect(mustBeRepository(join(above, 'nowhere'))).rejects.toThrow('there is no such directory')
  await expect(mustBeRepository(above)).rejects.toThrow('is not in a git repository')
})
