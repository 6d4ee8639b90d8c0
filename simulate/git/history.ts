// Commit history as Git reports it: ancestors, merge bases, and first-parent chains.
import type { CommitSha } from '../../src/pull-request/ids.ts'
import type { GitObjects } from './git-objects.ts'

/** The commit and all its ancestors. */
export function findAncestors(objects: GitObjects, commit: CommitSha): ReadonlySet<CommitSha> {
  const visited = new Set<CommitSha>()
  const remaining = [commit]
  for (let next = remaining.pop(); next !== undefined; next = remaining.pop()) {
    if (visited.has(next)) continue
    visited.add(next)
    remaining.push(...objects.commit(next).parents)
  }
  return visited
}

export function hasAncestor(objects: GitObjects, commit: CommitSha, ancestor: CommitSha): boolean {
  return findAncestors(objects, commit).has(ancestor)
}

/** The merge bases, sorted. */
export function findMergeBases(objects: GitObjects, one: CommitSha, other: CommitSha): readonly CommitSha[] {
  const ofOther = findAncestors(objects, other)
  const common = [...findAncestors(objects, one)].filter((commit) => ofOther.has(commit))
  const below = new Set(
    common.flatMap((commit) => [...findAncestors(objects, commit)].filter((each) => each !== commit)),
  )
  return common.filter((commit) => !below.has(commit)).toSorted()
}

/** The first-parent chain from `tip`, newest first, up to but excluding the first commit that `since` contains. */
export function listFirstParentChain(
  objects: GitObjects,
  tip: CommitSha,
  since: CommitSha,
): readonly CommitSha[] {
  const known = findAncestors(objects, since)
  const chain: CommitSha[] = []
  for (
    let at: CommitSha | undefined = tip;
    at !== undefined && !known.has(at);
    [at] = objects.commit(at).parents
  )
    chain.push(at)
  return chain
}

/** Whether a commit is on the first-parent chain of `tip`. */
export function isOnFirstParentChain(objects: GitObjects, tip: CommitSha, commit: CommitSha): boolean {
  for (let at: CommitSha | undefined = tip; at !== undefined; [at] = objects.commit(at).parents)
    if (at === commit) return true
  return false
}
