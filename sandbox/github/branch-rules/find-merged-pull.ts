// Finds the pull request that a push merges. GitHub recognizes a manual merge if its parents are exactly the old tip
// of the branch and the head of one pull request.
import { isAncestor, readCommitParents } from '../git/git-store.ts'
import { getBranchName } from './ref-update.ts'
import type { NonDeletingRefUpdate } from './ref-update.ts'
import type { MockPull } from '../github-data.ts'

/** The open pull request that this update merges, by button or by push. Undefined unless there is exactly one. */
export async function findPullMergedByRefUpdate(move: NonDeletingRefUpdate): Promise<MockPull | undefined> {
  const { repo, path, old, now, merge } = move
  if (merge !== undefined) return merge.pull
  if (old === undefined) return undefined
  const mergedPulls: MockPull[] = []
  for (const pull of repo.pulls.values())
    if (
      pull.state === 'open' &&
      !pull.draft &&
      pull.baseRef === getBranchName(move) &&
      (await isAncestor(path, pull.headSha, now)) &&
      !(await isAncestor(path, pull.headSha, old))
    )
      mergedPulls.push(pull)
  const [pull] = mergedPulls
  if (pull === undefined || mergedPulls.length > 1) return undefined
  if (now === pull.headSha) return pull
  const parents = await readCommitParents(path, now)
  const isItsMerge = parents.length === 2 && parents.includes(old) && parents.includes(pull.headSha)
  return isItsMerge ? pull : undefined
}
