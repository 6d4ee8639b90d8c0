// What commits have in common, as git tells it: ancestors, the best common ones, chains of first parents.
import type { CommitSha } from '../../src/change/ids.ts'
import type { GitObjects } from './git-objects.ts'

/** The commit and all that it contains. */
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

/** The best common ancestors, sorted. */
export function findMergeBases(objects: GitObjects, one: CommitSha, other: CommitSha): readonly CommitSha[] {
  const ofOther = findAncestors(objects, other)
  const common = [...findAncestors(objects, one)].filter((commit) => ofOther.has(commit))
  const below = new Set(
    common.flatMap((commit) => [...findAncestors(objects, commit)].filter((each) => each !== commit)),
  )
  return common.filter((commit) => !below.has(commit)).toSorted()
}

/** The chain of first parents from `tip` down to, and without, what `since` contains: newest first. */
export function listFirstParents(
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

/** Whether a commit lies on the chain of first parents that ends in `tip`. */
export function isOnFirstParentLine(objects: GitObjects, tip: CommitSha, commit: CommitSha): boolean {
  for (let at: CommitSha | undefined = tip; at !== undefined; [at] = objects.commit(at).parents)
    if (at === commit) return true
  return false
}
