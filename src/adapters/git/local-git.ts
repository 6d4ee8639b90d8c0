// Git commands on the mirror without network access.
import { runGit, type GitCommandOptions, type GitOutput } from './run-git.ts'

export type LocalGit = (
  args: readonly string[],
  more?: Partial<Pick<GitCommandOptions, 'input' | 'answers' | 'environment' | 'records' | 'limit'>>,
) => Promise<GitOutput>

export function createLocalGit(options: {
  directory: string
  timeout: number
  signal: AbortSignal
  staysInGroup?: boolean | undefined
}): LocalGit {
  // A listing of a million paths has about 150 MB; this is twice that.
  return (args, more = {}) => runGit({ args, limit: 300 * 1024 * 1024, ...options, ...more })
}
