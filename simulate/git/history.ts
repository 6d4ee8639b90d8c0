// What commits have in common, as git tells it: ancestors, the best common ones, chains of first parents.
import type { CommitSha } from '../../src/change/ids.ts'
import type { Objects } from './objects.ts'

/** The commit and all that it contains. */
export function ancestors(objects: Objects, commit: CommitSha): ReadonlySet<CommitSha> {
  const seen = new Set<CommitSha>()
  const left = [commit]
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    left.push(...objects.commit(next).parents)
  }
  return seen
}

export function contains(objects: Objects, commit: CommitSha, ancestor: CommitSha): boolean {
  return ancestors(objects, commit).has(ancestor)
}

/** The best common ancestors, sorted. */
export function mergeBases(objects: Objects, one: CommitSha, other: CommitSha): readonly CommitSha[] {
  const ofOther = ancestors(objects, other)
  const common = [...ancestors(objects, one)].filter((commit) => ofOther.has(commit))
  const below = new Set(
    common.flatMap((commit) => [...ancestors(objects, commit)].filter((each) => each !== commit)),
  )
  return common.filter((commit) => !below.has(commit)).toSorted()
}

/** The chain of first parents from `tip` down to, and without, what `since` contains: newest first. */
export function firstParents(objects: Objects, tip: CommitSha, since: CommitSha): readonly CommitSha[] {
  const known = ancestors(objects, since)
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
export function wasTip(objects: Objects, tip: CommitSha, commit: CommitSha): boolean {
  for (let at: CommitSha | undefined = tip; at !== undefined; [at] = objects.commit(at).parents)
    if (at === commit) return true
  return false
}
