// Detects a merge that differs from GitHub's test merge, because GitHub would then dismiss approvals.
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import type { GitRepository } from '../ports/repository.ts'
import type { RejectedMerge } from './merge-options.ts'

/** Rejects if GitHub's merge of the same commits has another tree. Without a test merge, GitHub decides. */
export async function findTestMergeMismatch(
  { pull, base, head, tree }: ValidatedMerge,
  repository: GitRepository,
): Promise<RejectedMerge | undefined> {
  const test = await repository.fetchTestMerge(pull)
  if (test === undefined) return undefined
  const [first, second] = await repository.parentsOf(test)
  // The test merge is for an older base or head.
  if (first !== base || second !== head) return undefined
  if ((await repository.treeOf(test)) === tree) return undefined
  return {
    kind: 'refused',
    scope: 'pull',
    reason:
      "this branch accepts only GitHub's merge of this pull request, but the content of that merge differs from what catalog-bot checked, for example because GitHub follows renamed files; rebase the pull request onto its base branch",
  }
}
