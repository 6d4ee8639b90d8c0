// Reads the bundle directories that a change touches, and enough of their neighbors to locate them in the upgrade
// graph. Reads Git blobs without a checkout, and caches results by content.
import type { PullRequestChange, TreePathEntry } from '../pull-request/change.ts'
import {
  readBundleUpgradeMetadata,
  type BundleUpgradeMetadata,
} from '@catalog-bot/bundle/bundle-upgrade-metadata'
import type { BundleFiles } from '@catalog-bot/bundle/bundle-files'
import { readRegistryBundle } from '@catalog-bot/bundle/registry-bundle'
import { findOpmMigrationError, renderBundle } from '@catalog-bot/bundle/render/render-bundle'
import { pickCsvFieldsForTemplates } from '@catalog-bot/bundle/render/csv-metadata'
import { validateBundle } from '@catalog-bot/bundle/validate-bundle'
import type { RenderedBundle } from '@catalog-bot/fbc/template/bundle-source'
import type { TreeSha } from '../pull-request/ids.ts'
import {
  type RepositoryLayout,
  parseBundlePath,
  type BundleDirectory,
} from '../pull-request/layout/layout.ts'
import type {
  PackageDirectoryState,
  PackageSettingsFile,
  TouchedBundle,
} from '../checks/bundles/post-release-catalog.ts'
import {
  listBundleNamesForCatalogLookup,
  hasUpdateGraphModeChange,
} from '../checks/bundles/package-settings.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { ruleSuiteNames } from '@catalog-bot/findings/rule'
import type { Cache } from '../ports/cache.ts'
import type { TreeReader } from '../ports/repository.ts'
import { computeGzippedSize } from '../adapters/registry/unpack/read-bundle-files.ts'
import { readTextBlobOrEmpty, type CatalogLoader } from '../catalogs/catalog-loader.ts'
import { LruMap } from '../adapters/lru-map.ts'
import { noopCache } from '../catalogs/memory-cache.ts'
import {
  filterEntriesInBundleDirectory,
  computeDirectoryContentKey,
  hasManifestsDirectory,
  maxTotalTouchedBundleBytes,
  readBundleFiles,
} from '../catalogs/read-bundle-files.ts'
import {
  cacheBundleUpgradeMetadata,
  filterAnnotationsAndCsvFiles,
  readSiblingBundleMetadata,
} from './read-sibling-bundles.ts'

interface BundleDirectoryReadContext {
  readonly repository: TreeReader
  readonly loader: CatalogLoader
  readonly layout: RepositoryLayout
  readonly base: TreeSha
  readonly result: TreeSha
}

interface ValidatedBundleDirectory {
  readonly facts: BundleUpgradeMetadata
  readonly findings: readonly Finding[]
  readonly rendered: RenderedBundle | undefined
}

/** A few kilobytes a bundle. */
const validatedBundlesCache = new LruMap<string, ValidatedBundleDirectory>(2_000, () => 1)

/** Rejects with a GitError, and with ChangeTooLargeError where the touched bundles exceed the limit. */
export async function readBundleDirectories(
  { paths }: Pick<PullRequestChange, 'paths'>,
  ctx: BundleDirectoryReadContext,
): Promise<readonly PackageDirectoryState[]> {
  const touched = new Map<string, Map<string, BundleDirectory>>()
  const configs = new Map<string, Set<string>>()
  for (const { path, role } of paths) {
    if (role.kind !== 'operator' && role.kind !== 'owners') continue
    const bundle = role.kind === 'operator' ? parseBundlePath(path) : undefined
    const directory = bundle?.directory ?? packageSettingsPathPattern.exec(path)?.groups?.directory
    if (directory === undefined) continue
    const its = touched.get(directory) ?? new Map<string, BundleDirectory>()
    touched.set(directory, its)
    if (bundle) its.set(bundle.version, bundle)
    else configs.set(directory, (configs.get(directory) ?? new Set()).add(path))
  }
  const budget = { left: maxTotalTouchedBundleBytes }
  const found: PackageDirectoryState[] = []
  // Sequential, because they share a budget.
  for (const [directory, bundles] of [...touched].sort(([a], [b]) => (a < b ? -1 : 1)))
    found.push(
      await readPackageDirectoryState(
        directory,
        [...bundles.values()],
        configs.get(directory) ?? new Set(),
        budget,
        ctx,
      ),
    )
  return found
}

const packageSettingsPathPattern =
  /^operators\/(?<directory>[^/]+)\/(?:ci\.yaml|[^/]+\/release-config\.ya?ml)$/

async function readPackageDirectoryState(
  directory: string,
  bundlePaths: readonly BundleDirectory[],
  configs: ReadonlySet<string>,
  budget: { left: number },
  { repository, loader, layout, base, result }: BundleDirectoryReadContext,
): Promise<PackageDirectoryState> {
  const root = `operators/${directory}`
  const [before, after] = await Promise.all([repository.list(base, root), repository.list(result, root)])
  const neighbors = { repository, cache: loader.cache ?? noopCache }
  const touched: TouchedBundle[] = []
  const facts = new Map<string, BundleUpgradeMetadata>()
  for (const { root: its, version } of bundlePaths.toSorted((a, b) => (a.version < b.version ? -1 : 1))) {
    const old = filterEntriesInBundleDirectory(before, its)
    const now = filterEntriesInBundleDirectory(after, its)
    const isPublished = hasManifestsDirectory(old, its)
    if (!now.some(({ path }) => parseBundlePath(path) !== undefined)) {
      if (!isPublished) continue
      const removed = readBundleUpgradeMetadata(
        await readBundleFiles(repository, filterAnnotationsAndCsvFiles(old, its), its, budget),
      )
      touched.push({ root: its, version, kind: 'removed', removed, findings: [] })
      continue
    }
    const validated = await validateBundleDirectory(neighbors, now, its, budget)
    facts.set(version, validated.facts)
    touched.push({
      root: its,
      version,
      kind: isPublished ? 'changed' : 'added',
      findings: validated.findings,
      ...(validated.rendered && { rendered: validated.rendered }),
    })
  }
  const settings = await readBaseAndResultCiYaml(repository, root, { before, after }, configs)
  const releaseConfigPaths = [...configs].filter((path) => !path.endsWith('/ci.yaml')).sort()
  // Changed settings alone need no neighbors, unless the settings determine how edges are created.
  const needsOthers =
    bundlePaths.length > 0 || releaseConfigPaths.length > 0 || hasUpdateGraphModeChange(settings)
  const others = needsOthers ? await readSiblingBundleMetadata(neighbors, after, root, facts) : undefined
  const published = needsOthers
    ? await readSiblingBundleMetadata(neighbors, before, root, new Map())
    : undefined
  const configured = await readBundlesWithChangedReleaseConfig(
    neighbors,
    { root, after },
    bundlePaths,
    configs,
    budget,
  )
  const releaseConfigs = await Promise.all(
    releaseConfigPaths.map((path) => readPackageSettings(repository, after, path)),
  )
  const sources: PackageDirectoryState = {
    directory,
    touched,
    ...(others && { bundles: others }),
    ...(published && { published }),
    declared: new Set(
      [...(published?.values() ?? [])].flatMap((one) => (one.package ? [one.package.text] : [])),
    ),
    catalogs: new Map(),
    ...settings,
    ...(configured.length > 0 && { configured }),
    releaseConfigs: releaseConfigs.filter((one) => one !== undefined),
    templates: getDirectoryChildNames(after, `${root}/catalog-templates/`),
  }
  // Opens catalogs only for versions that no directory has.
  const bundleNames = listBundleNamesForCatalogLookup(sources)
  if (bundleNames.size === 0) return sources
  return {
    ...sources,
    catalogs: await readCatalogBundlesByName(bundleNames, directory, { repository, loader, layout, result }),
  }
}

async function readBaseAndResultCiYaml(
  repository: BundleDirectoryReadContext['repository'],
  root: string,
  { before, after }: { readonly before: readonly TreePathEntry[]; readonly after: readonly TreePathEntry[] },
  configs: ReadonlySet<string>,
): Promise<Pick<PackageDirectoryState, 'ciYaml' | 'ciYamlBefore'>> {
  const ciYaml = await readPackageSettings(repository, after, `${root}/ci.yaml`)
  const isCiYamlTouched = configs.has(`${root}/ci.yaml`)
  const ciYamlBefore = isCiYamlTouched
    ? await readPackageSettings(repository, before, `${root}/ci.yaml`)
    : undefined
  return {
    ...(ciYaml && { ciYaml: { ...ciYaml, isTouched: isCiYamlTouched } }),
    ...(ciYamlBefore && { ciYamlBefore }),
  }
}

/** The bundles whose release configuration changes, but which do not change themselves. */
async function readBundlesWithChangedReleaseConfig(
  neighbors: Parameters<typeof validateBundleDirectory>[0],
  { root, after }: { readonly root: string; readonly after: readonly TreePathEntry[] },
  bundlePaths: readonly BundleDirectory[],
  configs: ReadonlySet<string>,
  budget: { left: number },
): Promise<readonly Pick<TouchedBundle, 'root' | 'version' | 'rendered'>[]> {
  const configured: Pick<TouchedBundle, 'root' | 'version' | 'rendered'>[] = []
  for (const version of findVersionsWithReleaseConfig(configs)) {
    const its = `${root}/${version}`
    const entries = filterEntriesInBundleDirectory(after, its)
    if (
      bundlePaths.some((bundlePath) => bundlePath.version === version) ||
      !hasManifestsDirectory(entries, its)
    )
      continue
    const { rendered } = await validateBundleDirectory(neighbors, entries, its, budget)
    configured.push({ root: its, version, ...(rendered && { rendered }) })
  }
  return configured
}

function findVersionsWithReleaseConfig(configs: ReadonlySet<string>): readonly string[] {
  return [...configs].flatMap((path) => /\/([^/]+)\/release-config\.ya?ml$/.exec(path)?.[1] ?? []).sort()
}

function getDirectoryChildNames(entries: readonly TreePathEntry[], prefix: string): ReadonlySet<string> {
  return new Set(
    entries.flatMap(({ path }) =>
      path.startsWith(prefix) && !path.slice(prefix.length).includes('/') ? [path.slice(prefix.length)] : [],
    ),
  )
}

async function validateBundleDirectory(
  { repository, cache }: { readonly repository: TreeReader; readonly cache: Cache },
  entries: readonly TreePathEntry[],
  root: string,
  budget: { left: number },
): Promise<ValidatedBundleDirectory> {
  const key = computeDirectoryContentKey(entries, root)
  const known = validatedBundlesCache.get(key)
  if (known) return known
  const files = await readBundleFiles(repository, entries, root, budget)
  const made = {
    facts: readBundleUpgradeMetadata(files),
    // The suites come from the configuration, so they are applied later.
    findings: validateBundle(files, { packedSize: computeGzippedSize, suites: ruleSuiteNames }).findings,
    rendered: renderBundleDirectory(files),
  }
  validatedBundlesCache.set(key, made)
  await cacheBundleUpgradeMetadata(cache, entries, root, files)
  return made
}

/** Uses the metadata of the ClusterServiceVersion instead of its objects, as current catalogs do. */
function renderBundleDirectory(files: BundleFiles): RenderedBundle | undefined {
  const { bundle } = readRegistryBundle(files)
  // The image is set later; opm keeps the objects where it is empty.
  if (!bundle || findOpmMigrationError(bundle, placeholderImageReference) !== undefined) return undefined
  const { relatedImages = [], ...blob } = renderBundle(bundle, placeholderImageReference, {
    csvMetadata: true,
  })
  return {
    blob: {
      ...blob,
      image: '',
      relatedImages: relatedImages.filter(({ image }) => image !== placeholderImageReference),
    },
    csv: pickCsvFieldsForTemplates(bundle.csv.data),
  }
}

const placeholderImageReference = 'image.invalid/unknown:unknown'

async function readPackageSettings(
  repository: TreeReader,
  entries: readonly TreePathEntry[],
  path: string,
): Promise<PackageSettingsFile | undefined> {
  const entry = entries.find((one) => one.path === path)
  if (entry?.mode.startsWith('100') !== true) return undefined
  return { path, text: await readTextBlobOrEmpty(repository, entry.oid) }
}

async function readCatalogBundlesByName(
  names: ReadonlySet<string>,
  directory: string,
  { repository, loader, layout, result }: Omit<BundleDirectoryReadContext, 'base'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>()
  for (const { root } of layout.catalogs) {
    const packagePath = root === '' ? directory : `${root}/${directory}`
    const catalog = await loader.load(repository, result, packagePath)
    for (const name of new Set(catalog?.bundles.map((bundle) => bundle.name)))
      if (names.has(name)) found.set(name, [...(found.get(name) ?? []), root])
  }
  return found
}
