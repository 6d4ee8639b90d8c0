// Reads the bundle directories that a change touches, and as much of their neighbours as tells where they stand among
// them. From git's blobs, never checked out; what is made of a directory is kept by what is in it, and so costs once.
import { bundleFacts, type BundleFacts } from '../bundle/bundle-facts.ts'
import type { BundleFiles } from '../bundle/bundle-files.ts'
import { validateBundle } from '../bundle/validate-bundle.ts'
import type { Change } from '../change/change.ts'
import type { TreeSha } from '../change/ids.ts'
import { bundlePlaceOf, type BundlePlace } from '../change/layout/bundle-directory.ts'
import type { Layout } from '../change/layout/layout.ts'
import type { TreeEntry } from '../change/path-change.ts'
import type { PackageSources, SettingsText, TouchedBundle } from '../checks/bundles/package-sources.ts'
import { edgesToNowhere } from '../checks/bundles/edges.ts'
import type { Finding } from '../findings/finding.ts'
import { suites } from '../findings/suites.ts'
import { isGitError } from '../git/git-error.ts'
import type { ReadTree } from '../ports/repository.ts'
import { packedSize } from '../registry/unpack/packed-size.ts'
import { readText, type CatalogLoader } from './catalogs/catalog-loader.ts'
import { LruMap } from './catalogs/lru-map.ts'
import { TooLarge } from './looks/look-budget.ts'

export interface BundleDirectoryPlaces {
  readonly repository: ReadTree
  readonly loader: CatalogLoader
  readonly layout: Layout
  readonly base: TreeSha
  readonly result: TreeSha
}

type Listed = { readonly path: string } & TreeEntry

/** Of all touched bundles together: judging a megabyte takes about a tenth of a second. The largest public release has 3 MB. */
const mostTouchedBytes = 128 * 1024 * 1024
/** One file of a bundle; the API server takes no object beyond a hundredth of this. */
const largestFile = 16 * 1024 * 1024
/** Files that are asked for in one go: each way to git and back costs more than a small file. */
const readAtOnce = 8
/** Of the neighbours that are read for one package; the largest public one has a third of this. */
const mostNeighbourBytes = 96 * 1024 * 1024

/** Facts and findings are a few kilobytes a bundle. */
const knownFacts = new LruMap<string, BundleFacts>(20_000, () => 1)
const knownFindings = new LruMap<string, readonly Finding[]>(50_000, (found) => 1 + found.length)

/** Rejects with a GitError, and with TooLarge where the touched bundles are larger than is read. */
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
  // One after the other: each has many files, and they share a budget.
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
    const judged = await judgeDirectory(repository, now, its, budget)
    facts.set(version, judged.facts)
    touched.push({ root: its, version, kind: isPublished ? 'changed' : 'added', findings: judged.findings })
  }
  // Settings alone say nothing of edges: then no neighbour is read.
  const needsOthers = places.length > 0 || [...configs].some((path) => !path.endsWith('/ci.yaml'))
  const others = needsOthers ? await readNeighbours(repository, after, root, facts) : undefined
  const published = needsOthers ? await readNeighbours(repository, before, root, new Map()) : undefined
  const ciYaml = await readSettings(repository, after, `${root}/ci.yaml`)
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
    declared: new Set(
      [...(published?.values() ?? [])].flatMap((one) => (one.package ? [one.package.text] : [])),
    ),
    catalogs: new Map(),
    ...(ciYaml && { ciYaml: { ...ciYaml, isTouched: configs.has(ciYaml.path) } }),
    releaseConfigs: releaseConfigs.filter((one) => one !== undefined),
    templates: namesBelow(after, `${root}/catalog-templates/`),
  }
  // What is nowhere among the directories may be in a catalog: those are opened only then.
  const wanted = edgesToNowhere(sources)
  if (wanted.size === 0) return sources
  return {
    ...sources,
    catalogs: await bundlesInCatalogs(wanted, directory, { repository, loader, layout, result }),
  }
}

/** Files of a bundle's directory; links and submodules are the ownership check's to refuse. */
function bundleEntries(entries: readonly Listed[], root: string): readonly Listed[] {
  return entries.filter(({ path, mode }) => path.startsWith(`${root}/`) && mode.startsWith('100'))
}

const hasManifest = (entries: readonly Listed[], root: string): boolean =>
  entries.some(({ path }) => path.startsWith(`${root}/manifests/`))

function namesBelow(entries: readonly Listed[], prefix: string): ReadonlySet<string> {
  return new Set(
    entries.flatMap(({ path }) =>
      path.startsWith(prefix) && !path.slice(prefix.length).includes('/') ? [path.slice(prefix.length)] : [],
    ),
  )
}

/** What is in a directory, as text: the same wherever the directory lies. */
function contentKey(entries: readonly Listed[], root: string): string {
  return entries.map(({ path, oid }) => `${oid} ${path.slice(root.length + 1)}`).join('\n')
}

async function judgeDirectory(
  repository: ReadTree,
  entries: readonly Listed[],
  root: string,
  budget: { left: number },
): Promise<{ readonly facts: BundleFacts; readonly findings: readonly Finding[] }> {
  const key = contentKey(entries, root)
  const [facts, findings] = [knownFacts.get(key), knownFindings.get(key)]
  if (facts && findings) return { facts, findings }
  const files = await readFiles(repository, entries, root, budget)
  const made = {
    facts: bundleFacts(files),
    // Which of the suites count is known only where the configuration is.
    findings: validateBundle(files, { packedSize, suites }).findings,
  }
  knownFacts.set(key, made.facts)
  knownFindings.set(key, made.findings)
  return made
}

async function readFiles(
  repository: ReadTree,
  entries: readonly Listed[],
  root: string,
  budget: { left: number },
): Promise<BundleFiles> {
  const files = new Map<string, Uint8Array>()
  for (let at = 0; at < entries.length; at += readAtOnce) {
    const read = await Promise.all(
      entries
        .slice(at, at + readAtOnce)
        .map(async ({ path, oid }) => [path, await readOne(repository, oid, path)] as const),
    )
    for (const [path, bytes] of read) {
      budget.left -= bytes.length
      if (budget.left < 0)
        throw new TooLarge(
          `its bundle directories have more than ${Math.floor(mostTouchedBytes / 1024 / 1024)} MB together`,
        )
      files.set(path.slice(root.length + 1), bytes)
    }
  }
  return files
}

async function readOne(repository: ReadTree, oid: Listed['oid'], path: string): Promise<Uint8Array> {
  try {
    return await repository.read(oid, largestFile)
  } catch (error) {
    if (isGitError(error, 'too-large'))
      throw new TooLarge(`${path} has more than ${largestFile / 1024 / 1024} MB`)
    throw error
  }
}

/** The files that tell where a bundle stands: its annotations, and the file that is named like a ClusterServiceVersion. */
function neighbourEntries(entries: readonly Listed[], root: string): readonly Listed[] {
  const its = bundleEntries(entries, root)
  const named = its.filter(({ path }) => /\/manifests\/[^/]*(?:clusterserviceversion|csv)[^/]*$/i.test(path))
  return its.filter(
    (one) =>
      one.path.startsWith(`${root}/metadata/`) ||
      (one.path.startsWith(`${root}/manifests/`) ? named.length === 0 || named.includes(one) : false),
  )
}

/** Facts of every bundle directory; those in `known` are not read. Undefined where they are too large together. */
async function readNeighbours(
  repository: ReadTree,
  entries: readonly Listed[],
  root: string,
  known: ReadonlyMap<string, BundleFacts>,
): Promise<ReadonlyMap<string, BundleFacts> | undefined> {
  const byVersion = new Map<string, Listed[]>()
  for (const entry of entries) {
    const place = bundlePlaceOf(entry.path)
    if (place === undefined || place.root !== `${root}/${place.version}`) continue
    const its = byVersion.get(place.version)
    if (its) its.push(entry)
    else byVersion.set(place.version, [entry])
  }
  const budget = { left: mostNeighbourBytes }
  const found = new Map(known)
  for (const [version, all] of byVersion) {
    const its = `${root}/${version}`
    if (found.has(version) || !hasManifest(all, its)) continue
    const wanted = neighbourEntries(all, its)
    const key = `neighbour ${contentKey(wanted, its)}`
    const facts = knownFacts.get(key) ?? (await factsOf(wanted, its))
    if (facts === undefined) return undefined
    knownFacts.set(key, facts)
    found.set(version, facts)
  }
  return found

  async function factsOf(wanted: readonly Listed[], its: string): Promise<BundleFacts | undefined> {
    try {
      return bundleFacts(await readFiles(repository, wanted, its, budget), { places: false })
    } catch (error) {
      if (error instanceof TooLarge) return undefined
      throw error
    }
  }
}

async function readSettings(
  repository: ReadTree,
  entries: readonly Listed[],
  path: string,
): Promise<SettingsText | undefined> {
  const entry = entries.find((one) => one.path === path)
  if (entry?.mode.startsWith('100') !== true) return undefined
  return { path, text: await readText(repository, entry.oid) }
}

/** Which of the names the package's directories in catalogs have, and in which catalogs. */
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
