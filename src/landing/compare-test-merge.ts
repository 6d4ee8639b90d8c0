// Where GitHub lets approvals count for a pushed merge only if it is the merge that GitHub would have made, a merge that
// differs is told before it is tried.
import type { Landing } from '../gate/merge-permit.ts'
import type { Repository } from '../ports/repository.ts'
import type { RefusedLanding } from './landing-options.ts'

/** A refusal where GitHub's own merge of the same commits has another tree. GitHub may have none yet: then it decides. */
export async function compareTestMerge(
  { pull, base, head, tree }: Landing,
  repository: Repository,
): Promise<RefusedLanding | undefined> {
  const test = await repository.fetchTestMerge(pull)
  if (test === undefined) return undefined
  const [first, second] = await repository.parentsOf(test)
  // For an older base or head it says nothing about this merge.
  if (first !== base || second !== head) return undefined
  if ((await repository.treeOf(test)) === tree) return undefined
  return {
    kind: 'refused',
    scope: 'pull',
    reason:
      "GitHub would merge this pull request into other files than those that were checked, for example because it follows renamed files, and this branch takes only GitHub's own merge: rebase the pull request onto its base branch",
  }
}
