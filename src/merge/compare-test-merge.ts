// Detects a merge that differs from GitHub's, where GitHub would drop approvals for it.
import type { ValidatedMerge } from '../gate/merge-permit.ts'
import type { GitRepository } from '../ports/repository.ts'
import type { RejectedMerge } from './merge-options.ts'

/** Refuses if GitHub's merge of the same commits has another tree. Without one, GitHub decides. */
export async function compareTestMerge(
  { pull, base, head, tree }: ValidatedMerge,
  repository: GitRepository,
): Promise<RejectedMerge | undefined> {
  const test = await repository.fetchTestMerge(pull)
  if (test === undefined) return undefined
  const [first, second] = await repository.parentsOf(test)
  // It was made for an older base or head.
  if (first !== base || second !== head) return undefined
  if ((await repository.treeOf(test)) === tree) return undefined
  return {
    kind: 'refused',
    scope: 'pull',
    reason:
      "GitHub would merge this pull request into other files than those that were checked, for example because it follows renamed files, and this branch takes only GitHub's own merge: rebase the pull request onto its base branch",
  }
}
