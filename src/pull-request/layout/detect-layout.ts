// Finds the catalogs of a repository from the paths of its tree. Detects the fourteen families of layouts in public
// repositories in a fixed order. Does not read files, but requests their text through `peek`. The configuration
// overrides detection and is not verified.
import type { Config } from '../../config/config.ts'
import { memoizeOnce, memoizePerObject } from '@catalog-bot/findings/memoize'
import { createPathListFilter } from '../incremental-path-list.ts'
import {
  isPathUnderDirectory,
  type CatalogRoot,
  type RepositoryLayout,
  compareCatalogs,
  replaceVersionsInPath,
  normalizeCatalogVersion,
  findVersionInName,
  findVersionInPath,
} from './layout.ts'
import { findPathProblem } from './classify-path.ts'
import { isTemplatePath } from './template-pairs.ts'

/** The text of a file in the same tree, or its first 16 KB or more. Undefined if the text is unknown. */
export type FileTextPrefixReader = (path: string) => string | undefined

/** Files to read per candidate before it does not count as a catalog, and in total in the fallback search. */
const maxFileReadsPerCatalogCandidate = 20
const maxFileReadsInFallbackSearch = 2000

/** Parent directories of `catalog/` that are known to contain published catalogs. `peek` must confirm others. */
const catalogParentDirectoryNames = new Set(['fbc', 'release'])
/** Directories whose files are samples or third-party code. */
const ignoredDirectoryNames = new Set([
  'vendor',
  'node_modules',
  'test',
  'tests',
  'testdata',
  'fixtures',
  'examples',
  'hack',
])
const fbcBlobTypeDirectoryNames = new Set(['bundles', 'channels', 'packages', 'deprecations'])

/**
 * Detects the catalogs in `paths` (every path of one tree). Pass the paths of the base tip. With the paths of a pull
 * request, its author could choose who owns which files.
 * New catalogs beside existing ones come from `addNewCatalogsToLayout`.
 */
export function detectLayout(
  paths: readonly string[],
  configured: Config['catalogs'],
  peek?: FileTextPrefixReader,
): RepositoryLayout {
  const templates = filterTemplatePaths(paths)
  if (configured.length > 0)
    return {
      catalogs: configured.map(parseConfiguredCatalogRoot).sort(compareCatalogs),
      templates: templates.toSorted(),
    }
  if (peek === undefined)
    return computeLayoutFromPaths(filterFbcFilePaths(paths))(filterDockerfilePaths(paths))(
      filterIndexIgnorePaths(paths),
    )(templates)
  const catalogs = detectCatalogRoots(
    filterFbcFilePaths(paths),
    filterDockerfilePaths(paths),
    filterIndexIgnorePaths(paths),
    peek,
  )
  return { catalogs, templates: templates.toSorted() }
}

/** The paths that affect detection. Most changes do not affect any of these, so the layout remains the same object. */
const filterTemplatePaths = createPathListFilter(isTemplatePath)
const filterFbcFilePaths = createPathListFilter(isPossibleFbcFile)
const filterDockerfilePaths = createPathListFilter(isDockerfile)
const filterIndexIgnorePaths = createPathListFilter<string>((path) => /(?:^|\/)\.indexignore$/.test(path))

const computeLayoutFromPaths = memoizePerObject((files: readonly string[]) =>
  memoizePerObject((recipes: readonly string[]) =>
    memoizePerObject((ignores: readonly string[]) => {
      const catalogs = memoizeOnce(() => detectCatalogRoots(files, recipes, ignores, undefined))
      return memoizePerObject((templates: readonly string[]): RepositoryLayout => ({
        catalogs: catalogs(),
        templates: templates.toSorted(),
      }))
    }),
  ),
)

function detectCatalogRoots(
  paths: readonly string[],
  recipes: readonly string[],
  ignores: readonly string[],
  peek: FileTextPrefixReader | undefined,
): readonly CatalogRoot[] {
  const files = paths.map((path) => ({ path, names: path.split('/') }))
  const roots: string[] = []
  const take = (found: Iterable<string>, confirm = true) => {
    for (const root of [...new Set(found)].sort())
      if (!roots.some((other) => doPathsOverlap(root, other)))
        if (!confirm || hasFbcBlobsInDirectory(root, files, peek)) roots.push(root)
  }
  take(findRootsInCatalogsDirectory(files))
  take(
    findCatalogRootsUnderVersions(
      files.filter(({ names }) => isVersionName(names[0]) || catalogParentDirectoryNames.has(names[0] ?? '')),
    ),
  )
  take(findVersionRootsUnderCatalog(files))
  take(findCatalogRootsByProductName(files))
  take(findCatalogPrefixedDirectories(files))
  take(findSingleCatalogRoot(files))
  if (roots.length === 0) take(findNestedCatalogRoots(files, peek !== undefined))
  if (roots.length === 0 && peek) take(findCatalogRootsByPackageBlobs(files, ignores, peek), false)
  return moveRootsToDockerfileSubdirectory(roots, files, recipes, ignores)
    .map((root) => toCatalogRoot(root, findVersionInPath(root)))
    .sort(compareCatalogs)
}

/**
 * L5 variant: `catalog/v4.16/Dockerfile` next to `catalog/v4.16/<directory>`. opm reads every file in a catalog and
 * rejects a Dockerfile, so the image can only contain the directory. Therefore, the directory is the catalog.
 */
function moveRootsToDockerfileSubdirectory(
  roots: readonly string[],
  files: readonly PathWithSegments[],
  recipes: readonly string[],
  ignores: readonly string[],
): string[] {
  const inRoots = new Set(recipes.map(getParentDirectory))
  return roots.map((root) => {
    if (!inRoots.has(root) || ignores.includes(`${root}/.indexignore`)) return root
    const inside = files.filter(({ path }) => isPathUnderDirectory(path, root))
    const [only = root, ...more] = new Set(
      inside.map(({ names }) => names.slice(0, root.split('/').length + 1).join('/')),
    )
    const isDirectory = inside.every(({ path }) => path !== only)
    return more.length === 0 && isDirectory ? only : root
  })
}

function doPathsOverlap(a: string, b: string): boolean {
  return a === b || isPathUnderDirectory(a, b) || isPathUnderDirectory(b, a)
}

function isDockerfile(path: string): boolean {
  return /(?:^|\/)(?:[^/]*[.-])?(?:docker|container)file(?:[.-][^/]*)?$/i.test(path)
}

function getParentDirectory(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
}

/**
 * Adds catalogs that exist only in the result to the layout of the base. Adds only catalogs that differ from an
 * existing catalog just by version (`catalogs/v4.23` next to `catalogs/v4.22`). Everything else that looks like a
 * catalog keeps its role from the base, so maintainers must approve it. Never extends a configured layout.
 */
export function addNewCatalogsToLayout(
  base: RepositoryLayout,
  resultPaths: readonly string[],
  configured: Config['catalogs'],
): RepositoryLayout {
  if (configured.length > 0) return base
  const shapes = new Set(
    base.catalogs.map(({ root }) => replaceVersionsInPath(root)).filter((shape) => shape.includes('<')),
  )
  if (shapes.size === 0) return base
  const known = base.catalogs.map(({ root }) => root)
  const found = detectLayout(resultPaths, []).catalogs.filter(
    ({ root }) =>
      shapes.has(replaceVersionsInPath(root)) && !known.some((other) => doPathsOverlap(root, other)),
  )
  if (found.length === 0) return base
  return { ...base, catalogs: [...base.catalogs, ...found].sort(compareCatalogs) }
}

interface PathWithSegments {
  readonly path: string
  readonly names: readonly string[]
}

function parseConfiguredCatalogRoot({ path, version }: Config['catalogs'][number]): CatalogRoot {
  const root = path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')
  const normal = root === '.' ? '' : root
  return toCatalogRoot(
    normal,
    version === undefined ? findVersionInPath(normal) : normalizeCatalogVersion(version),
  )
}

function toCatalogRoot(root: string, version: string | undefined): CatalogRoot {
  return version === undefined ? { root } : { root, version }
}

function isPossibleFbcFile(path: string): boolean {
  return (
    /\.(?:ya?ml|json)$/.test(path) &&
    !/(?:^|\/)\./.test(path) &&
    !path.startsWith('operators/') &&
    !isTemplatePath(path) &&
    findPathProblem(path) === undefined
  )
}

/** L1, L2: `catalogs/<version>/<directory>/file`, or `catalogs/<directory>/file` if there is only one catalog. */
function findRootsInCatalogsDirectory(files: readonly PathWithSegments[]): string[] {
  const inside = files.filter(({ names }) => names[0] === 'catalogs' && names.length >= 2)
  const versioned = inside.filter(({ names }) => names.length >= 3 && isVersionName(names[1]))
  const named = inside.filter(
    ({ names }) =>
      names.length >= 4 && !isVersionName(names[1]) && !fbcBlobTypeDirectoryNames.has(names[2] ?? ''),
  )
  const below = [...versioned, ...named].map(({ names }) => `catalogs/${names[1] ?? ''}`)
  if (versioned.length > 0) return below
  return inside.length > named.length ? ['catalogs'] : below
}

/** L3, L4: `<version>/catalog/...`, also below a directory such as `fbc/`. */
function findCatalogRootsUnderVersions(files: readonly PathWithSegments[]): string[] {
  const found: string[] = []
  for (const { names } of files)
    for (const at of [0, 1])
      if (names.length > at + 2 && names[at + 1] === 'catalog' && isVersionName(names[at]))
        found.push(names.slice(0, at + 2).join('/'))
  return found
}

/** L5: `catalog/<version>/...`. */
function findVersionRootsUnderCatalog(files: readonly PathWithSegments[]): string[] {
  return files
    .filter(({ names }) => names[0] === 'catalog' && names.length >= 3 && isVersionName(names[1]))
    .map(({ names }) => names.slice(0, 2).join('/'))
}

/**
 * L6: `catalog/<product>-<version>/file` and `catalog/<product>/file`, one catalog each. All directories must share the
 * product, so a single package directory whose name ends in numbers does not match.
 */
function findCatalogRootsByProductName(files: readonly PathWithSegments[]): string[] {
  const inside = files.filter(({ names }) => names[0] === 'catalog')
  if (inside.some(({ names }) => names.length === 2)) return []
  const children = new Set(inside.map(({ names }) => names[1] ?? ''))
  const products = new Set([...children].map((name) => findVersionInName(name)?.stem || name))
  const hasVersion = [...children].some((name) => (findVersionInName(name)?.stem ?? '') !== '')
  return hasVersion && products.size === 1 ? [...children].map((name) => `catalog/${name}`) : []
}

/** L7, L8 and the second tree of L5: `catalog-<something>/...`, or a version below it. */
function findCatalogPrefixedDirectories(files: readonly PathWithSegments[]): string[] {
  return files
    .filter(
      ({ names }) =>
        names.length >= 2 &&
        /^catalog-/.test(names[0] ?? '') &&
        !/^catalog-(?:templates?|build|config|scripts?|tests?|docs?)$/.test(names[0] ?? ''),
    )
    .map(({ names }) =>
      names.length >= 3 && isVersionName(names[1]) ? names.slice(0, 2).join('/') : (names[0] ?? ''),
    )
}

/** L5 (shared tree), L9, L10, L12, L13: everything in `catalog/` is one catalog. */
function findSingleCatalogRoot(files: readonly PathWithSegments[]): string[] {
  return files.some(({ names }) => names[0] === 'catalog' && names.length >= 2) ? ['catalog'] : []
}

/** The same families one directory deeper if the root has no catalog, for a catalog inside a source repository. */
function findNestedCatalogRoots(files: readonly PathWithSegments[], confirmed: boolean): string[] {
  const trusted = files.filter(
    ({ names }) =>
      catalogParentDirectoryNames.has(names[0] ?? '') ||
      (confirmed && !ignoredDirectoryNames.has(names[0] ?? '')),
  )
  const found: string[] = findCatalogRootsUnderVersions(trusted)
  for (const { names } of trusted) {
    if (names[1] !== 'catalog' && names[1] !== 'catalogs') continue
    if (names.length >= 4 && isVersionName(names[2])) found.push(names.slice(0, 3).join('/'))
    else if (names.length >= 3) found.push(names.slice(0, 2).join('/'))
  }
  // Checks the deepest directories first, because `fbc/catalog/v4.20` rules out `fbc/catalog`.
  const versions = found.filter((root) => isVersionName(root.split('/').at(-1)))
  return [
    ...versions,
    ...found.filter((root) => !versions.some((inner) => isPathUnderDirectory(inner, root))),
  ]
}

/**
 * The fallback: searches for `olm.package` blobs. The parent of directories with one package each is a catalog, and so
 * are its siblings of other versions. A directory with several packages, or the only directory with a package, is a
 * catalog.
 */
function findCatalogRootsByPackageBlobs(
  files: readonly PathWithSegments[],
  ignores: readonly string[],
  peek: FileTextPrefixReader,
): string[] {
  const holders = new Set<string>()
  let peeks = 0
  for (const { path, names } of files) {
    if (names.slice(0, -1).some((name) => ignoredDirectoryNames.has(name))) continue
    if (++peeks > maxFileReadsInFallbackSearch) break
    const text = peek(path) ?? ''
    // A template also contains packages and is next to the catalog that is rendered from it.
    if (!hasSchemaDeclaration(text, 'olm.package') || isTemplateText(text)) continue
    holders.add(getParentDirectory(path))
  }
  const groups = Map.groupBy(holders, getParentDirectory)
  const shared = [...groups].filter(([, members]) => members.length > 1)
  const shapes = new Set(shared.map(([parent]) => replaceVersionsInPath(parent)))
  const found: string[] = []
  for (const [parent, members] of groups) {
    const name = parent.split('/').at(-1)
    const isCatalog = parent !== '' && (shapes.has(replaceVersionsInPath(parent)) || isVersionName(name))
    // The whole repository is a catalog only if an .indexignore excludes the files that opm must not read.
    if (isCatalog || (parent === '' && members.length > 1 && ignores.includes('.indexignore')))
      found.push(parent)
    else if (!members.includes('')) found.push(...members)
    else if (ignores.includes('.indexignore')) found.push('')
  }
  return found.sort((a, b) => a.length - b.length)
}

function hasSchemaDeclaration(text: string, schema: string): boolean {
  const name = schema.replaceAll('.', '\\.')
  return new RegExp(`"?schema"?\\s*:\\s*["']?${name}(?:["'\\s,}]|$)`, 'i').test(text)
}

function isTemplateText(text: string): boolean {
  const schemas = ['olm.template.basic', 'olm.semver', 'olm.template.substitutes', 'olm.composite']
  return schemas.some((schema) => hasSchemaDeclaration(text, schema))
}

function isVersionName(name: string | undefined): boolean {
  return name !== undefined && findVersionInName(name)?.stem === ''
}

function hasFbcBlobsInDirectory(
  root: string,
  files: readonly PathWithSegments[],
  peek: FileTextPrefixReader | undefined,
): boolean {
  if (!peek) return true
  let left = maxFileReadsPerCatalogCandidate
  for (const { path } of files) {
    if (!isPathUnderDirectory(path, root)) continue
    if (/"?schema"?\s*:\s*["']?olm\.[a-z]/i.test(peek(path) ?? '')) return true
    if (--left === 0) return false
  }
  return false
}
