// A package of a catalog as stored for web pages: plain JSON that is created once for each state of the catalog, so
// that a page reads one row.
import { buildPackageGraphs, type PackageGraph } from '@catalog-bot/fbc/graph/package-graph'
import { compareVersions, parseVersion } from '@catalog-bot/fbc/versions/version'
import type { BundleBlob, Catalog, CsvMetadata } from '@catalog-bot/fbc/facts/catalog'
import { findBundlesReachingChannelHead } from '@catalog-bot/fbc/graph/upgrade-graph'
import { getJsonStringField } from '@catalog-bot/fbc/go/json/json'

export interface RecordedCatalog {
  /** Used in URLs: unique in the repository, without a slash. */
  readonly key: string
  readonly root: string
  readonly branch: string
  readonly commit: string
  readonly version?: string
  /** A digest of the inputs. If the digests are equal, the packages are unchanged. */
  readonly content: string
  /** Milliseconds since the epoch. */
  readonly recordedAt: number
}

export interface RecordedBundle {
  readonly name: string
  readonly version: string
  readonly image: string
  readonly channels: readonly string[]
  readonly deprecated?: string
  readonly minKubeVersion?: string
  readonly installModes?: readonly string[]
  /** Whether it cannot be upgraded to the head of any of its channels after installation. */
  readonly isStranded?: true
}

export interface RecordedImage {
  readonly reference: string
  /** Bundles that use it as their own or a related image. */
  readonly bundles: readonly string[]
}

export interface RecordedChannel {
  readonly name: string
  readonly entries: number
  readonly heads: readonly string[]
  readonly isDefault: boolean
  readonly deprecated?: string
}

export interface RecordedPackage {
  readonly name: string
  readonly displayName?: string
  readonly description: string
  readonly defaultChannel: string
  readonly deprecated?: string
  readonly owners: readonly string[]
  readonly channels: readonly RecordedChannel[]
  /** Newest first. */
  readonly bundles: readonly RecordedBundle[]
  readonly images: readonly RecordedImage[]
  /** Absent if it has too many edges to draw. */
  readonly graph?: PackageGraph
}

export interface PackageSummary {
  readonly name: string
  readonly displayName?: string
  readonly defaultChannel: string
  /** The heads of the default channel, or of all channels if there is no default channel. */
  readonly heads: readonly string[]
  readonly versions: number
  readonly newest?: string
  readonly owners: readonly string[]
  readonly deprecated?: string
  /** Names of bundles. */
  readonly stranded: readonly string[]
}

const maxRecordedStrandedBundles = 50
const maxRecordedChannelHeads = 5

export function summarizePackage(of: RecordedPackage): PackageSummary {
  const { name, displayName, defaultChannel, channels, bundles, owners, deprecated } = of
  const [newest] = bundles
  const chosen = channels.filter(({ isDefault }) => isDefault)
  const heads = (chosen.length > 0 ? chosen : channels).flatMap((channel) => channel.heads)
  return {
    name,
    ...(displayName !== undefined && { displayName }),
    defaultChannel,
    heads: [...new Set(heads)].slice(0, maxRecordedChannelHeads),
    versions: bundles.length,
    ...(newest !== undefined && newest.version !== '' && { newest: newest.version }),
    owners,
    ...(deprecated !== undefined && { deprecated }),
    stranded: bundles
      .filter(({ isStranded }) => isStranded)
      .map((bundle) => bundle.name)
      .slice(0, maxRecordedStrandedBundles),
  }
}

/** Additional bundles are omitted to keep the page readable. */
const maxRecordedBundles = 500
const maxRecordedImages = 2000
const maxRecordedGraphEdges = 3000
const maxRecordedTextLength = 2000

/** Yields every package that a catalog declares or refers to, by name. A generator, because there can be many. */
export function* toRecordedPackages(
  catalog: Catalog,
  ownersOf: (packageName: string, file: string) => readonly string[],
): Generator<RecordedPackage> {
  const bundles = Map.groupBy(catalog.bundles, ({ package: of }) => of)
  const blobs = new Map(catalog.packages.map((blob) => [blob.name, blob]))
  const channels = Map.groupBy(catalog.channels, ({ package: of }) => of)
  const graphs = new Map(buildPackageGraphs(catalog).map((graph) => [graph.name, graph]))
  const deprecations = getDeprecationMessages(catalog)
  const names = [...new Set([...blobs.keys(), ...channels.keys(), ...bundles.keys()])]
    .filter((name) => name !== '')
    .sort()
  for (const name of names) {
    const blob = blobs.get(name)
    const its = channels.get(name) ?? []
    const graph = graphs.get(name)
    const deprecatedAs: DeprecationLookup = (schema, object) =>
      deprecations.get(`${name}\n${schema}\n${object}`)
    const own = sortBundlesNewestFirst(bundles.get(name) ?? []).slice(0, maxRecordedBundles)
    const newest = own[0] && findCsvMetadata(own[0].bundle)
    const deprecated = deprecatedAs('olm.package', '')
    const edges = graph?.channels.reduce(
      (sum, channel) => sum + channel.edges.length + channel.nodes.length,
      0,
    )
    yield {
      name,
      ...(newest && newest.displayName !== '' && { displayName: truncateText(newest.displayName) }),
      description: truncateText(blob?.description ?? ''),
      defaultChannel: blob?.defaultChannel ?? '',
      ...(deprecated !== undefined && { deprecated: truncateText(deprecated) }),
      owners: ownersOf(name, (blob ?? its[0] ?? own[0]?.bundle)?.place.file ?? ''),
      channels: (graph?.channels ?? []).map((channel) => {
        const reason = deprecatedAs('olm.channel', channel.name)
        return {
          name: channel.name,
          entries: channel.nodes.filter(({ isEntry }) => isEntry).length,
          heads: channel.heads,
          isDefault: channel.isDefault,
          ...(reason !== undefined && { deprecated: truncateText(reason) }),
        }
      }),
      bundles: toRecordedBundles(own, its, deprecatedAs),
      images: collectRecordedImages(own.map(({ bundle }) => bundle)),
      ...(graph && edges !== undefined && edges <= maxRecordedGraphEdges && { graph }),
    }
  }
}

type DeprecationLookup = (schema: string, object: string) => string | undefined

function toRecordedBundles(
  own: ReturnType<typeof sortBundlesNewestFirst>,
  channels: Catalog['channels'],
  deprecatedAs: DeprecationLookup,
): RecordedPackage['bundles'] {
  const versions = new Map(own.map(({ bundle, parsed }) => [bundle.name, parsed]))
  const reaching = new Set(
    channels.flatMap(({ entries }) => [
      ...findBundlesReachingChannelHead(
        entries,
        entries.map((entry) => {
          const version = versions.get(entry.name)
          return { name: entry.name, ...(version?.ok === true && { version: version.value }) }
        }),
      ),
    ]),
  )
  return own.map(({ bundle, version }) => {
    const metadata = findCsvMetadata(bundle)
    const inChannels = channels.filter(({ entries }) => entries.some((entry) => entry.name === bundle.name))
    const deprecated = deprecatedAs('olm.bundle', bundle.name)
    return {
      name: bundle.name,
      version,
      image: truncateText(bundle.image),
      channels: inChannels.map((channel) => channel.name),
      ...(deprecated !== undefined && { deprecated: truncateText(deprecated) }),
      ...(metadata &&
        metadata.minKubeVersion !== '' && { minKubeVersion: truncateText(metadata.minKubeVersion) }),
      ...(metadata && {
        installModes: metadata.installModes
          .filter(({ supported }) => supported)
          .map(({ type }) => truncateText(type)),
      }),
      ...(inChannels.length > 0 && !reaching.has(bundle.name) && { isStranded: true as const }),
    }
  })
}

function getDeprecationMessages(catalog: Catalog): ReadonlyMap<string, string> {
  return new Map(
    catalog.deprecations.flatMap((blob) =>
      blob.entries.map(
        ({ schema, name, message }) => [`${blob.package}\n${schema}\n${name}`, message] as const,
      ),
    ),
  )
}

function sortBundlesNewestFirst(bundles: readonly BundleBlob[]) {
  return bundles
    .map((bundle) => {
      const version = bundle.properties
        .filter(({ type }) => type === 'olm.package')
        .map(({ value }) => getJsonStringField(value, 'version'))
        .join('')
      return { bundle, version: truncateText(version), parsed: parseVersion(version) }
    })
    .sort((a, b) =>
      a.parsed.ok && b.parsed.ok
        ? compareVersions(b.parsed.value, a.parsed.value)
        : Number(b.parsed.ok) - Number(a.parsed.ok),
    )
}

function findCsvMetadata({ properties }: BundleBlob): CsvMetadata | undefined {
  const found = properties.find(({ type, error }) => type === 'olm.csv.metadata' && error === undefined)
  return found?.value as CsvMetadata | undefined
}

function collectRecordedImages(bundles: readonly BundleBlob[]): readonly RecordedImage[] {
  const images = new Map<string, Set<string>>()
  for (const { name, image, relatedImages } of bundles)
    for (const reference of [image, ...relatedImages.map((related) => related.image)]) {
      if (reference === '') continue
      const known = images.get(reference)
      if (known) known.add(name)
      else if (images.size < maxRecordedImages) images.set(reference, new Set([name]))
    }
  return [...images].map(([reference, names]) => ({ reference, bundles: [...names] }))
}

function truncateText(text: string): string {
  return text.length <= maxRecordedTextLength
    ? text
    : `${text.slice(0, maxRecordedTextLength - 1).toWellFormed()}…`
}

/** Returns catalog names for URLs: the version if it is unique, else the directory, else the whole path. */
export function createCatalogUrlSegments(
  catalogs: readonly { readonly root: string; readonly version?: string }[],
) {
  const lastSegment = (root: string) => root.split('/').at(-1) ?? ''
  const fullPathKey = (root: string) => (root === '' ? 'catalog' : root.replaceAll('/', '~'))
  const keyFormats = [
    ({ root }: { root: string }) => lastSegment(root),
    ({ version, root }: { root: string; version?: string }) =>
      version === undefined ? fullPathKey(root) : `v${version}`,
  ]
  for (const keyFormat of keyFormats) {
    const keys = catalogs.map(keyFormat)
    if (new Set(keys).size === keys.length && keys.every((key) => key !== '')) return keys
  }
  return catalogs.map(({ root }) => fullPathKey(root))
}
