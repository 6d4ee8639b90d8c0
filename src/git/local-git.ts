// Git commands on the mirror alone: no network, whatever they come across.
import { runGit, type GitCall, type GitOutput } from './run-git.ts'

export type LocalGit = (
  args: readonly string[],
  more?: Pick<GitCall, 'input' | 'answers' | 'environment'>,
) => Promise<GitOutput>

export function localGit(options: { directory: string; timeout: number; signal: AbortSignal }): LocalGit {
  // A listing of a million paths has about 150 MB; above twice that something is wrong.
  return (args, more = {}) => runGit({ args, limit: 300 * 1024 * 1024, ...options, ...more })
}
