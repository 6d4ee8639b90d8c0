// The defaults of `check` for omitted options.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import {
  readDefaultAuthorLogin,
  findDefaultBaseBranch,
  requireGitRepository,
} from '../../src/cli/pull-defaults.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

const temporaryDirectory = createSelfRemovingDirectory('defaults')
let repositoryDirectory: string
const originalEnvironment = { ...process.env }
const runGit = (...parameters: string[]) =>
  execFileSync('git', ['-C', repositoryDirectory, ...parameters], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

Object.assign(process.env, {
  HOME: temporaryDirectory,
  XDG_CONFIG_HOME: join(temporaryDirectory, 'config'),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GH_CONFIG_DIR: '',
  GH_HOST: 'github.com',
})
afterAll(() => {
  process.env = originalEnvironment
})
beforeEach(() => {
  repositoryDirectory = mkdtempSync(join(temporaryDirectory, 'repository-'))
  runGit('init', '--quiet', '--initial-branch=work')
  runGit(
    '-c',
    'user.name=a',
    '-c',
    'user.email=a@b.c',
    'commit',
    '--quiet',
    '--allow-empty',
    '--message',
    'x',
  )
})
afterEach(() => rmSync(repositoryDirectory, { recursive: true, force: true }))

/** Creates a remote with these branches, as `git fetch` leaves it. */
function createGitRemote(name: string, branches: readonly string[], head?: string): void {
  runGit('remote', 'add', name, '/nowhere')
  for (const branch of branches) runGit('update-ref', `refs/remotes/${name}/${branch}`, 'HEAD')
  if (head !== undefined) runGit('symbolic-ref', `refs/remotes/${name}/HEAD`, `refs/remotes/${name}/${head}`)
}

describe('the base', () => {
  test('is the default branch of the remote, regardless of its name', async () => {
    createGitRemote('origin', ['main', 'release/v4'], 'release/v4')
    expect(await findDefaultBaseBranch(repositoryDirectory)).toEqual({
      revision: 'refs/remotes/origin/release/v4',
      name: 'release/v4',
    })
  })

  test('is the branch of the upstream remote in a fork', async () => {
    createGitRemote('origin', ['main'], 'main')
    createGitRemote('upstream', ['master'])
    expect(await findDefaultBaseBranch(repositoryDirectory)).toEqual({
      revision: 'refs/remotes/upstream/master',
      name: 'master',
    })
  })

  test('is a local branch if there is no remote', async () => {
    runGit('branch', 'main')
    expect(await findDefaultBaseBranch(repositoryDirectory)).toEqual({
      revision: 'refs/heads/main',
      name: 'main',
    })
  })

  test('must be specified if it cannot be determined', async () => {
    await expect(findDefaultBaseBranch(repositoryDirectory)).rejects.toThrow('specify the base with --base')
    createGitRemote('mine', ['next'])
    await expect(findDefaultBaseBranch(repositoryDirectory)).rejects.toThrow(
      'git remote set-head mine --auto',
    )
  })
})

describe('the author', () => {
  test('is github.user in the git config, else the user of gh', async () => {
    const gh = join(temporaryDirectory, 'config', 'gh')
    expect(await readDefaultAuthorLogin(repositoryDirectory)).toBeUndefined()
    mkdirSync(gh, { recursive: true })
    writeFileSync(join(gh, 'hosts.yml'), 'github.com:\n    user: of-gh\n    git_protocol: ssh\n')
    expect(await readDefaultAuthorLogin(repositoryDirectory)).toBe('of-gh')
    runGit('config', 'github.user', 'of-git')
    expect(await readDefaultAuthorLogin(repositoryDirectory)).toBe('of-git')
  })

  test.each(['[', 'github.com:\n', '- a\n', 'github.com: {user: 7}\n'])(
    'is unknown if the gh configuration contains no user: %j',
    async (text) => {
      const gh = join(temporaryDirectory, 'config', 'gh')
      mkdirSync(gh, { recursive: true })
      writeFileSync(join(gh, 'hosts.yml'), text)
      expect(await readDefaultAuthorLogin(repositoryDirectory)).toBeUndefined()
    },
  )
})

test('a path that is not in a repository is rejected with a message', async () => {
  await expect(requireGitRepository(join(temporaryDirectory, 'nowhere'))).rejects.toThrow('no such directory')
  await expect(requireGitRepository(temporaryDirectory)).rejects.toThrow('is not in a Git repository')
})
