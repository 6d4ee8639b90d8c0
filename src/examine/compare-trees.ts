// The second stage: describes the difference between base and result in catalog terms, and the commits between them.
import type { CarriedCommits, ClosedPull } from '../change/carried-commits.ts'
import type { Texts } from '../change/blob-text.ts'
import type { Change } from '../change/change.ts'
import { describeChange, type CatalogPair } from '../change/describe-change.ts'
import type { BlobSha, TreeSha } from '../change/ids.ts'
import { catalogOf, foldersOf, type Layout } from '../change/layout/layout.ts'
import { withFirstCatalogs } from '../change/layout/first-catalogs.ts'
import { withNewCatalogs } from '../change/layout/recognise-layout.ts'
import { pathsOf } from '../change/patched-list.ts'
import type { PathChange } from '../change/path-change.ts'
import { mayListReferences } from '../change/references/reference-list.ts'
import type { Snapshot } from '../change/snapshot.ts'
import type { ReadTree } from '../ports/repository.ts'
import type { CatalogLoader } from './catalogs/catalog-loader.ts'
import { changedLinks } from './changed-links.ts'
import { findLayout } from './find-layout.ts'
import { closedPulls, mayMeetPulls, pullsMet, type MetPull } from './closed-pulls.ts'
import type { ExamineOptions } from './examine-options.ts'
import { rememberTrees } from './remember-trees.ts'
import { tooMany, TooLarge, usualBudget } from './looks/look-budget.ts'
import type { Standing } from './stand-on-base.ts'

export interface Carried {
  readonly commits: CarriedCommits
  readonly met: readonly MetPull[]
}

export interface Comparison {
  readonly resultTree: TreeSha
  readonly paths: readonly PathChange[]
  readonly resultPaths: readonly string[]
  /** Links at the base whose targets the pull request changes. */
  readonly links: readonly PathChange[]
  /** The layout of the result, which includes what the pull request adds. */
  readonly layout: Layout
  readonly change: Change
  readonly texts: Texts
  readonly look: ReadTree
  readonly carried: Carried
  readonly pulls: readonly ClosedPull[]
}

/** Rejects with a GitError or StoreError, and with TooLarge where the change exceeds the budget. */
export async function compareTrees(
  { snapshot, baseTree, basePaths, baseLayout, entries, config }: Standing,
  resultTree: TreeSha,
  options: ExamineOptions,
): Promise<Comparison> {
  const { repository, loader, memory, budget = usualBudget } = options
  const [paths, resultEntries, carried] = await Promise.all([
    repository.diff(baseTree, resultTree),
    repository.list(resultTree),
    findCarried(snapshot, options),
  ])
  if (paths.length > budget.changedPaths) throw tooMany(paths.length, 'changed paths', budget.changedPaths)
  const resultPaths = pathsOf(resultEntries)
  const layout =
    baseLayout.catalogs.length === 0 && paths.some(mayBeFirst)
      ? withFirstCatalogs(baseLayout, await findLayout(repository, resultEntries, []), basePaths)
      : withNewCatalogs(baseLayout, resultPaths, config.catalogs)
  const trees = new Map([
    [baseTree, entries],
    [resultTree, resultEntries],
  ])
  const links = await changedLinks(rememberTrees(repository, { trees, blobs: new Map() }), {
    base: baseTree,
    entries,
    result: resultTree,
    differing: new Set(paths.map(({ path }) => path)),
  })
  const reading = [...paths, ...links.filter(({ path }) => isReadAsCatalog(path, layout))]
  const blobs = changedBlobs(repository, reading, layout, budget.changedBytes)
  const look = rememberTrees(repository, { trees, blobs })
  const pulls = await closedPulls(carried.met, snapshot, {
    repository,
    look,
    memory,
    blockingLabels: config.merge.blockingLabels,
    baseTree,
    result: resultTree,
  })
  const catalogs = await loadTouched(layout, reading, baseTree, resultTree, look, loader)
  const texts = await changedTexts(reading, blobs)
  const change = describeChange({ paths: reading, layout, catalogs, texts })
  return { resultTree, paths, resultPaths, links, layout, change, texts, look, carried, pulls }
}

function mayBeFirst({ path, before }: PathChange): boolean {
  return before === undefined && /\.(?:ya?ml|json)$/.test(path)
}

async function findCarried(snapshot: Snapshot, { repository, openPulls }: ExamineOptions): Promise<Carried> {
  const commits = await repository.carried(snapshot.base, snapshot.head)
  const open = openPulls !== undefined && mayMeetPulls(commits) ? await openPulls() : []
  return { commits, met: pullsMet(open, commits, snapshot) }
}

async function loadTouched(
  layout: Layout,
  paths: readonly PathChange[],
  baseTree: TreeSha,
  resultTree: TreeSha,
  repository: ReadTree,
  loader: CatalogLoader,
): Promise<readonly CatalogPair[]> {
  const folders = foldersOf(paths.map(({ path }) => path))
  const touched = layout.catalogs.filter(({ root }) => folders.has(root))
  return Promise.all(
    touched.map(async (catalog): Promise<CatalogPair> => {
      const [base, result] = await Promise.all([
        loader.load(repository, baseTree, catalog.root),
        loader.load(repository, resultTree, catalog.root),
      ])
      return { ...catalog, ...(base && { base }), ...(result && { result }) }
    }),
  )
}

/** The bytes of every changed catalog file and list, by blob. Requested together to save round trips to git. */
function changedBlobs(
  repository: Pick<ReadTree, 'read'>,
  paths: readonly PathChange[],
  layout: Layout,
  mostBytes: number,
): ReadonlyMap<BlobSha, Promise<Uint8Array>> {
  let size = 0
  const read = async (oid: BlobSha) => {
    if (size > mostBytes) throw tooMuch(mostBytes)
    const bytes = await repository.read(oid)
    size += bytes.length
    if (size > mostBytes) throw tooMuch(mostBytes)
    return bytes
  }
  const wanted = new Set<BlobSha>()
  for (const { path, before, after } of paths) {
    if (!isReadAsCatalog(path, layout)) continue
    for (const entry of [before, after]) if (entry?.mode.startsWith('100')) wanted.add(entry.oid)
  }
  return new Map(
    [...wanted].map((oid) => {
      const bytes = read(oid)
      // Prevents an unhandled rejection until a reader awaits the bytes.
      bytes.catch(() => undefined)
      return [oid, bytes]
    }),
  )
}

function isReadAsCatalog(path: string, layout: Layout): boolean {
  return catalogOf(path, layout) !== undefined || mayListReferences(path)
}

function tooMuch(mostBytes: number): TooLarge {
  return new TooLarge(`its changed files have more than ${Math.floor(mostBytes / 1024 / 1024)} MB together`)
}

async function changedTexts(
  paths: readonly PathChange[],
  blobs: ReadonlyMap<BlobSha, Promise<Uint8Array>>,
): Promise<Texts> {
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
