// The second stage: describes the difference between the base and the result in terms of catalogs, and the commits
// between them.
import {
  type PullSnapshot,
  type IncomingCommits,
  type PullClosedByPush,
  toRepositoryKey,
} from '../pull-request/snapshot.ts'
import type { TreeFileReader } from '../pull-request/compare-blobs.ts'
import type { PullRequestChange, PathChange } from '../pull-request/change.ts'
import { describePullRequestChange, type CatalogComparisonInput } from '../pull-request/describe-change.ts'
import type { BlobSha, TreeSha } from '../pull-request/ids.ts'
import {
  findContainingCatalog,
  collectAncestorDirectories,
  type RepositoryLayout,
  addCatalogsToEmptyLayout,
} from '../pull-request/layout/layout.ts'
import { addNewCatalogsToLayout } from '../pull-request/layout/detect-layout.ts'
import { getTreeEntryPaths } from '../pull-request/incremental-path-list.ts'
import { isPossibleCompositeListPath } from '../pull-request/references/composite-list.ts'
import type { TreeReader, GitRepository } from '../ports/repository.ts'
import type { CatalogLoader } from '../catalogs/catalog-loader.ts'
import { readRepositoryLayout, createCachedTreeReader } from '../catalogs/find-layout.ts'
import {
  createChangeTooLargeError,
  ChangeTooLargeError,
  defaultEvaluationLimits,
} from '../catalogs/reader-pool.ts'
import type { BaseBranchState, EvaluatePullOptions } from './load-base-branch.ts'
import { readPublishedBundles } from '../catalogs/read-bundle-files.ts'
import type { PublishedBundle } from '../checks/check.ts'
import { findChangedSymlinks } from '../catalogs/linked-file.ts'
import { findActivePullHold } from '../policy/command-records.ts'
import { isChangeCoveredByApproval } from '../checks/ownership/approvals.ts'
import type { OpenPullSummary } from '../ports/forge.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'

/** Each one costs a merge. Beyond this, their content counts as lost. */
const maxAutoClosedPullsToTestMerge = 20

interface OpenPullClosedByMerge {
  readonly open: OpenPullSummary
  readonly by: PullClosedByPush['by']
}

interface ClosedPullDetectionContext {
  readonly repository: Pick<GitRepository, 'merge' | 'diff'>
  readonly treeReader: Pick<TreeReader, 'entry'>
  readonly memory: Pick<PullHistoryStore, 'commands' | 'shownHeads' | 'readChanges'>
  readonly blockingLabels: readonly string[]
  readonly baseTree: TreeSha
  readonly result: TreeSha
}

export interface IncomingCommitsAndClosedPulls {
  readonly commits: IncomingCommits
  readonly affected: readonly OpenPullClosedByMerge[]
}

export interface TreeComparison {
  readonly resultTree: TreeSha
  readonly paths: readonly PathChange[]
  readonly resultPaths: readonly string[]
  /** Links at the base whose targets the pull request changes. */
  readonly links: readonly PathChange[]
  /** The layout of the result, which includes what the pull request adds. */
  readonly layout: RepositoryLayout
  readonly change: PullRequestChange
  readonly treeFiles: TreeFileReader
  readonly treeReader: TreeReader
  readonly incoming: IncomingCommitsAndClosedPulls
  readonly pulls: readonly PullClosedByPush[]
  readonly published: readonly PublishedBundle[]
}

/** Rejects with a GitError or StoreError, and with ChangeTooLargeError where the change exceeds the budget. */
export async function compareTrees(
  { snapshot, baseTree, basePaths, baseLayout, entries, config }: BaseBranchState,
  resultTree: TreeSha,
  options: EvaluatePullOptions,
): Promise<TreeComparison> {
  const { repository, loader, memory, budget = defaultEvaluationLimits } = options
  const [paths, resultEntries, incoming] = await Promise.all([
    repository.diff(baseTree, resultTree),
    repository.list(resultTree),
    readIncomingCommitsAndClosedPulls(snapshot, options),
  ])
  if (paths.length > budget.changedPaths)
    throw createChangeTooLargeError(paths.length, 'changed paths', budget.changedPaths)
  const resultPaths = getTreeEntryPaths(resultEntries)
  const layout =
    baseLayout.catalogs.length === 0 && paths.some(isAddedYamlOrJsonFile)
      ? addCatalogsToEmptyLayout(
          baseLayout,
          await readRepositoryLayout(repository, resultEntries, []),
          basePaths,
        )
      : addNewCatalogsToLayout(baseLayout, resultPaths, config.catalogs)
  const trees = new Map([
    [baseTree, entries],
    [resultTree, resultEntries],
  ])
  const links = await findChangedSymlinks(createCachedTreeReader(repository, { trees, blobs: new Map() }), {
    base: baseTree,
    entries,
    result: resultTree,
    differing: new Set(paths.map(({ path }) => path)),
  })
  const reading = [...paths, ...links.filter(({ path }) => isCatalogOrImageListPath(path, layout))]
  const blobs = prefetchChangedCatalogFiles(repository, reading, layout, budget.changedBytes)
  const treeReader = createCachedTreeReader(repository, { trees, blobs })
  const pulls = await resolvePullsClosedByPush(incoming.affected, snapshot, {
    repository,
    treeReader,
    memory,
    blockingLabels: config.merge.blockingLabels,
    baseTree,
    result: resultTree,
  })
  const catalogs = await loadTouchedCatalogs(layout, reading, baseTree, resultTree, treeReader, loader)
  const treeFiles = await createChangedFileReader(reading, blobs)
  const change = describePullRequestChange({ paths: reading, layout, catalogs, treeFiles })
  return {
    resultTree,
    paths,
    resultPaths,
    links,
    layout,
    change,
    treeFiles,
    treeReader,
    incoming,
    pulls,
    published: await readPublishedBundles(change, layout, basePaths, {
      repository: treeReader,
      loader,
      tree: baseTree,
    }),
  }
}

function isAddedYamlOrJsonFile({ path, before }: PathChange): boolean {
  return before === undefined && /\.(?:ya?ml|json)$/.test(path)
}

async function readIncomingCommitsAndClosedPulls(
  snapshot: PullSnapshot,
  { repository, openPulls }: EvaluatePullOptions,
): Promise<IncomingCommitsAndClosedPulls> {
  const commits = await repository.readIncomingCommits(snapshot.base, snapshot.head)
  const open = openPulls !== undefined && canMergeCloseOtherPulls(commits) ? await openPulls() : []
  return { commits, affected: findPullsClosedByMerge(open, commits, snapshot) }
}

async function loadTouchedCatalogs(
  layout: RepositoryLayout,
  paths: readonly PathChange[],
  baseTree: TreeSha,
  resultTree: TreeSha,
  repository: TreeReader,
  loader: CatalogLoader,
): Promise<readonly CatalogComparisonInput[]> {
  const folders = collectAncestorDirectories(paths.map(({ path }) => path))
  const touched = layout.catalogs.filter(({ root }) => folders.has(root))
  return Promise.all(
    touched.map(async (catalog): Promise<CatalogComparisonInput> => {
      const base = await loader.load(repository, baseTree, catalog.root)
      // After the base, so that only the files that differ are read.
      const result = await loader.load(repository, resultTree, catalog.root)
      return { ...catalog, ...(base && { base }), ...(result && { result }) }
    }),
  )
}

/** The bytes of every changed catalog file and list, by blob. Requested together to save round trips to git. */
function prefetchChangedCatalogFiles(
  repository: Pick<TreeReader, 'read'>,
  paths: readonly PathChange[],
  layout: RepositoryLayout,
  maxBytes: number,
): ReadonlyMap<BlobSha, Promise<Uint8Array>> {
  let size = 0
  const read = async (oid: BlobSha) => {
    if (size > maxBytes) throw createChangedFilesTooLargeError(maxBytes)
    const bytes = await repository.read(oid)
    size += bytes.length
    if (size > maxBytes) throw createChangedFilesTooLargeError(maxBytes)
    return bytes
  }
  const blobIds = new Set<BlobSha>()
  for (const { path, before, after } of paths) {
    if (!isCatalogOrImageListPath(path, layout)) continue
    for (const entry of [before, after]) if (entry?.mode.startsWith('100')) blobIds.add(entry.oid)
  }
  return new Map(
    [...blobIds].map((oid) => {
      const bytes = read(oid)
      // Prevents an unhandled rejection until a reader awaits the bytes.
      bytes.catch(() => undefined)
      return [oid, bytes]
    }),
  )
}

function isCatalogOrImageListPath(path: string, layout: RepositoryLayout): boolean {
  return findContainingCatalog(path, layout) !== undefined || isPossibleCompositeListPath(path)
}

function createChangedFilesTooLargeError(maxBytes: number): ChangeTooLargeError {
  return new ChangeTooLargeError(`the changed files total more than ${Math.floor(maxBytes / 1024 / 1024)} MB`)
}

async function createChangedFileReader(
  paths: readonly PathChange[],
  blobs: ReadonlyMap<BlobSha, Promise<Uint8Array>>,
): Promise<TreeFileReader> {
  const read = new Map(await Promise.all([...blobs].map(async ([oid, bytes]) => [oid, await bytes] as const)))
  const sides = {
    base: new Map(paths.map(({ path, before }) => [path, before])),
    result: new Map(paths.map(({ path, after }) => [path, after])),
  }
  return {
    read: (side, path) => {
      const entry = sides[side].get(path)
      return entry?.mode.startsWith('100') === true ? read.get(entry.oid) : undefined
    },
  }
}

/**
 * The other open pull requests that a merge would close, and whether the merge keeps their content. GitHub marks a pull
 * request as merged when its head becomes reachable from its base branch, regardless of its tree. False where no other
 * pull request can be affected: a single commit is the head itself, and closes only pull requests with the same
 * content. With this check, most evaluations don't request the list.
 */
export function canMergeCloseOtherPulls({ commits }: IncomingCommits): boolean {
  return commits.length > 1 || commits.some(({ closes }) => closes === undefined || closes.length > 0)
}

/** The open pull requests that merging `snapshot` would close, by number. */
export function findPullsClosedByMerge(
  open: readonly OpenPullSummary[],
  { commits }: IncomingCommits,
  { repository, pull, baseRef }: Pick<PullSnapshot, 'repository' | 'pull' | 'baseRef'>,
): readonly OpenPullClosedByMerge[] {
  const heads = new Set<string>(commits.map(({ id }) => id))
  const here = toRepositoryKey(repository)
  const named = new Set(
    commits
      .flatMap(({ closes = [] }) => closes)
      .filter(({ repository: where = here }) => where === here)
      .map(({ number }) => number),
  )
  return open
    .filter((other) => other.pull !== pull)
    .flatMap((other): OpenPullClosedByMerge[] => {
      // A pull request for another branch stays open.
      if (other.baseRef === baseRef && heads.has(other.head)) return [{ open: other, by: 'commits' }]
      return named.has(other.pull) ? [{ open: other, by: 'words' }] : []
    })
    .sort((a, b) => a.open.pull - b.open.pull)
}

/** Rejects with a GitError or StoreError. */
async function resolvePullsClosedByPush(
  affected: readonly OpenPullClosedByMerge[],
  snapshot: PullSnapshot,
  ctx: ClosedPullDetectionContext,
): Promise<readonly PullClosedByPush[]> {
  const closed: PullClosedByPush[] = []
  for (const [at, { open, by }] of affected.entries()) {
    const heldBack = await readMergeBlockReason(open, snapshot, ctx)
    closed.push({
      pull: open.pull,
      by,
      isOwn: open.author !== null && open.author === snapshot.author?.id,
      isKept:
        by === 'commits' &&
        at < maxAutoClosedPullsToTestMerge &&
        (await isPullContainedInMergeResult(open, snapshot, ctx)),
      ...(heldBack !== undefined && { heldBack }),
    })
  }
  return closed
}

async function readMergeBlockReason(
  open: OpenPullSummary,
  { repository }: PullSnapshot,
  { memory, blockingLabels }: ClosedPullDetectionContext,
): Promise<string | undefined> {
  if (open.draft) return 'the other pull request is a draft'
  const blocking = new Set(blockingLabels.map((label) => label.toLowerCase()))
  const label = open.labels.find((name) => blocking.has(name.toLowerCase()))
  if (label !== undefined) return `the label "${label}" blocks the other pull request`
  // A removal counts only for the state and the effect for which it was given. The comment shows the current ones.
  const { epoch: shownEpoch, change = '' } = (await memory.shownHeads(repository, open.pull)).at(-1) ?? {}
  const effect = (await memory.readChanges?.(repository, open.pull, [change]))?.get(change)
  const records = (await memory.commands(repository, open.pull)).filter(
    ({ command, head, baseRef, epoch, covers }) =>
      command !== 'unhold' ||
      (head === open.head &&
        baseRef === open.baseRef &&
        epoch === shownEpoch &&
        effect !== undefined &&
        isChangeCoveredByApproval(effect, covers ?? new Map())),
  )
  const holder = findActivePullHold(records, undefined)
  return holder && `${holder.login} put the other pull request on hold with /hold`
}

/** Whether the result has everything that the other pull request changes. */
async function isPullContainedInMergeResult(
  { head }: OpenPullSummary,
  { base }: PullSnapshot,
  { repository, treeReader, baseTree, result }: ClosedPullDetectionContext,
): Promise<boolean> {
  // The fetched head includes its commits.
  const merged = await repository.merge(base, head, `Merge ${head}\n`)
  if (merged.kind !== 'clean') return false
  for (const { path, after } of await repository.diff(baseTree, merged.tree)) {
    const entry = await treeReader.entry(result, path)
    if (entry?.oid !== after?.oid || entry?.mode !== after?.mode) return false
  }
  return true
}
