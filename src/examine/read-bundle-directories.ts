// Reads the bundle directories that a change touches, and enough of their neighbors to place them in the upgrade graph.
// Reads git blobs without a checkout and caches results by content.
import type { ListedEntry } from '../change/path-change.ts'
import { bundleFacts, type BundleFacts } from '../bundle/bundle-facts.ts'
import type { BundleFiles } from '../bundle/bundle-files.ts'
import { readRegistryBundle } from '../bundle/registry-bundle.ts'
import { migrationProblem, renderBundle } from '../bundle/render/render-bundle.ts'
import { templateCsv } from '../bundle/render/template-csv.ts'
import { validateBundle } from '../bundle/validate-bundle.ts'
import type { RenderedBundle } from '../catalog/template/bundle-source.ts'
import type { Change } from '../change/change.ts'
import type { TreeSha } from '../change/ids.ts'
import { bundlePlaceOf, type BundlePlace } from '../change/layout/bundle-directory.ts'
import type { Layout } from '../change/layout/layout.ts'
import type { PackageSources, SettingsText, TouchedBundle } from '../checks/bundles/package-sources.ts'
import { edgesToNowhere } from '../checks/bundles/edges.ts'
import { changesGraphMode } from '../checks/bundles/judge-settings.ts'
import type { Finding } from '../findings/finding.ts'
import { suites } from '../findings/suites.ts'
import type { Cache } from '../ports/cache.ts'
import type { ReadTree } from '../ports/repository.ts'
import { packedSize } from '../registry/unpack/packed-size.ts'
import { readText, type CatalogLoader } from './catalogs/catalog-loader.ts'
import { LruMap } from './catalogs/lru-map.ts'
import { forgetfulCache } from './forgetful.ts'
import { bundleEntries, contentKey, hasManifest, mostTouchedBytes, readFiles } from './read-bundle-files.ts'
import { keepNeighbour, neighbourEntries, readNeighbours } from './read-neighbours.ts'

export interface BundleDirectoryPlaces {
  readonly repository: ReadTree
  readonly loader: CatalogLoader
  readonly layout: Layout
  readonly base: TreeSha
  readonly result: TreeSha
}

/** Facts and findings are a few kilobytes a bundle. */
const knownFacts = new LruMap<string, BundleFacts>(20_000, () => 1)
const knownFindings = new LruMap<string, readonly Finding[]>(50_000, (found) => 1 + found.length)
const knownRendered = new LruMap<string, { readonly bundle: RenderedBundle | undefined }>(2_000, () => 1)

/** Rejects with a GitError, and with TooLarge where the touched bundles exceed the limit. */
export async function readBundleDirectories(
  { paths }: Pick<Change, 'paths'>,
  places: BundleDirectoryPlaces,
): Promise<readonly PackageSources[]> {
  const touched = new Map<string, Map<string, BundlePlace>>()
  const configs = new Map<string, Set<string>>()
  for (const { path, role } of paths) {
    if (role.kind !== 'operator' && role.kind !== 'owners') continue
    const bundle = role.kind === 'operator' ? bundlePlaceOf(path) : undefined
    const directory = bundle?.directory ?? settingsOf.exec(path)?.groups?.directory
    if (directory === undefined) continue
    const its = touched.get(directory) ?? new Map<string, BundlePlace>()
    touched.set(directory, its)
    if (bundle) its.set(bundle.version, bundle)
    else configs.set(directory, (configs.get(directory) ?? new Set()).add(path))
  }
  const budget = { left: mostTouchedBytes }
  const found: PackageSources[] = []
  // Sequential, because they share a budget.
  for (const [directory, bundles] of [...touched].sort(([a], [b]) => (a < b ? -1 : 1)))
    found.push(
      await readPackage(
        directory,
        [...bundles.values()],
        configs.get(directory) ?? new Set(),
        budget,
        places,
      ),
    )
  return found
}

const settingsOf = /^operators\/(?<directory>[^/]+)\/(?:ci\.yaml|[^/]+\/release-config\.ya?ml)$/

async function readPackage(
  directory: string,
  places: readonly BundlePlace[],
  configs: ReadonlySet<string>,
  budget: { left: number },
  { repository, loader, layout, base, result }: BundleDirectoryPlaces,
): Promise<PackageSources> {
  const root = `operators/${directory}`
  const [before, after] = await Promise.all([repository.list(base, root), repository.list(result, root)])
  const touched: TouchedBundle[] = []
  const facts = new Map<string, BundleFacts>()
  for (const { root: its, version } of places.toSorted((a, b) => (a.version < b.version ? -1 : 1))) {
    const [old, now] = [bundleEntries(before, its), bundleEntries(after, its)]
    const isPublished = hasManifest(old, its)
    if (!now.some(({ path }) => bundlePlaceOf(path) !== undefined)) {
      if (!isPublished) continue
      const removed = bundleFacts(await readFiles(repository, neighbourEntries(old, its), its, budget))
      touched.push({ root: its, version, kind: 'removed', removed, findings: [] })
      continue
    }
    const judged = await judgeDirectory(
      { repository, cache: loader.cache ?? forgetfulCache },
      now,
      its,
      budget,
    )
    facts.set(version, judged.facts)
    touched.push({
      root: its,
      version,
      kind: isPublished ? 'changed' : 'added',
      findings: judged.findings,
      ...(judged.rendered && { rendered: judged.rendered }),
    })
  }
  const ciYaml = await readSettings(repository, after, `${root}/ci.yaml`)
  const isCiYamlTouched = configs.has(`${root}/ci.yaml`)
  const ciYamlBefore = isCiYamlTouched ? await readSettings(repository, before, `${root}/ci.yaml`) : undefined
  const settings: Pick<PackageSources, 'ciYaml' | 'ciYamlBefore'> = {
    ...(ciYaml && { ciYaml: { ...ciYaml, isTouched: isCiYamlTouched } }),
    ...(ciYamlBefore && { ciYamlBefore }),
  }
  const neighbours = { repository, cache: loader.cache ?? forgetfulCache }
  // Settings alone need no neighbors, unless they say how edges are made.
  const needsOthers =
    places.length > 0 || [...configs].some((path) => !path.endsWith('/ci.yaml')) || changesGraphMode(settings)
  const others = needsOthers ? await readNeighbours(neighbours, after, root, facts) : undefined
  const published = needsOthers ? await readNeighbours(neighbours, before, root, new Map()) : undefined
  const configured: Pick<TouchedBundle, 'root' | 'version' | 'rendered'>[] = []
  for (const version of configuredVersions(configs)) {
    const its = `${root}/${version}`
    const entries = bundleEntries(after, its)
    if (places.some((place) => place.version === version) || !hasManifest(entries, its)) continue
    const { rendered } = await judgeDirectory(neighbours, entries, its, budget)
    configured.push({ root: its, version, ...(rendered && { rendered }) })
  }
  const releaseConfigs = await Promise.all(
    [...configs]
      .filter((path) => !path.endsWith('/ci.yaml'))
      .sort()
      .map((path) => readSettings(repository, after, path)),
  )
  const sources: PackageSources = {
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
    templates: namesBelow(after, `${root}/catalog-templates/`),
  }
  // Opens catalogs only for versions that no directory has.
  const wanted = edgesToNowhere(sources)
  if (wanted.size === 0) return sources
  return {
    ...sources,
    catalogs: await bundlesInCatalogs(wanted, directory, { repository, loader, layout, result }),
  }
}

function configuredVersions(configs: ReadonlySet<string>): readonly string[] {
  return [...configs].flatMap((path) => /\/([^/]+)\/release-config\.ya?ml$/.exec(path)?.[1] ?? []).sort()
}

function namesBelow(entries: readonly ListedEntry[], prefix: string): ReadonlySet<string> {
  return new Set(
    entries.flatMap(({ path }) =>
      path.startsWith(prefix) && !path.slice(prefix.length).includes('/') ? [path.slice(prefix.length)] : [],
    ),
  )
}

async function judgeDirectory(
  { repository, cache }: { readonly repository: ReadTree; readonly cache: Cache },
  entries: readonly ListedEntry[],
  root: string,
  budget: { left: number },
): Promise<{
  readonly facts: BundleFacts
  readonly findings: readonly Finding[]
  readonly rendered: RenderedBundle | undefined
}> {
  const key = contentKey(entries, root)
  const [facts, findings, rendered] = [knownFacts.get(key), knownFindings.get(key), knownRendered.get(key)]
  if (facts && findings && rendered) return { facts, findings, rendered: rendered.bundle }
  const files = await readFiles(repository, entries, root, budget)
  const made = {
    facts: bundleFacts(files),
    // The suites come from the configuration, so they are applied later.
    findings: validateBundle(files, { packedSize, suites }).findings,
    rendered: renderDirectory(files),
  }
  knownFacts.set(key, made.facts)
  knownFindings.set(key, made.findings)
  knownRendered.set(key, { bundle: made.rendered })
  await keepNeighbour(cache, entries, root, files)
  return made
}

/** Uses the metadata of the ClusterServiceVersion instead of its objects, as current catalogs do. */
function renderDirectory(files: BundleFiles): RenderedBundle | undefined {
  const { bundle } = readRegistryBundle(files)
  // The image is set later; opm keeps the objects where it is empty.
  if (!bundle || migrationProblem(bundle, unknownImage) !== undefined) return undefined
  const { relatedImages = [], ...blob } = renderBundle(bundle, unknownImage, { csvMetadata: true })
  return {
    blob: { ...blob, image: '', relatedImages: relatedImages.filter(({ image }) => image !== unknownImage) },
    csv: templateCsv(bundle.csv.data),
  }
}

const unknownImage = 'image.invalid/unknown:unknown'

async function readSettings(
  repository: ReadTree,
  entries: readonly ListedEntry[],
  path: string,
): Promise<SettingsText | undefined> {
  const entry = entries.find((one) => one.path === path)
  if (entry?.mode.startsWith('100') !== true) return undefined
  return { path, text: await readText(repository, entry.oid) }
}

async function bundlesInCatalogs(
  wanted: ReadonlySet<string>,
  directory: string,
  {
    repository,
    loader,
    layout,
    result,
  }: Pick<BundleDirectoryPlaces, 'repository' | 'loader' | 'layout' | 'result'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>()
  for (const { root } of layout.catalogs) {
    const place = root === '' ? directory : `${root}/${directory}`
    const catalog = await loader.load(repository, result, place)
    for (const name of new Set(catalog?.bundles.map((bundle) => bundle.name)))
      if (wanted.has(name)) found.set(name, [...(found.get(name) ?? []), root])
  }
  return found
}
