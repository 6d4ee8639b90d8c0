// Merges two commits as Git does with rename detection off. Each file has one line, so two different changes to a
// file always conflict, and a file never merges partially.
import type { CommitSha, TreeSha } from '../../src/pull-request/ids.ts'
import type { TreeEntry } from '../../src/pull-request/change.ts'
import { findMergeBases } from './history.ts'
import type { FileTree, GitObjects } from './git-objects.ts'

export type TreeMergeResult =
  | { readonly kind: 'clean'; readonly tree: TreeSha }
  | {
      readonly kind: 'conflict'
      readonly paths: readonly string[]
      readonly reason: 'content' | 'unrelated-histories'
    }
  | { readonly kind: 'nothing' }

/** Thrown when a run reaches behavior that is not modeled. Such a run proves nothing. */
export class UnmodeledBehaviorError extends Error {}

export function mergeTrees(objects: GitObjects, base: CommitSha, head: CommitSha): TreeMergeResult {
  const bases = findMergeBases(objects, base, head)
  if (bases.includes(head)) return { kind: 'nothing' }
  const [mergeBase, ...others] = bases
  if (mergeBase === undefined) return { kind: 'conflict', paths: [], reason: 'unrelated-histories' }
  if (others.length > 0) throw new UnmodeledBehaviorError('criss-cross merges are not modelled')
  const [ancestor, ours, theirs] = [mergeBase, base, head].map((commit) =>
    objects.tree(objects.commit(commit).tree),
  )
  if (ancestor === undefined || ours === undefined || theirs === undefined)
    throw new Error('a tree is missing')
  const merged = new Map(ours)
  const conflicts: string[] = []
  for (const path of new Set([...ancestor.keys(), ...theirs.keys()])) {
    const [was, here, there] = [ancestor.get(path), ours.get(path), theirs.get(path)]
    if (areTreeEntriesEqual(there, was) || areTreeEntriesEqual(there, here)) continue
    if (!areTreeEntriesEqual(here, was)) conflicts.push(path)
    else if (there === undefined) merged.delete(path)
    else merged.set(path, there)
  }
  conflicts.push(...findFileDirectoryConflicts(merged))
  if (conflicts.length > 0) return { kind: 'conflict', paths: conflicts.toSorted(), reason: 'content' }
  return { kind: 'clean', tree: objects.addTree(merged) }
}

export function areTreeEntriesEqual(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode
}

/** Paths that are both a file and a directory. */
function findFileDirectoryConflicts(files: FileTree): readonly string[] {
  const folders = new Set(
    [...files.keys()].flatMap((path) => {
      const parts = path.split('/')
      return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join('/'))
    }),
  )
  return [...files.keys()].filter((path) => folders.has(path))
}
