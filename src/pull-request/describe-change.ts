// Describes the difference of two trees in catalog terms: classified paths, changed packages, and new images. Reads
// only differing files, through the caller's `texts`.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { compareBlobs, toRepositoryPath, type TreeFileReader } from './compare-blobs.ts'
import { compareCatalogs } from './layout/catalog-version.ts'
import type {
  CatalogChange,
  PullRequestChange,
  PackageChange,
  ReferenceListChange,
  TouchedPath,
} from './change.ts'
import { classifyPath } from './layout/classify-path.ts'
import { comparePackage } from './compare-package.ts'
import { compareReferenceLists } from './references/compare-reference-lists.ts'
import { collectAncestorDirectories, type RepositoryLayout } from './layout/layout.ts'
import { findNewListedReferences, findNewImageReferences } from './references/new-references.ts'
import { groupBlobsByPackage } from './package-blobs.ts'
import type { PathChange } from './path-change.ts'

export interface DescribeChangeInput {
  readonly paths: readonly PathChange[]
  readonly layout: RepositoryLayout
  /** Whole catalogs on both sides. Untouched ones are ignored. */
  readonly catalogs: readonly CatalogPair[]
  readonly treeFiles: TreeFileReader
}

export interface CatalogPair {
  readonly root: string
  readonly version?: string
  /** Absent for a new catalog. */
  readonly base?: Catalog
  /** Absent for a removed catalog. */
  readonly result?: Catalog
}

/** Never throws on invalid catalogs. Values that cannot be compared count as different. */
export function describeChange({
  paths,
  layout,
  catalogs,
  treeFiles,
}: DescribeChangeInput): PullRequestChange {
  const lists: ReferenceListChange[] = []
  const touched = [...paths]
    .sort((a, b) => compareStrings(a.path, b.path))
    .map((path): TouchedPath => {
      const role = classifyPath(path.path, layout)
      const list =
        role.kind === 'infrastructure' && role.odd === undefined
          ? compareReferenceLists(path, treeFiles)
          : undefined
      if (list) lists.push(list)
      return { ...path, role: list ? { kind: 'references' } : role }
    })
  const content = new Set(
    paths
      .filter(({ before, after }) => before?.oid !== after?.oid || before?.mode !== after?.mode)
      .map(({ path }) => path),
  )
  const folders = collectAncestorDirectories(paths.map(({ path }) => path))
  const changes = catalogs
    .filter(({ root }) => folders.has(root))
    .sort(compareCatalogs)
    .map((pair) => describeCatalogChange(pair, content, treeFiles))
  return {
    paths: touched,
    catalogs: changes,
    references: [...changes.flatMap(findNewImageReferences), ...lists.flatMap(findNewListedReferences)],
    ...(lists.length > 0 && { lists }),
  }
}

function describeCatalogChange(
  pair: CatalogPair,
  differing: ReadonlySet<string>,
  treeFiles: TreeFileReader,
): CatalogChange {
  const { root, version, base, result } = pair
  const files = findTouchedFiles(pair, differing)
  const names = new Set([...findPackageNames(base, files), ...findPackageNames(result, files)])
  const before = groupBlobsByPackage(base, names)
  const after = groupBlobsByPackage(result, names)
  const comparer = compareBlobs(root, (path) => differing.has(path), treeFiles)
  const packages: PackageChange[] = []
  for (const name of [...names].sort(compareStrings)) {
    const change = comparePackage(root, name, before.get(name), after.get(name), comparer)
    if (change) packages.push(change)
  }
  return {
    root,
    ...(version !== undefined && { version }),
    ...(base && { base }),
    ...(result && { result }),
    packages,
  }
}

/** Files whose content differs, or that only one side reads because an .indexignore changed. */
function findTouchedFiles({ root, base, result }: CatalogPair, differing: ReadonlySet<string>): Set<string> {
  const before = new Set(base?.files.map(({ path }) => path))
  const after = new Set(result?.files.map(({ path }) => path))
  const touched = new Set<string>()
  for (const [files, others] of [
    [before, after],
    [after, before],
  ] as const)
    for (const file of files)
      if (!others.has(file) || differing.has(toRepositoryPath(root, file))) touched.add(file)
  return touched
}

function findPackageNames(catalog: Catalog | undefined, files: ReadonlySet<string>): Set<string> {
  const names = new Set<string>()
  if (!catalog) return names
  for (const blob of catalog.packages) if (files.has(blob.place.file)) names.add(blob.name)
  for (const blobs of [catalog.channels, catalog.bundles, catalog.deprecations, catalog.others])
    for (const blob of blobs) if (files.has(blob.place.file)) names.add(blob.package)
  return names
}

function compareStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
