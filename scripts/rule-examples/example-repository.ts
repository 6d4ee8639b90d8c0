// The repository of a pull request that is a folder: its trees are the folders in it, and everything merges without
// conflict.
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import {
  blobSha,
  commitSha,
  treeSha,
  type BlobSha,
  type CommitSha,
  type TreeSha,
} from '../../src/change/ids.ts'
import type { PathChange, TreeEntry } from '../../src/change/path-change.ts'
import type { Repository } from '../../src/ports/repository.ts'
import { filesBelow, type CaseSettings } from './cases.ts'
import { carriedBy, head, openPullsOf } from './example-commits.ts'

/** The tip of the base branch. */
export const base = commitSha('b'.repeat(40))

const baseTree = treeSha('1'.repeat(40))
const resultTree = treeSha('2'.repeat(40))

type Listed = { readonly path: string } & TreeEntry

/** The trees of an example as a repository that merges without conflict. */
export function repositoryOf(directory: string, settings: CaseSettings): Repository {
  const blobs = new Map<BlobSha, Uint8Array>()
  const treeIn = (folder: string): readonly Listed[] =>
    filesBelow(join(directory, folder)).map((path) => {
      const file = join(directory, folder, path)
      const isLink = lstatSync(file).isSymbolicLink()
      const bytes = isLink ? new TextEncoder().encode(readlinkSync(file)) : new Uint8Array(readFileSync(file))
      const oid = blobSha(createHash('sha1').update(bytes).digest('hex'))
      blobs.set(oid, bytes)
      const mode = (folder === 'result' && settings.modes?.[path]) || (isLink ? '120000' : '100644')
      return { path, mode, oid }
    })
  const others = treesOfOthers(directory, settings)
  const trees = new Map<TreeSha, readonly Listed[]>([
    [baseTree, treeIn('base')],
    [resultTree, treeIn('result')],
    ...[...others.values()].map(({ tree, folder }) => [tree, treeIn(folder)] as const),
  ])
  const entriesOf = (tree: TreeSha) => trees.get(tree) ?? []
  const mergedTree = (commit: CommitSha): TreeSha => {
    const tree = commit === head ? resultTree : others.get(commit)?.tree
    if (tree === undefined) throw new Error(`${directory} has no folder pulls/ for the head ${commit}`)
    return tree
  }
  const notHere = async (): Promise<never> => {
    throw new Error('an example neither fetches nor lands, and has no history of its base branch')
  }
  return {
    fetch: notHere,
    tip: notHere,
    pullHead: notHere,
    contains: notHere,
    mergeBases: notHere,
    wasTip: notHere,
    firstParents: notHere,
    land: notHere,
    stage: notHere,
    unstage: notHere,
    fetchTestMerge: notHere,
    parentsOf: notHere,
    messageOf: notHere,
    carried: async () => carriedBy(settings),
    merge: async (_base, commit) => ({
      kind: 'clean',
      commit: commitSha('c'.repeat(40)),
      tree: mergedTree(commit),
    }),
    treeOf: async (commit) => (commit === base ? baseTree : mergedTree(commit)),
    diff: async (before, after) => changesBetween(entriesOf(before), entriesOf(after)),
    list: async (tree, prefix = '') =>
      entriesOf(tree).filter(({ path }) => prefix === '' || path.startsWith(`${prefix}/`)),
    entry: async (tree, path) => entriesOf(tree).find((one) => one.path === path),
    read: async (blob) => {
      const bytes = blobs.get(blob)
      if (bytes === undefined) throw new Error(`no blob ${blob}`)
      return bytes
    },
  }
}

/** The trees that other open pull requests would land, by their heads. */
function treesOfOthers(directory: string, settings: CaseSettings) {
  return new Map(
    openPullsOf(settings).flatMap((open) => {
      const folder = `pulls/${open.pull}`
      if (!existsSync(join(directory, folder))) return []
      const tree = treeSha(createHash('sha1').update(folder).digest('hex'))
      return [[open.head, { folder, tree }] as const]
    }),
  )
}

function changesBetween(before: readonly Listed[], after: readonly Listed[]): readonly PathChange[] {
  const entryIn = (side: readonly Listed[], path: string): TreeEntry | undefined => {
    const found = side.find((one) => one.path === path)
    return found && { mode: found.mode, oid: found.oid }
  }
  return [...new Set([...before, ...after].map(({ path }) => path))].sort().flatMap((path) => {
    const old = entryIn(before, path)
    const now = entryIn(after, path)
    if (old?.oid === now?.oid && old?.mode === now?.mode) return []
    return [{ path, ...(old && { before: old }), ...(now && { after: now }) }]
  })
}
