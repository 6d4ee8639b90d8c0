// Compares a merge's result with the plain three-way rule, path by path: what the head did not change stays as in the
// base, what the base did not change becomes as in the head, and only what both changed and both still have may be merged
// by content. A result that follows the rule has not followed any rename.
import type { TreeSha } from '../../pull-request/ids.ts'
import type { PathChange, TreeEntry } from '../../pull-request/path-change.ts'

export type DiffTrees = (before: TreeSha, after: TreeSha) => Promise<readonly PathChange[]>

export interface MergedTrees {
  /** Trees of the merge bases: several after criss-cross merges. */
  readonly ancestors: readonly TreeSha[]
  readonly base: TreeSha
  readonly head: TreeSha
  readonly result: TreeSha
}

type MergeEntry = TreeEntry | undefined
/** What a path must be in the result: exactly this, or some file merged from both sides, or a conflict. */
type ExpectedMergeResult =
  { readonly kind: 'exactly'; readonly entry: MergeEntry } | { readonly kind: 'merged' | 'conflict' }

/** The paths at which the result differs from the plain merge, sorted. */
export async function findUnexpectedPaths(diff: DiffTrees, merged: MergedTrees): Promise<readonly string[]> {
  // Only differences from the base are listed, so a path that is missing here is the same everywhere.
  const [result, head, ...ancestors] = await Promise.all(
    [merged.result, merged.head, ...merged.ancestors].map(
      async (tree) => new Map((await diff(merged.base, tree)).map((change) => [change.path, change])),
    ),
  )
  if (!result || !head) return []
  const paths = new Set([result, head, ...ancestors].flatMap((changes) => [...changes.keys()]))
  return [...paths]
    .filter((path) => {
      const base = [result, head, ...ancestors].find((changes) => changes.has(path))?.get(path)?.before
      const at = (changes: ReadonlyMap<string, PathChange>) => {
        const change = changes.get(path)
        return change ? change.after : base
      }
      const rules = ancestors.map((ancestor) => computeExpectedMergeResult(at(ancestor), base, at(head)))
      return !matchesExpectedResults(at(result), rules)
    })
    .sort()
}

export function computeExpectedMergeResult(
  ancestor: MergeEntry,
  base: MergeEntry,
  head: MergeEntry,
): ExpectedMergeResult {
  if (isSameEntry(head, ancestor) || isSameEntry(head, base)) return { kind: 'exactly', entry: base }
  if (isSameEntry(base, ancestor)) return { kind: 'exactly', entry: head }
  return base && head ? { kind: 'merged' } : { kind: 'conflict' }
}

/**
 * With one merge base, its rule applies. If several disagree, git first merges them into one, and the result may be
 * from either side or both. Like every result, it is authorized by its content.
 */
function matchesExpectedResults(result: MergeEntry, rules: readonly ExpectedMergeResult[]): boolean {
  const [first, ...others] = rules
  if (!first || others.some((rule) => !isSameExpectedResult(rule, first))) return true
  switch (first.kind) {
    case 'exactly':
      return isSameEntry(result, first.entry)
    case 'merged':
      return result !== undefined
    case 'conflict':
      return false
  }
}

function isSameExpectedResult(a: ExpectedMergeResult, b: ExpectedMergeResult): boolean {
  return a.kind === 'exactly' && b.kind === 'exactly' ? isSameEntry(a.entry, b.entry) : a.kind === b.kind
}

function isSameEntry(a: MergeEntry, b: MergeEntry): boolean {
  return a?.oid === b?.oid && a?.mode === b?.mode
}
