// The repository of a pull request from a folder: its trees are the subfolders, and every merge is clean.
import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import {
  toBlobSha,
  toCommitSha,
  toTreeSha,
  type BlobSha,
  type CommitSha,
  type TreeSha,
} from '../../src/pull-request/ids.ts'
import type { PathChange, TreeEntry } from '../../src/pull-request/change.ts'
import type { GitRepository } from '../../src/ports/repository.ts'
import { listFilesRecursively, type ExampleCaseSettings } from './cases.ts'
import { createPullRequestCommits, exampleHeadSha, createOpenPullSummaries } from './example-commits.ts'

/** The tip of the base branch. */
export const exampleBaseSha = toCommitSha('b'.repeat(40))

const exampleBaseTreeSha = toTreeSha('1'.repeat(40))
const exampleMergeResultTreeSha = toTreeSha('2'.repeat(40))

type TreeEntryWithPath = { readonly path: string } & TreeEntry

/** The trees of an example as a repository in which every merge is clean. */
export function createExampleRepository(directory: string, settings: ExampleCaseSettings): GitRepository {
  const blobs = new Map<BlobSha, Uint8Array>()
  const readTree = (folder: string): readonly TreeEntryWithPath[] =>
    listFilesRecursively(join(directory, folder)).map((path) => {
      const file = join(directory, folder, path)
      const isLink = lstatSync(file).isSymbolicLink()
      const bytes = isLink ? new TextEncoder().encode(readlinkSync(file)) : new Uint8Array(readFileSync(file))
      const oid = toBlobSha(createHash('sha1').update(bytes).digest('hex'))
      blobs.set(oid, bytes)
      const mode = (folder === 'result' && settings.modes?.[path]) || (isLink ? '120000' : '100644')
      return { path, mode, oid }
    })
  const others = readOpenPullRequestTrees(directory, settings)
  const trees = new Map<TreeSha, readonly TreeEntryWithPath[]>([
    [exampleBaseTreeSha, readTree('base')],
    [exampleMergeResultTreeSha, readTree('result')],
    ...[...others.values()].map(({ tree, folder }) => [tree, readTree(folder)] as const),
  ])
  const getEntries = (tree: TreeSha) => trees.get(tree) ?? []
  const mergedTree = (commit: CommitSha): TreeSha => {
    const tree = commit === exampleHeadSha ? exampleMergeResultTreeSha : others.get(commit)?.tree
    if (tree === undefined) throw new Error(`${directory} has no folder pulls/ for the head ${commit}`)
    return tree
  }
  const unsupported = async (): Promise<never> => {
    throw new Error('an example does not fetch or merge, and has no base branch history')
  }
  return {
    fetch: unsupported,
    tip: unsupported,
    pullHead: unsupported,
    contains: unsupported,
    mergeBases: unsupported,
    wasTip: unsupported,
    firstParents: unsupported,
    pushMerge: unsupported,
    createStagingBranch: unsupported,
    deleteStagingBranch: unsupported,
    fetchTestMerge: unsupported,
    parentsOf: unsupported,
    messageOf: unsupported,
    readIncomingCommits: async () => createPullRequestCommits(settings),
    merge: async (_base, commit) => ({
      kind: 'clean',
      commit: toCommitSha('c'.repeat(40)),
      tree: mergedTree(commit),
    }),
    treeOf: async (commit) => (commit === exampleBaseSha ? exampleBaseTreeSha : mergedTree(commit)),
    diff: async (before, after) => computePathChanges(getEntries(before), getEntries(after)),
    list: async (tree, prefix = '') =>
      getEntries(tree).filter(({ path }) => prefix === '' || path.startsWith(`${prefix}/`)),
    entry: async (tree, path) => getEntries(tree).find((one) => one.path === path),
    read: async (blob) => {
      const bytes = blobs.get(blob)
      if (bytes === undefined) throw new Error(`no blob ${blob}`)
      return bytes
    },
  }
}

/** The trees that other open pull requests would merge, by their heads. */
function readOpenPullRequestTrees(directory: string, settings: ExampleCaseSettings) {
  return new Map(
    createOpenPullSummaries(settings).flatMap((open) => {
      const folder = `pulls/${open.pull}`
      if (!existsSync(join(directory, folder))) return []
      const tree = toTreeSha(createHash('sha1').update(folder).digest('hex'))
      return [[open.head, { folder, tree }] as const]
    }),
  )
}

function computePathChanges(
  before: readonly TreeEntryWithPath[],
  after: readonly TreeEntryWithPath[],
): readonly PathChange[] {
  const entryIn = (side: readonly TreeEntryWithPath[], path: string): TreeEntry | undefined => {
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
