// Checks the git version: `merge-tree --write-tree` requires 2.38.
import { GitError } from './git-error.ts'
import { runGit } from './run-git.ts'

const minGitVersion = [2, 38] as const

/** Such as '2.39.5'. Rejects with GitError `unsupported` when git is missing or older than 2.38. */
export async function readGitVersion(): Promise<string> {
  const { stdout } = await runGit({ args: ['version'], timeout: 10_000, limit: 1000 })
  return parseGitVersion(stdout.toString('utf8'))
}

/** Parses the output of `git version`. Throws GitError `unsupported` when it is too old or unreadable. */
export function parseGitVersion(printed: string): string {
  const match = /^git version (\d+)\.(\d+)(\.\d+)?/.exec(printed)
  if (!match)
    throw new GitError('unsupported', `the Git version cannot be parsed: ${JSON.stringify(printed)}`)
  const [major, minor] = [Number(match[1]), Number(match[2])]
  const version = `${major}.${minor}${match[3] ?? ''}`
  if (major < minGitVersion[0] || (major === minGitVersion[0] && minor < minGitVersion[1]))
    throw new GitError(
      'unsupported',
      `Git ${version} is too old; version ${minGitVersion.join('.')} or later is required`,
    )
  return version
}
