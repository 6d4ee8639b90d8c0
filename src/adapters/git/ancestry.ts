// Common ancestors and first parents. Reads only commits.
import { toCommitSha, type CommitSha } from '../../pull-request/ids.ts'
import type { LocalGit } from './local-git.ts'

/** The best common ancestors, sorted: none for unrelated commits, several after criss-cross merges. */
export async function findMergeBases(
  git: LocalGit,
  one: CommitSha,
  other: CommitSha,
): Promise<readonly CommitSha[]> {
  const { stdout } = await git(['merge-base', '--all', one, other], { answers: [0, 1] })
  return stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .toSorted()
    .map(toCommitSha)
}

/** Whether a commit is on the first-parent chain of `tip`. Commits that a merge brought in were never the tip. */
export async function isOnFirstParentChain(
  git: LocalGit,
  tip: CommitSha,
  commit: CommitSha,
): Promise<boolean> {
  if (tip === commit) return true
  const range = ['--first-parent', '--parents', tip, `^${commit}`]
  const { stdout } = await git(['rev-list', ...range])
  const [, parent] = stdout.toString('latin1').trimEnd().split('\n').at(-1)?.split(' ') ?? []
  return parent === commit
}

/** See GitRepository.firstParents. */
export async function listFirstParentChain(
  git: LocalGit,
  tip: CommitSha,
  since: CommitSha,
): Promise<readonly CommitSha[]> {
  const { stdout } = await git(['rev-list', '--first-parent', '--max-count=1000', tip, `^${since}`])
  return stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '')
    .map(toCommitSha)
}
