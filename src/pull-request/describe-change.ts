// Describes the difference of two trees in catalog terms: classified paths, changed packages, and new images. Reads
// only differing files, through the caller's `texts`.
import { compareCodeUnits } from '@catalog-bot/findings/finding'
import { getPackageBlobs, type Catalog } from '@catalog-bot/fbc/facts/catalog'
import { drawPackageDiff, type PackageDrawing } from '@catalog-bot/fbc/graph/drawing'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import { drawMermaid } from '@catalog-bot/fbc/graph/draw-mermaid'
import { buildPackageGraphs } from '@catalog-bot/fbc/graph/package-graph'
import { createFbcBlobComparer, toRepositoryPath, type TreeFileReader } from './compare-blobs.ts'
import { collectAncestorDirectories, type RepositoryLayout, compareCatalogs } from './layout/layout.ts'
import type {
  CatalogChange,
  PullRequestChange,
  PackageChange,
  CompositeListFileChange,
  TouchedPath,
  AddedImageReference,
  PathChange,
} from './change.ts'
import { classifyPath } from './layout/classify-path.ts'
import { comparePackage } from './compare-package.ts'
import { isPossibleCompositeListPath, parseCompositeListFile } from './references/composite-list.ts'

export interface UpgradeGraphChangeDrawing {
  readonly catalogs: readonly string[]
  readonly drawing: PackageDrawing
}

export interface PullRequestChangeInput {
  readonly paths: readonly PathChange[]
  readonly layout: RepositoryLayout
  /** Whole catalogs on both sides. Untouched ones are ignored. */
  readonly catalogs: readonly CatalogComparisonInput[]
  readonly treeFiles: TreeFileReader
}

export interface CatalogComparisonInput {
  readonly root: string
  readonly version?: string
  /** Absent for a new catalog. */
  readonly base?: Catalog
  /** Absent for a removed catalog. */
  readonly result?: Catalog
}

/** Never throws on invalid catalogs. Values that cannot be compared count as different. */
export function describePullRequestChange({
  paths,
  layout,
  catalogs,
  treeFiles,
}: PullRequestChangeInput): PullRequestChange {
  const lists: CompositeListFileChange[] = []
  const touched = [...paths]
    .sort((a, b) => compareCodeUnits(a.path, b.path))
    .map((path): TouchedPath => {
      const role = classifyPath(path.path, layout)
      const list =
        role.kind === 'infrastructure' && role.odd === undefined
          ? compareCompositeListFiles(path, treeFiles)
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
    references: [
      ...changes.flatMap(findAddedImageReferences),
      ...lists.flatMap(findAddedImagesInCompositeList),
    ],
    ...(lists.length > 0 && { lists }),
  }
}

function describeCatalogChange(
  pair: CatalogComparisonInput,
  differing: ReadonlySet<string>,
  treeFiles: TreeFileReader,
): CatalogChange {
  const { root, version, base, result } = pair
  const files = findChangedCatalogFiles(pair, differing)
  const names = new Set([...findPackagesInFiles(base, files), ...findPackagesInFiles(result, files)])
  const before = base && getPackageBlobs(base)
  const after = result && getPackageBlobs(result)
  const comparer = createFbcBlobComparer(root, (path) => differing.has(path), treeFiles)
  const packages: PackageChange[] = []
  for (const name of [...names].sort(compareCodeUnits)) {
    const change = comparePackage(root, name, before?.get(name), after?.get(name), comparer)
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
function findChangedCatalogFiles(
  { root, base, result }: CatalogComparisonInput,
  differing: ReadonlySet<string>,
) {
  const before = new Set(base?.files.map(({ path }) => path))
  const after = new Set(result?.files.map(({ path }) => path))
  return new Set(
    [...before, ...after].filter(
      (file) => !before.has(file) || !after.has(file) || differing.has(toRepositoryPath(root, file)),
    ),
  )
}

function findPackagesInFiles(catalog: Catalog | undefined, files: ReadonlySet<string>): Set<string> {
  const names = new Set<string>()
  if (!catalog) return names
  for (const blob of catalog.packages) if (files.has(blob.place.file)) names.add(blob.name)
  for (const blobs of [catalog.channels, catalog.bundles, catalog.deprecations, catalog.others])
    for (const blob of blobs) if (files.has(blob.place.file)) names.add(blob.package)
  return names
}

/**
 * Returns the change of one list. Returns undefined if either side is not a list or a plain file, if the lines around
 * the entries differ, if the remaining entries changed their order, or if no entry differs.
 */
function compareCompositeListFiles(change: PathChange, treeFiles: TreeFileReader) {
  const { path, before, after } = change
  if (!isPossibleCompositeListPath(path) || before?.mode !== '100644' || after?.mode !== '100644')
    return undefined
  const [left, right] = [treeFiles.read('base', path), treeFiles.read('result', path)]
  const base = left && parseCompositeListFile(left)
  const result = right && parseCompositeListFile(right)
  if (!base || !result || base.frame !== result.frame) return undefined
  const old = new Map(base.references.map((reference) => [reference.name, reference]))
  const now = new Map(result.references.map((reference) => [reference.name, reference]))
  const sharedNames = (names: Iterable<string>) =>
    [...names].filter((name) => old.has(name) && now.has(name)).join()
  if (sharedNames(old.keys()) !== sharedNames(now.keys())) return undefined
  const list: CompositeListFileChange = {
    path,
    added: result.references
      .filter(({ name }) => !old.has(name))
      .map(({ name, image, mark, imageMark }) => ({ name, image, mark, imageMark })),
    removed: base.references.filter(({ name }) => !now.has(name)).map(({ name, image }) => ({ name, image })),
    updated: result.references.flatMap(({ name, image, mark, imageMark, text }) => {
      const was = old.get(name)
      return was && was.text !== text ? [{ name, before: was.image, after: image, mark, imageMark }] : []
    }),
    known: [...new Set(base.references.map(({ image }) => image))],
    names: base.references.map(({ name }) => name),
  }
  return list.added.length + list.removed.length + list.updated.length > 0 ? list : undefined
}

/**
 * Returns the references of the result's bundles (bundle image and related images) that the base catalog with the same
 * root does not contain, once per bundle and role, in the order of the result.
 */
export function findAddedImageReferences({ base, result }: CatalogChange): AddedImageReference[] {
  const unchanged = new Set(base?.bundles)
  const bundles = result?.bundles.filter((bundle) => !unchanged.has(bundle)) ?? []
  const added = new Set(
    bundles.flatMap(({ image, relatedImages }) => [image, ...relatedImages.map((one) => one.image)]),
  )
  added.delete('')
  for (const { image, relatedImages } of base?.bundles ?? []) {
    added.delete(image)
    for (const related of relatedImages) added.delete(related.image)
  }
  const found: AddedImageReference[] = []
  for (const { package: name, name: bundle, place, image, imageMark, relatedImages } of bundles) {
    const addIfNew = (
      reference: string,
      role: AddedImageReference['role'],
      { line, column }: { readonly line: number; readonly column: number },
    ) => {
      if (added.has(reference))
        found.push({ reference, at: { file: place.file, line, column }, package: name, bundle, role })
    }
    addIfNew(image, 'bundle', imageMark ?? place)
    const firstMarks = new Map<string, (typeof relatedImages)[number]['mark']>()
    for (const related of relatedImages)
      if (!firstMarks.has(related.image)) firstMarks.set(related.image, related.mark)
    for (const [reference, mark] of firstMarks) addIfNew(reference, 'related', mark)
  }
  return found
}

function findAddedImagesInCompositeList({
  path,
  added,
  updated,
  known,
}: CompositeListFileChange): readonly AddedImageReference[] {
  const named = [...added, ...updated.map(({ after, ...entry }) => ({ ...entry, image: after }))]
  return named
    .filter(({ image }) => !known.includes(image))
    .map(({ name, image, imageMark }) => ({
      reference: image,
      at: { file: path, line: imageMark.line, column: imageMark.column },
      package: name,
      bundle: name,
      role: 'listed',
    }))
}

/** Returns drawings in the order of catalogs and packages. Removed packages have no drawing. */
export const drawUpgradeGraphChanges = memoizePerObject(
  (change: PullRequestChange): readonly UpgradeGraphChangeDrawing[] => {
    const found = new Map<string, { catalogs: string[]; drawing: PackageDrawing }>()
    for (const { root, version, base, result, packages } of change.catalogs)
      for (const { name, kind } of packages) {
        if (kind === 'removed' || !result) continue
        const before = base && buildPackageGraphs(base, name)[0]
        const drawing = drawPackageDiff(before, buildPackageGraphs(result, name)[0])
        if (drawing.channels.length === 0) continue
        const key = JSON.stringify(drawing)
        const known = found.get(key)
        if (known) known.catalogs.push(version ?? root)
        else found.set(key, { catalogs: [version ?? root], drawing })
      }
    return [...found.values()]
  },
)

/** Returns the Mermaid source of all legible drawings, or undefined if there are none. */
export function renderChangeAsMermaid(change: PullRequestChange): string | undefined {
  return drawMermaid(drawUpgradeGraphChanges(change).map(({ drawing }) => drawing))
}
