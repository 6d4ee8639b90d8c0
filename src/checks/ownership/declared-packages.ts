// Finds the packages that a file declares, before and after the change. Ownership depends on content and location.
import { getPackageBlobs, type Catalog } from '@catalog-bot/fbc/facts/catalog'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import type { CatalogChange, PackageChange } from '../../pull-request/change.ts'
import type { TextPosition } from '@catalog-bot/fbc/go/position-lookup'

export interface PackageDeclarationIndex {
  /** Packages in the file's blobs on either side, each with a position (preferably in the result). */
  inFile(path: string): ReadonlyMap<string, TextPosition>
  /** Directories ('' for files directly in the catalog) that declare each package at the base. */
  homeDirectories(packageName: string): ReadonlySet<string>
  inDirectory(directory: string): ReadonlySet<string>
}

/**
 * Converts a catalog's file names to repository paths. Names may be relative to either root; the list of all files
 * shows which, because a single path such as `root/root/x` is ambiguous.
 */
export function createRepositoryPathMapper({ root, base, result }: CatalogChange): (file: string) => string {
  const prefix = root === '' ? '' : `${root}/`
  const files = (base ?? result)?.files ?? []
  const fromRepository = files.length > 0 && files.every(({ path }) => path.startsWith(prefix))
  return (file) => (fromRepository ? file : prefix + file)
}

export const findDeclaredPackages = memoizePerObject((catalog: CatalogChange): PackageDeclarationIndex => {
  const declared = new Map<string, Map<string, TextPosition>>()
  const homes = new Map<string, Set<string>>()
  const at = new Map<string, Set<string>>()
  const prefix = catalog.root === '' ? '' : `${catalog.root}/`
  const toPath = createRepositoryPathMapper(catalog)
  for (const { file, name, mark } of listPackageDeclarations(catalog.base)) {
    const path = toPath(file)
    const inside = path.slice(prefix.length)
    const directory = inside.includes('/') ? inside.slice(0, inside.indexOf('/')) : ''
    homes.set(name, (homes.get(name) ?? new Set()).add(directory))
    at.set(directory, (at.get(directory) ?? new Set()).add(name))
    addPackage(path, name, mark)
  }
  // The result comes last so that findings point at what would be merged.
  for (const { file, name, mark } of listPackageDeclarations(catalog.result))
    addPackage(toPath(file), name, mark)

  function addPackage(path: string, name: string, mark: TextPosition): void {
    declared.set(path, (declared.get(path) ?? new Map<string, TextPosition>()).set(name, mark))
  }

  return {
    inFile: (path) => declared.get(path) ?? new Map(),
    homeDirectories: (name) => homes.get(name) ?? new Set(),
    inDirectory: (directory) => at.get(directory) ?? new Set(),
  }
})

function* listPackageDeclarations(
  catalog: Catalog | undefined,
): Generator<{ file: string; name: string; mark: TextPosition }> {
  if (!catalog) return
  for (const { place, name } of catalog.packages) yield { file: place.file, name, mark: place }
  for (const blobs of [catalog.channels, catalog.bundles, catalog.deprecations, catalog.others])
    for (const { place, package: name } of blobs)
      if (name !== '') yield { file: place.file, name, mark: place }
}

/**
 * The channels that a change to a package affects: changed ones, and those that offer a changed bundle. Names before
 * and after, sorted. Empty for changes outside channels, such as a description.
 */
export function findTouchedChannels(
  { base, result }: Pick<CatalogChange, 'base' | 'result'>,
  { name, bundles, channels, defaultChannel, deprecations }: PackageChange,
): readonly string[] {
  const its = [base, result].flatMap((catalog) =>
    catalog ? (getPackageBlobs(catalog).get(name)?.channels ?? []) : [],
  )
  const touched = new Set([
    ...channels.added,
    ...channels.removed,
    ...channels.changed.map((channel) => channel.name),
    ...(defaultChannel ? [defaultChannel.before, defaultChannel.after] : []),
  ])
  const deprecated = [...deprecations.added, ...deprecations.removed, ...deprecations.changed]
  for (const { schema, name: of } of deprecated) if (schema === 'olm.channel') touched.add(of)
  const isWhole = deprecated.some(({ schema }) => schema === 'olm.package')
  const differing = new Set([
    ...[...bundles.added, ...bundles.changed, ...bundles.removed].map((bundle) => bundle.name),
    ...deprecated.flatMap(({ schema, name: of }) => (schema === 'olm.bundle' ? [of] : [])),
  ])
  for (const channel of its)
    if (isWhole || channel.entries.some((entry) => differing.has(entry.name))) touched.add(channel.name)
  return [...touched].sort()
}
