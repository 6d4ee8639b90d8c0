// A catalog as rules see it: packages with channels, bundles, versions, and graphs. Broken catalogs have views too;
// missing data is absent or empty.
import {
  getPackageBlobs,
  type BundleBlob,
  type Catalog,
  type ChannelBlob,
  type ChannelEntry,
  type DeprecationBlob,
  type PackageBlob,
  type PackageBlobs,
  type Property,
  type StrictDecodingProblem,
  type CsvMetadata,
} from '@catalog-bot/fbc/facts/catalog'
import { type Json, getJsonStringField, isJsonObject } from '@catalog-bot/fbc/go/json/json'
import { analyzeUpgradeGraph, type UpgradeGraph } from '@catalog-bot/fbc/graph/upgrade-graph'
import { parseVersion, type Version, compareVersions } from '@catalog-bot/fbc/versions/version'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import type { Location } from '@catalog-bot/findings/finding'
import { parseVersionRange, VersionIndex } from '@catalog-bot/fbc/versions/version-range'
import type { TextPosition } from '@catalog-bot/fbc/go/position-lookup'

type LocatedStrictDecodingProblem<
  Kind extends StrictDecodingProblem['kind'] = StrictDecodingProblem['kind'],
> = Extract<StrictDecodingProblem, { kind: Kind }> & { readonly file: string }

export interface CatalogView {
  readonly catalog: Catalog
  /** In order of first appearance. */
  readonly packages: readonly PackageView[]
  package(name: string): PackageView | undefined
}

export interface ChannelView {
  readonly blob: ChannelBlob
  readonly graph: UpgradeGraph
  /** Absent if there is no head or more than one. */
  readonly head?: ChannelEntry
}

export interface BundleView {
  readonly blob: BundleBlob
  /** From the first `olm.package` property; '' if absent. */
  readonly versionText: string
  readonly version?: Version
  properties(type: string): readonly Property[]
}

export function createCatalogView(catalog: Catalog): CatalogView {
  const views = new Map<string, PackageView>()
  for (const [name, its] of getPackageBlobs(catalog))
    // Blobs of other schemas alone do not make a package.
    if (its.packages.length + its.channels.length + its.bundles.length + its.deprecations.length > 0)
      views.set(name, createPackageView(its))
  return { catalog, packages: [...views.values()], package: (name) => views.get(name) }
}

export const createPackageView = memoizePerObject((its: PackageBlobs) => new PackageView(its))

/** Builds lookups lazily: a catalog can have hundreds of thousands of small packages. */
export class PackageView {
  readonly name: string
  /** The `olm.package` blob; undefined if no blob declares the package. */
  readonly blob: PackageBlob | undefined
  readonly channels: readonly ChannelView[]
  readonly bundles: readonly BundleView[]
  readonly deprecations: readonly DeprecationBlob[]
  private channelsByName: ReadonlyMap<string, ChannelView> | undefined
  private bundlesByName: ReadonlyMap<string, BundleView> | undefined
  private deprecated: ReadonlySet<string> | undefined
  private versions: VersionIndex<BundleView> | undefined

  constructor({ packages, channels, bundles, deprecations }: PackageBlobs) {
    this.blob = packages[0]
    this.name = this.blob?.name ?? (channels[0] ?? bundles[0] ?? deprecations[0])?.package ?? ''
    this.channels = channels.length === 0 ? emptyArray : channels.map(createChannelView)
    this.bundles = bundles.length === 0 ? emptyArray : bundles.map(createBundleView)
    this.deprecations = deprecations
  }

  /** The first channel with that name. */
  channel(name: string): ChannelView | undefined {
    return (this.channelsByName ??= indexByName(this.channels)).get(name)
  }

  /** The first bundle with that name. */
  bundle(name: string): BundleView | undefined {
    return (this.bundlesByName ??= indexByName(this.bundles)).get(name)
  }

  ladder(): VersionIndex<BundleView> {
    return (this.versions ??= new VersionIndex(this.bundles, ({ version }) => version))
  }

  /** For `olm.package`, the name is ''. */
  isDeprecated(schema: 'olm.package' | 'olm.channel' | 'olm.bundle', name: string): boolean {
    if (this.deprecations.length === 0) return false
    return (this.deprecated ??= collectDeprecationEntryKeys(this.deprecations)).has(`${schema} ${name}`)
  }
}

const emptyArray: readonly never[] = []

function indexByName<View extends { readonly blob: { readonly name: string } }>(views: readonly View[]) {
  // The first of several wins.
  return new Map(views.toReversed().map((view) => [view.blob.name, view]))
}

function collectDeprecationEntryKeys(deprecations: readonly DeprecationBlob[]): ReadonlySet<string> {
  return new Set(
    deprecations.flatMap(({ entries }) => entries.map((entry) => `${entry.schema} ${entry.name}`)),
  )
}

const createChannelView = memoizePerObject((blob: ChannelBlob): ChannelView => {
  const graph = analyzeUpgradeGraph(blob.entries)
  const head = graph.heads.length === 1 ? blob.entries.find(({ name }) => name === graph.heads[0]) : undefined
  return { blob, graph, ...(head && { head }) }
})

const createBundleView = memoizePerObject((blob: BundleBlob): BundleView => {
  let byType: ReadonlyMap<string, readonly Property[]> | undefined
  const properties = (type: string): readonly Property[] => {
    if (blob.properties.length === 0) return emptyPropertyList
    return (
      (byType ??= Map.groupBy(blob.properties, (property) => property.type)).get(type) ?? emptyPropertyList
    )
  }
  const own = blob.properties.find(({ type }) => type === 'olm.package')
  const versionText = own ? getStringField(own.value, 'version') : ''
  const version = parseVersion(versionText)
  return { blob, versionText, ...(version.ok && { version: version.value }), properties }
})

const emptyPropertyList: readonly Property[] = []

export function asJsonObject(value: Json | undefined): Readonly<Record<string, Json>> | undefined {
  return isJsonObject(value) ? value : undefined
}

export function listStrictDecodingProblems<Kind extends StrictDecodingProblem['kind']>(
  view: CatalogView,
  kind: Kind,
) {
  return (view.catalog.oddities ?? []).filter(
    (leniency): leniency is LocatedStrictDecodingProblem<Kind> => leniency.kind === kind,
  )
}

export function toStrictDecodingRuleHit(leniency: LocatedStrictDecodingProblem, what: string) {
  const { file, mark, schema, package: inPackage, name } = leniency
  // A package blob's name is its package.
  const owner = schema === 'olm.package' ? name : inPackage
  const isKey = leniency.kind === 'unknown-field' || leniency.kind === 'repeated-key'
  const at: Location = { file, line: mark.line, column: mark.column, ...(isKey && { extent: 'key' }) }
  return { at, about: [owner, schema, name, what] }
}

/** The type of the property whose value contains the leniency; undefined elsewhere. */
export function findEnclosingPropertyType(
  view: CatalogView,
  { package: inPackage, name, path }: { package: string; name: string; path: string },
): string | undefined {
  const [, index] = /^properties\[(\d+)\]\.value\./i.exec(path) ?? []
  if (index === undefined) return undefined
  return view.package(inPackage)?.bundle(name)?.blob.properties[Number(index)]?.type
}

/** The exact field if it is a string, or else the first case-insensitive match, as in Go; '' if absent. */
export function getStringField(value: Json, field: string): string {
  const exact = isJsonObject(value) ? value[field] : undefined
  return typeof exact === 'string' ? exact : getJsonStringField(value, field)
}

/**
 * The highest bundle newer than the channel's head. Undefined if the head is the highest, is not unique, or has no
 * known version.
 */
export function findBundleNewerThanChannelHead(its: PackageView, { blob, head }: ChannelView) {
  const own = head && its.bundle(head.name)
  if (own?.version === undefined) return undefined
  let highest = own
  for (const { name } of blob.entries) {
    const other = its.bundle(name)
    if (other?.version && highest.version && compareVersions(other.version, highest.version) > 0)
      highest = other
  }
  return highest === own ? undefined : highest
}

/** Entries with a skipRange that parses; opm rejects the others. */
export function* listSkipRanges(its: PackageView) {
  for (const channel of its.channels) {
    for (const entry of channel.blob.entries) {
      if (entry.skipRange === '') continue
      const own = its.bundle(entry.name)
      const range = parseVersionRange(entry.skipRange)
      if (own && range.ok) yield { channel, entry, own, range: range.value }
    }
  }
}

/** Skips properties that do not decode, because opm rejects those. */
export function listCsvMetadata(
  bundle: BundleView,
): { readonly metadata: CsvMetadata; readonly mark: TextPosition }[] {
  return bundle
    .properties('olm.csv.metadata')
    .filter(
      ({ value, error }) =>
        error === undefined && typeof value === 'object' && value !== null && 'installModes' in value,
    )
    .map(({ value, mark }) => ({ metadata: value as unknown as CsvMetadata, mark }))
}
