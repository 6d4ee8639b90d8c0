import { memoizePerObject } from '@catalog-bot/findings/memoize'
import { hasPathInDirectory } from '../incremental-path-list.ts'

const versionNamePattern = /^v?(\d{1,4}(?:[._-]\d{1,4}){1,2})$/

const trailingVersionPattern = /^(.*[^-_.])[-_.]v?(\d{1,4}[._-]\d{1,4})$/

const bundlePathPattern =
  /^(?<root>operators\/(?<directory>[^/]+)\/(?<version>[^/]+))\/(?:manifests|metadata|tests)\/./

/** Bundles as files: `operators/<package>/<version>/{manifests,metadata,tests}`. Recognized by path only. */
export interface BundleDirectory {
  /** `operators/foo/1.2.3`. */
  readonly root: string
  /** The directory of the package, such as `foo`. */
  readonly directory: string
  /** The name of the directory, such as `1.2.3`. */
  readonly version: string
}

export interface RepositoryLayout {
  /** Catalogs are never nested. Ordered by path, then numerically by version. */
  readonly catalogs: readonly CatalogRoot[]
  /** Files that look like catalog templates by their path, sorted. Only for display and hints, never for authority. */
  readonly templates?: readonly string[]
}

export interface CatalogRoot {
  /** The path without a trailing slash. '' is the repository root. */
  readonly root: string
  /** The platform version of the catalog, such as `4.20`. Absent if the layout does not contain it. */
  readonly version?: string
  /** Names in the configuration that differ from `root`, such as links to it. */
  readonly names?: readonly string[]
}

/** A root of '' contains everything. */
export function isPathUnderDirectory(path: string, root: string): boolean {
  return root === '' || (path.length > root.length && path.startsWith(root) && path[root.length] === '/')
}

/** The first of two equal roots wins. */
const indexCatalogsByRoot = memoizePerObject(
  ({ catalogs }: RepositoryLayout): ReadonlyMap<string, CatalogRoot> =>
    new Map(catalogs.toReversed().map((catalog) => [catalog.root, catalog])),
)

/** Includes files such as dot files, which opm reads too. */
export function findContainingCatalog(path: string, layout: RepositoryLayout): CatalogRoot | undefined {
  const roots = indexCatalogsByRoot(layout)
  for (const folder of iterateAncestorDirectories(path)) {
    const found = roots.get(folder)
    if (found) return found
  }
  return undefined
}

/** Every directory above one of the paths, including ''. */
export function collectAncestorDirectories(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const path of paths)
    for (const folder of iterateAncestorDirectories(path)) {
      // The folders above were added with it.
      if (folders.has(folder)) break
      folders.add(folder)
    }
  return folders
}

/** Nearest first, ending with ''. */
export function* iterateAncestorDirectories(path: string): Generator<string> {
  for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1))
    yield path.slice(0, slash)
  yield ''
}

/** Returns undefined for paths that aren't part of a bundle image. */
export function parseBundlePath(path: string): BundleDirectory | undefined {
  const { root, directory, version } = bundlePathPattern.exec(path)?.groups ?? {}
  if (root === undefined || directory === undefined || version === undefined) return undefined
  return { root, directory, version }
}

/** Whether the directory contains manifests. A directory with manifests is a published bundle. */
export function hasBundleManifests(sortedPaths: readonly string[], root: string): boolean {
  return hasPathInDirectory(sortedPaths, `${root}/manifests`)
}

// Detects the first catalogs of a repository in the result, because the base has none. As new catalogs, they require
// the approval of a maintainer.
/**
 * Adds the catalogs of the result to a base without catalogs. Excludes directories in which the base has files, so that
 * a new catalog cannot turn existing files into packages.
 */
export function addCatalogsToEmptyLayout(
  base: RepositoryLayout,
  result: RepositoryLayout,
  basePaths: readonly string[],
): RepositoryLayout {
  if (base.catalogs.length > 0) return base
  const taken = collectAncestorDirectories(basePaths)
  return { ...base, catalogs: result.catalogs.filter(({ root }) => root !== '' && !taken.has(root)) }
}

/** Returns the version as `4.20`, or undefined if the name has no version. */
export function findVersionInName(name: string) {
  const all = versionNamePattern.exec(name)
  if (all?.[1] !== undefined) return { version: toDottedVersion(all[1]), stem: '' }
  const end = trailingVersionPattern.exec(name)
  if (end?.[1] !== undefined && end[2] !== undefined)
    return { version: toDottedVersion(end[2]), stem: end[1] }
  return undefined
}

/** Normalized where possible. */
export function normalizeCatalogVersion(text: string): string {
  const found = findVersionInName(text)
  return found?.stem === '' ? found.version : text
}

/** The last version in the path. */
export function findVersionInPath(root: string): string | undefined {
  for (const name of root.split('/').reverse()) {
    const found = findVersionInName(name)
    if (found) return found.version
  }
  return undefined
}

/** The path without its versions. It is the same for all catalogs of one family. */
export function replaceVersionsInPath(root: string): string {
  return root
    .split('/')
    .map((name) => {
      const found = findVersionInName(name)
      if (!found) return name
      return found.stem === '' ? '<version>' : `${found.stem}-<version>`
    })
    .join('/')
}

/** Compares parts as numbers. Missing versions sort first, and other text sorts last. */
export function compareCatalogVersions(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined)
  const left = parseVersionNumbers(a)
  const right = parseVersionNumbers(b)
  if (left === undefined || right === undefined)
    return Number(left === undefined) - Number(right === undefined) || (a < b ? -1 : a > b ? 1 : 0)
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? -1) - (right[index] ?? -1)
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * Platform versions in directory names: v4.20, 4.20, 4-20, v4-20, coo-product-v4.20, v5.0. They are compared as
 * numbers, never as text: v4.9 sorts before v4.20, and v4.20 sorts before v5.0.
 */
export function compareCatalogs(
  a: { readonly root: string; readonly version?: string | undefined },
  b: { readonly root: string; readonly version?: string | undefined },
): number {
  const [left, right] = [replaceVersionsInPath(a.root), replaceVersionsInPath(b.root)]
  if (left !== right) return left < right ? -1 : 1
  return compareCatalogVersions(a.version, b.version) || (a.root < b.root ? -1 : a.root > b.root ? 1 : 0)
}

function parseVersionNumbers(version: string): number[] | undefined {
  const found = findVersionInName(version)
  return found?.stem === '' ? found.version.split('.').map(Number) : undefined
}

function toDottedVersion(text: string): string {
  return text
    .split(/[._-]/)
    .map((part) => String(Number(part)))
    .join('.')
}
