// Finds the catalogs of a repository from the paths of its tree: the fourteen families of layouts seen in public
// repositories, in a fixed order of detection. Reads no file by itself: `peek` shows the texts it wants to see.
// What the configuration states wins and is not second-guessed.
import type { Config } from '../../config/config.ts'
import { once, oncePer } from '../../findings/once.ts'
import { sublist } from '../patched-list.ts'
import { compareCatalogs, shapeOf, statedVersion, versionInName, versionInPath } from './catalog-version.ts'
import { isBelow, type CatalogRoot, type Layout } from './layout.ts'
import { refusedPathReason } from './path-grammar.ts'
import { isTemplatePath } from './template-path.ts'

/** The text of a file of the same tree, or its beginning (16 KB suffice); undefined where it is not known. */
export type Peek = (path: string) => string | undefined

/** Files looked into per candidate before it counts as no catalog, and over all in the search of last resort. */
const peeksPerCandidate = 20
const peeksInSearch = 2000

/** Directories in front of `catalog/` that are known to hold published catalogs. Others need `peek` to confirm. */
const knownPrefixes = new Set(['fbc', 'release'])
/** Directories whose files are samples or somebody else's. */
const notOurs = new Set([
  'vendor',
  'node_modules',
  'test',
  'tests',
  'testdata',
  'fixtures',
  'examples',
  'hack',
])
const blobFolders = new Set(['bundles', 'channels', 'packages', 'deprecations'])

/**
 * Recognises the catalogs among `paths` (every path of one tree).
 * Give the base tip's paths: a layout recognised from a pull request's would let its author choose who owns what.
 * New catalogs beside existing ones come from `withNewCatalogs`.
 */
export function recogniseLayout(
  paths: readonly string[],
  configured: Config['catalogs'],
  peek?: Peek,
): Layout {
  const templates = templatesIn(paths)
  if (configured.length > 0)
    return { catalogs: configured.map(stated).sort(compareCatalogs), templates: templates.toSorted() }
  if (peek === undefined)
    return layoutOf(blobFilesIn(paths))(recipesIn(paths))(ignoreFilesIn(paths))(templates)
  const catalogs = catalogsAmong(blobFilesIn(paths), recipesIn(paths), ignoreFilesIn(paths), peek)
  return { catalogs, templates: templates.toSorted() }
}

/** What tells a layout, of all paths. Most changes come near none of these: then the layout is the same object. */
const templatesIn = sublist(isTemplatePath)
const blobFilesIn = sublist(mayHoldBlobs)
const recipesIn = sublist(isRecipe)
const ignoreFilesIn = sublist<string>((path) => /(?:^|\/)\.indexignore$/.test(path))

const layoutOf = oncePer((files: readonly string[]) =>
  oncePer((recipes: readonly string[]) =>
    oncePer((ignores: readonly string[]) => {
      const catalogs = once(() => catalogsAmong(files, recipes, ignores, undefined))
      return oncePer((templates: readonly string[]): Layout => ({
        catalogs: catalogs(),
        templates: templates.toSorted(),
      }))
    }),
  ),
)

function catalogsAmong(
  paths: readonly string[],
  recipes: readonly string[],
  ignores: readonly string[],
  peek: Peek | undefined,
): readonly CatalogRoot[] {
  const files = paths.map((path) => ({ path, names: path.split('/') }))
  const roots: string[] = []
  const take = (found: Iterable<string>, confirm = true) => {
    for (const root of [...new Set(found)].sort())
      if (!roots.some((other) => isBelow(root, other) || isBelow(other, root) || root === other))
        if (!confirm || holdsBlobs(root, files, peek)) roots.push(root)
  }
  take(inCatalogs(files))
  take(
    versionThenCatalog(files.filter(({ names }) => isVersion(names[0]) || knownPrefixes.has(names[0] ?? ''))),
  )
  take(catalogThenVersion(files))
  take(catalogThenProduct(files))
  take(catalogWithSuffix(files))
  take(plainCatalog(files))
  if (roots.length === 0) take(prefixed(files, peek !== undefined))
  if (roots.length === 0 && peek) take(search(files, ignores, peek), false)
  return besideRecipes(roots, files, recipes, ignores)
    .map((root) => catalogRoot(root, versionInPath(root)))
    .sort(compareCatalogs)
}

/**
 * L5 again: `catalog/v4.16/Dockerfile` beside `catalog/v4.16/<directory>`. opm reads every file of a catalog and refuses
 * a recipe, so what such an image holds can only be the directory: that is the catalog.
 */
function besideRecipes(
  roots: readonly string[],
  files: readonly File[],
  recipes: readonly string[],
  ignores: readonly string[],
): string[] {
  const inRoots = new Set(recipes.map(directoryOf))
  return roots.map((root) => {
    if (!inRoots.has(root) || ignores.includes(`${root}/.indexignore`)) return root
    const inside = files.filter(({ path }) => isBelow(path, root))
    const [only = root, ...more] = new Set(
      inside.map(({ names }) => names.slice(0, root.split('/').length + 1).join('/')),
    )
    const isDirectory = inside.every(({ path }) => path !== only)
    return more.length === 0 && isDirectory ? only : root
  })
}

function isRecipe(path: string): boolean {
  return /(?:^|\/)(?:[^/]*[.-])?(?:docker|container)file(?:[.-][^/]*)?$/i.test(path)
}

function directoryOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : ''
}

/**
 * The layout at the base, and beside it the catalogs that only the result has: those that differ from an existing
 * catalog in nothing but the version (`catalogs/v4.23` beside `catalogs/v4.22`). Everything else that looks like
 * a catalog stays what it was at the base: a maintainer's matter. A configured layout is never extended.
 */
export function withNewCatalogs(
  base: Layout,
  resultPaths: readonly string[],
  configured: Config['catalogs'],
  peek?: Peek,
): Layout {
  if (configured.length > 0) return base
  const shapes = new Set(
    base.catalogs.map(({ root }) => shapeOf(root)).filter((shape) => shape.includes('<')),
  )
  if (shapes.size === 0) return base
  const known = base.catalogs.map(({ root }) => root)
  const found = recogniseLayout(resultPaths, [], peek).catalogs.filter(
    ({ root }) =>
      shapes.has(shapeOf(root)) &&
      !known.some((other) => other === root || isBelow(root, other) || isBelow(other, root)),
  )
  if (found.length === 0) return base
  return { ...base, catalogs: [...base.catalogs, ...found].sort(compareCatalogs) }
}

interface File {
  readonly path: string
  readonly names: readonly string[]
}

function stated({ path, version }: Config['catalogs'][number]): CatalogRoot {
  const root = path.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')
  const normal = root === '.' ? '' : root
  return catalogRoot(normal, version === undefined ? versionInPath(normal) : statedVersion(version))
}

function catalogRoot(root: string, version: string | undefined): CatalogRoot {
  return version === undefined ? { root } : { root, version }
}

function mayHoldBlobs(path: string): boolean {
  return (
    /\.(?:ya?ml|json)$/.test(path) &&
    !/(?:^|\/)\./.test(path) &&
    !path.startsWith('operators/') &&
    !isTemplatePath(path) &&
    refusedPathReason(path) === undefined
  )
}

/** L1, L2: `catalogs/<version>/<directory>/file`, or `catalogs/<directory>/file` where there is only one catalog. */
function inCatalogs(files: readonly File[]): string[] {
  const inside = files.filter(({ names }) => names[0] === 'catalogs' && names.length >= 2)
  const versioned = inside.filter(({ names }) => names.length >= 3 && isVersion(names[1]))
  const named = inside.filter(
    ({ names }) => names.length >= 4 && !isVersion(names[1]) && !blobFolders.has(names[2] ?? ''),
  )
  const below = [...versioned, ...named].map(({ names }) => `catalogs/${names[1] ?? ''}`)
  if (versioned.length > 0) return below
  return inside.length > named.length ? ['catalogs'] : below
}

/** L3, L4: `<version>/catalog/...`, also below a directory such as `fbc/`. */
function versionThenCatalog(files: readonly File[]): string[] {
  const found: string[] = []
  for (const { names } of files)
    for (const at of [0, 1])
      if (names.length > at + 2 && names[at + 1] === 'catalog' && isVersion(names[at]))
        found.push(names.slice(0, at + 2).join('/'))
  return found
}

/** L5: `catalog/<version>/...`. */
function catalogThenVersion(files: readonly File[]): string[] {
  return files
    .filter(({ names }) => names[0] === 'catalog' && names.length >= 3 && isVersion(names[1]))
    .map(({ names }) => names.slice(0, 2).join('/'))
}

/**
 * L6: `catalog/<product>-<version>/file` and `catalog/<product>/file`, one catalog each. A single package directory
 * whose name ends in numbers is not taken for that: all directories must share the product.
 */
function catalogThenProduct(files: readonly File[]): string[] {
  const inside = files.filter(({ names }) => names[0] === 'catalog')
  if (inside.some(({ names }) => names.length === 2)) return []
  const children = new Set(inside.map(({ names }) => names[1] ?? ''))
  const products = new Set([...children].map((name) => versionInName(name)?.stem || name))
  const hasVersion = [...children].some((name) => (versionInName(name)?.stem ?? '') !== '')
  return hasVersion && products.size === 1 ? [...children].map((name) => `catalog/${name}`) : []
}

/** L7, L8 and the second tree of L5: `catalog-<something>/...`, or a version below it. */
function catalogWithSuffix(files: readonly File[]): string[] {
  return files
    .filter(
      ({ names }) =>
        names.length >= 2 &&
        /^catalog-/.test(names[0] ?? '') &&
        !/^catalog-(?:templates?|build|config|scripts?|tests?|docs?)$/.test(names[0] ?? ''),
    )
    .map(({ names }) =>
      names.length >= 3 && isVersion(names[1]) ? names.slice(0, 2).join('/') : (names[0] ?? ''),
    )
}

/** L5 (shared tree), L9, L10, L12, L13: everything in `catalog/` is one catalog. */
function plainCatalog(files: readonly File[]): string[] {
  return files.some(({ names }) => names[0] === 'catalog' && names.length >= 2) ? ['catalog'] : []
}

/** The same families one directory down, where there is nothing at the root: a catalog inside a source repository. */
function prefixed(files: readonly File[], confirmed: boolean): string[] {
  const trusted = files.filter(
    ({ names }) => knownPrefixes.has(names[0] ?? '') || (confirmed && !notOurs.has(names[0] ?? '')),
  )
  const found: string[] = versionThenCatalog(trusted)
  for (const { names } of trusted) {
    if (names[1] !== 'catalog' && names[1] !== 'catalogs') continue
    if (names.length >= 4 && isVersion(names[2])) found.push(names.slice(0, 3).join('/'))
    else if (names.length >= 3) found.push(names.slice(0, 2).join('/'))
  }
  // The deepest first: `fbc/catalog/v4.20` rules out `fbc/catalog`.
  const versions = found.filter((root) => isVersion(root.split('/').at(-1)))
  return [...versions, ...found.filter((root) => !versions.some((inner) => isBelow(inner, root)))]
}

/**
 * Last resort: wherever an `olm.package` blob lies. The directory above those that hold one each is the catalog,
 * and so are its siblings of other versions; a directory with several packages, or a lone one, is a catalog itself.
 */
function search(files: readonly File[], ignores: readonly string[], peek: Peek): string[] {
  const holders = new Map<string, number>()
  let peeks = 0
  for (const { path, names } of files) {
    if (names.slice(0, -1).some((name) => notOurs.has(name))) continue
    if (++peeks > peeksInSearch) break
    const text = peek(path) ?? ''
    // A template holds packages too, and lies beside the catalog that is rendered from it.
    if (!says(text, 'olm.package') || isTemplate(text)) continue
    const directory = names.slice(0, -1).join('/')
    holders.set(directory, (holders.get(directory) ?? 0) + 1)
  }
  const groups = new Map<string, string[]>()
  for (const directory of holders.keys()) {
    const parent = directory.includes('/') ? directory.slice(0, directory.lastIndexOf('/')) : ''
    groups.set(parent, [...(groups.get(parent) ?? []), directory])
  }
  const shared = [...groups].filter(([, members]) => members.length > 1)
  const shapes = new Set(shared.map(([parent]) => shapeOf(parent)))
  const found: string[] = []
  for (const [parent, members] of groups) {
    const name = parent.split('/').at(-1)
    const isCatalog = parent !== '' && (shapes.has(shapeOf(parent)) || isVersion(name))
    // The whole repository is a catalog only where somebody said what opm shall not read in it.
    if (isCatalog || (parent === '' && members.length > 1 && ignores.includes('.indexignore')))
      found.push(parent)
    else if (!members.includes('')) found.push(...members)
    else if (ignores.includes('.indexignore')) found.push('')
  }
  return found.sort((a, b) => a.length - b.length)
}

function says(text: string, schema: string): boolean {
  const name = schema.replaceAll('.', '\\.')
  return new RegExp(`"?schema"?\\s*:\\s*["']?${name}(?:["'\\s,}]|$)`, 'i').test(text)
}

function isTemplate(text: string): boolean {
  const schemas = ['olm.template.basic', 'olm.semver', 'olm.template.substitutes', 'olm.composite']
  return schemas.some((schema) => says(text, schema))
}

function isVersion(name: string | undefined): boolean {
  return name !== undefined && versionInName(name)?.stem === ''
}

function holdsBlobs(root: string, files: readonly File[], peek: Peek | undefined): boolean {
  if (!peek) return true
  let left = peeksPerCandidate
  for (const { path } of files) {
    if (!isBelow(path, root)) continue
    if (/"?schema"?\s*:\s*["']?olm\.[a-z]/i.test(peek(path) ?? '')) return true
    if (--left === 0) return false
  }
  return false
}
