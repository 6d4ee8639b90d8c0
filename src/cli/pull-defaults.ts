// Defaults of `check`, `explain`, and `diff`: the remote's default branch, and gh's login. Without network.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { formatSystemError } from './output.ts'

const execFileAsync = promisify(execFile)

/** Throws a readable error for other paths. */
export async function requireGitRepository(directory: string): Promise<void> {
  if (!existsSync(directory)) throw new Error(`${directory}: no such directory`)
  if (!statSync(directory).isDirectory()) throw new Error(`${directory} is not a directory`)
  if ((await runGit(directory, 'rev-parse', '--git-dir')) === undefined)
    throw new Error(`${directory} is not in a Git repository; add --repo with the path to one`)
}

/**
 * The default branch of `upstream` (the usual name for the origin of a fork), of `origin`, or of the first other remote. Without a
 * remote, the local `main` or `master`.
 */
export async function findDefaultBaseBranch(directory: string) {
  const remotes = ((await runGit(directory, 'remote')) ?? '').split('\n').filter((name) => name !== '')
  const remote = ['upstream', 'origin', remotes[0]].find(
    (name) => name !== undefined && remotes.includes(name),
  )
  if (remote !== undefined) {
    const ref = `refs/remotes/${remote}/`
    const head = await runGit(directory, 'symbolic-ref', '--quiet', `${ref}HEAD`)
    if (head?.startsWith(ref) === true && (await doesCommitExist(directory, head)))
      return { revision: head, name: head.slice(ref.length) }
    for (const name of defaultBranchCandidates)
      if (await doesCommitExist(directory, `${ref}${name}`)) return { revision: `${ref}${name}`, name }
    throw new Error(
      `the default branch of ${escapeNonPrintableCharacters(remote)} is unknown: specify it with --base, or run "git remote set-head ${escapeNonPrintableCharacters(remote)} --auto"`,
    )
  }
  for (const name of defaultBranchCandidates)
    if (await doesCommitExist(directory, `refs/heads/${name}`))
      return { revision: `refs/heads/${name}`, name }
  throw new Error('the repository has no remote and no main or master branch: specify the base with --base')
}

const defaultBranchCandidates = ['main', 'master']

/** The login in the configuration of Git (`github.user`) or gh. Undefined if neither contains one. */
export async function readDefaultAuthorLogin(directory: string): Promise<string | undefined> {
  const login = (await runGit(directory, 'config', '--get', 'github.user')) ?? (await readGhCliLogin())
  return login === '' ? undefined : login
}

/** For the location of the files, see https://cli.github.com/manual/gh_help_environment. */
async function readGhCliLogin(): Promise<string | undefined> {
  const { GH_CONFIG_DIR: own, XDG_CONFIG_HOME: shared, GH_HOST: host = 'github.com' } = process.env
  const file = join(own || join(shared || join(homedir(), '.config'), 'gh'), 'hosts.yml')
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
  const { parse } = await import('yaml')
  try {
    const hosts = parse(text) as Readonly<Record<string, { readonly user?: unknown } | null>> | null
    const user = hosts?.[host]?.user
    return typeof user === 'string' ? user : undefined
  } catch {
    return undefined
  }
}

async function doesCommitExist(directory: string, revision: string): Promise<boolean> {
  return (await runGit(directory, 'rev-parse', '--verify', '--quiet', `${revision}^{commit}`)) !== undefined
}

/** Resolves to the trimmed output, or to undefined if Git fails. Rejects if Git cannot be started. */
export async function runGit(
  directory: string,
  ...parameters: readonly string[]
): Promise<string | undefined> {
  try {
    return (await execFileAsync('git', ['-C', directory, ...parameters])).stdout.trim()
  } catch (error) {
    if (formatSystemError(error) !== undefined) throw error
    return undefined
  }
}
