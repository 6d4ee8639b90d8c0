// A catalog as rules look at it: packages with their channels and bundles, versions and graphs worked out once.
// Broken catalogs have views too: what a blob does not say is absent or empty, and nothing here complains.
import type {
  BundleBlob,
  Catalog,
  ChannelBlob,
  ChannelEntry,
  DeprecationBlob,
  Json,
  PackageBlob,
  Property,
} from '../../catalog/catalog.ts'
import { fieldText } from './field-text.ts'
import { upgradeGraph } from '../../catalog/upgrade-graph.ts'
import type { UpgradeGraph } from '../../catalog/upgrade-graph.ts'
import { parseVersion } from '../../catalog/version.ts'
import type { Version } from '../../catalog/version.ts'
import { VersionLadder } from '../../catalog/version-ladder.ts'

export interface CatalogView {
  readonly catalog: Catalog
  /** In the order in which the catalog first names them. */
  readonly packages: readonly PackageView[]
  package(name: string): PackageView | undefined
}

export interface PackageView {
  readonly name: string
  /** The `olm.package` blob; absent where other blobs name a package that nobody declares. */
  readonly blob?: PackageBlob
  readonly channels: readonly ChannelView[]
  readonly bundles: readonly BundleView[]
  /** The first bundle of that name. */
  bundle(name: string): BundleView | undefined
  /** The bundles in the order of their versions. */
  ladder(): VersionLadder<BundleView>
  readonly deprecations: readonly DeprecationBlob[]
  /** Whether the package (name ''), a channel or a bundle is deprecated. */
  isDeprecated(schema: 'olm.package' | 'olm.channel' | 'olm.bundle', name: string): boolean
}

export interface ChannelView {
  readonly blob: ChannelBlob
  readonly graph: UpgradeGraph
  /** The only head's entry; absent where there are none or several. */
  readonly head?: ChannelEntry
}

export interface BundleView {
  readonly blob: BundleBlob
  /** The text of its (first) `olm.package` property; '' where there is none. */
  readonly versionText: string
  /** Absent where the text is no version. */
  readonly version?: Version
  /** Properties of one type. */
  properties(type: string): readonly Property[]
}

export function viewCatalog(catalog: Catalog): CatalogView {
  const parts = new Map<string, Parts>()
  const of = (name: string): Parts => {
    const known = parts.get(name)
    if (known) return known
    const made: Parts = { blobs: [], channels: [], bundles: [], deprecations: [] }
    parts.set(name, made)
    return made
  }
  for (const blob of catalog.packages) of(blob.name).blobs.push(blob)
  for (const blob of catalog.channels) of(blob.package).channels.push(blob)
  for (const blob of catalog.bundles) of(blob.package).bundles.push(blob)
  for (const blob of catalog.deprecations) of(blob.package).deprecations.push(blob)
  const views = new Map([...parts].map(([name, its]) => [name, viewPackage(name, its)]))
  return { catalog, packages: [...views.values()], package: (name) => views.get(name) }
}

interface Parts {
  readonly blobs: PackageBlob[]
  readonly channels: ChannelBlob[]
  readonly bundles: BundleBlob[]
  readonly deprecations: DeprecationBlob[]
}

function viewPackage(name: string, { blobs, channels, bundles, deprecations }: Parts): PackageView {
  const [blob] = blobs
  const views = bundles.map(viewBundle)
  // Made when they are first asked for: a catalog can have packages by the hundred thousand with nothing in them.
  let byName: ReadonlyMap<string, BundleView> | undefined
  let deprecated: ReadonlySet<string> | undefined
  let ladder: VersionLadder<BundleView> | undefined
  return {
    name,
    ...(blob && { blob }),
    channels: channels.map(viewChannel),
    bundles: views,
    bundle: (bundle) => (byName ??= firstByName(views)).get(bundle),
    ladder: () => (ladder ??= new VersionLadder(views, ({ version }) => version)),
    deprecations,
    isDeprecated: (schema, object) =>
      deprecations.length > 0 && (deprecated ??= subjectsOf(deprecations)).has(`${schema} ${object}`),
  }
}

function firstByName(bundles: readonly BundleView[]): ReadonlyMap<string, BundleView> {
  // Of several the first stays.
  return new Map(bundles.toReversed().map((bundle) => [bundle.blob.name, bundle]))
}

function subjectsOf(deprecations: readonly DeprecationBlob[]): ReadonlySet<string> {
  return new Set(
    deprecations.flatMap(({ entries }) => entries.map((entry) => `${entry.schema} ${entry.name}`)),
  )
}

function viewChannel(blob: ChannelBlob): ChannelView {
  const graph = upgradeGraph(blob.entries)
  const head = graph.heads.length === 1 ? blob.entries.find(({ name }) => name === graph.heads[0]) : undefined
  return { blob, graph, ...(head && { head }) }
}

function viewBundle(blob: BundleBlob): BundleView {
  let byType: ReadonlyMap<string, readonly Property[]> | undefined
  const properties = (type: string): readonly Property[] => {
    if (blob.properties.length === 0) return none
    return (byType ??= Map.groupBy(blob.properties, (property) => property.type)).get(type) ?? none
  }
  const own = blob.properties.find(({ type }) => type === 'olm.package')
  const versionText = own ? fieldText(own.value, 'version') : ''
  const version = parseVersion(versionText)
  return { blob, versionText, ...(version.ok && { version: version.value }), properties }
}

const none: readonly Property[] = []

/** A JSON value that is an object, or undefined. */
export function asObject(value: Json | undefined): Readonly<Record<string, Json>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, Json>>)
    : undefined
}
