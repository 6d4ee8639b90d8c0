// User pushes to the second GitHub: real pushes over HTTP, with the user's token, in UTC, in which emulate writes commits.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createUserToken, type SecondGitHubServer } from './second-github.ts'
import { writeFiles } from '../../write-files.ts'

const execFileAsync = promisify(execFile)

export interface PushFilesOptions {
  readonly repository: string
  readonly login: string
  readonly branch: string
  /** The branch that it starts from; absent for an empty history. */
  readonly from?: string
  readonly files: Readonly<Record<string, string>>
}

/** Resolves with the pushed commit. Rejects with git's message if the push was rejected. */
export async function pushFiles(github: SecondGitHubServer, wanted: PushFilesOptions): Promise<string> {
  const { repository, login, branch, from, files } = wanted
  const directory = await mkdtemp(join(tmpdir(), 'push-'))
  const git = async (...args: string[]): Promise<string> => {
    const environment = {
      PATH: process.env['PATH'],
      TZ: 'UTC',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
    }
    const person = ['-c', `user.name=${login}`, '-c', `user.email=${login}@example.com`]
    return (
      await execFileAsync('git', ['-C', directory, ...person, ...args], { env: environment })
    ).stdout.trim()
  }
  try {
    await git('init', '--quiet', '--initial-branch=work')
    if (from !== undefined) {
      await git('fetch', '--quiet', join(github.git.root, `${repository}.git`), from)
      await git('reset', '--quiet', '--hard', 'FETCH_HEAD')
    }
    writeFiles(directory, files)
    await git('add', '--all')
    await git('commit', '--quiet', '--message', `Change ${branch}`)
    const address = new URL(`${github.url}/${repository}.git`)
    address.username = 'x-access-token'
    address.password = createUserToken(login)
    await git('push', '--quiet', '--force', address.href, `HEAD:refs/heads/${branch}`)
    return await git('rev-parse', 'HEAD')
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
}
