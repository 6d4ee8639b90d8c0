// A catalog as OLM's resolver sees it: one entry for each bundle in each channel, what it provides and what it requires.
// Plain lookups; chooses nothing.
import type { BundleBlob, Catalog, ChannelEntry } from '../../../catalog/facts/catalog.ts'
import { parseVersionRange, type VersionRange } from '../../../catalog/versions/version-range.ts'
import { parseVersion, parseVersionTolerantly, type Version } from '../../../catalog/versions/version.ts'
import type { Json } from '../../../go/json/json.ts'
import { once, oncePer } from '../../../findings/once.ts'
import { textField } from '../../../go/json/json-fields.ts'
import { channelOrder, type ChannelOrder } from './channel-order.ts'
import { requirementOf, type Requirement } from './requirement.ts'

export interface PropertyValue {
  readonly type: string
  readonly value: Json
}

/** What an Operator says of itself, whether a catalog offers it or it is installed. */
export interface OperatorFacts {
  readonly name: string
  /** As OLM holds them: required APIs and packages of a catalog's bundle stand there twice. */
  readonly properties: readonly PropertyValue[]
  /** APIs of `olm.gvk`, by apiKey, as often as they are listed. */
  readonly provided: readonly string[]
  /** Of `olm.package`. */
  readonly packages: readonly { readonly name: string; readonly version?: Version }[]
  readonly labels: readonly string[]
  readonly isDeprecated: boolean
  /** Every dependency; asked for late, for one that cannot be read makes OLM give up. Throws a ResolverError. */
  readonly requirements: () => readonly Requirement[]
}

export interface OperatorEntry {
  /** The catalog's name; undefined for what is installed. */
  readonly catalog: string | undefined
  readonly package: string
  /** '' for what is installed. */
  readonly channel: string
  readonly isDefaultChannel: boolean
  readonly name: string
  readonly replaces: string
  readonly skips: readonly string[]
  readonly skipRange: VersionRange | undefined
  readonly version: Version | undefined
  readonly facts: OperatorFacts
}

/** One channel's entries. `order` is from the head down; OLM gives up where it cannot tell one. */
export interface ChannelOfEntries {
  readonly package: string
  readonly name: string
  readonly isDefault: boolean
  readonly entries: readonly OperatorEntry[]
  readonly order: () => ChannelOrder
}

export interface EntriesOfPackage {
  readonly name: string
  readonly defaultChannel: string
  /** The default channel in front, then by name: the order in which OLM prefers them. */
  readonly channels: readonly ChannelOfEntries[]
}

/** The catalog behind one CatalogSource. */
export interface CatalogEntries {
  readonly name: string
  readonly packages: ReadonlyMap<string, EntriesOfPackage>
  /** The entries of a name and channel, of whichever package. */
  countOf(name: string, channel: string): number
  /** Packages of which some bundle provides the API. */
  providersOf(api: string): readonly EntriesOfPackage[]
}

/** What makes OLM give up altogether; it tries again, and nothing is installed in the meantime. */
export class ResolverError extends Error {}

export function catalogEntries(catalog: Catalog, name: string): CatalogEntries {
  const bundles = Map.groupBy(catalog.bundles, (bundle) => bundle.package)
  const channels = Map.groupBy(catalog.channels, (channel) => channel.package)
  const packages = new Map<string, EntriesOfPackage>()
  for (const { name: its, defaultChannel } of catalog.packages) {
    if (packages.has(its)) continue
    const facts = new Map((bundles.get(its) ?? []).toReversed().map((blob) => [blob.name, factsOfBlob(blob)]))
    const found = (channels.get(its) ?? []).map((blob): ChannelOfEntries => {
      const isDefault = blob.name === defaultChannel
      const entries = blob.entries.flatMap((entry) => {
        const own = facts.get(entry.name)
        return own ? [entryOf(name, its, blob.name, isDefault, entry, own)] : []
      })
      return { package: its, name: blob.name, isDefault, entries, order: once(() => channelOrder(entries)) }
    })
    packages.set(its, { name: its, defaultChannel, channels: found.sort(compareChannels) })
  }
  const counts = once(() => countsIn(packages.values()))
  const providers = once(() => providersIn(packages.values()))
  return {
    name,
    packages,
    countOf: (bundle, channel) => counts().get(`${channel}/${bundle}`) ?? 0,
    providersOf: (api) => providers().get(api) ?? [],
  }
}

/** The default channel first, then by package and name, as Go orders texts of these alphabets. */
export function compareChannels(
  a: Pick<ChannelOfEntries, 'isDefault' | 'package' | 'name'>,
  b: Pick<ChannelOfEntries, 'isDefault' | 'package' | 'name'>,
): number {
  if (a.isDefault !== b.isDefault) return a.isDefault ? -1 : 1
  return compareText(a.package, b.package) || compareText(a.name, b.name)
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** What is installed says the same properties as its bundle did: OLM writes them into an annotation of the CSV. */
export function operatorFacts(name: string, properties: readonly PropertyValue[]): OperatorFacts {
  const of = (type: string) => properties.filter((property) => property.type === type)
  const packages = of('olm.package').map(({ value }) => {
    const version = parseVersion(textField(value, 'version'))
    return { name: textField(value, 'packageName'), ...(version.ok && { version: version.value }) }
  })
  return {
    name,
    properties,
    provided: of('olm.gvk').map(({ value }) => apiKey(value)),
    packages,
    labels: of('olm.label').map(({ value }) => textField(value, 'label')),
    isDeprecated: of('olm.deprecated').length > 0,
    requirements: once(() => properties.flatMap((property) => requirementOf(property) ?? [])),
  }
}

/** What is installed. Its version is that of its CSV; OLM takes one that has none for 0.0.0. */
export function installedEntry({
  name,
  version,
  package: packageName,
  properties,
}: {
  readonly name: string
  readonly version: string
  readonly package: string
  readonly properties: readonly PropertyValue[]
}): OperatorEntry {
  const parsed = parseVersion(version)
  return inNamespace(name, packageName, parsed.ok ? parsed.value : undefined, operatorFacts(name, properties))
}

/** A catalog's entry once it is installed: OLM keeps its properties, and forgets its edges. */
export const asInstalled = oncePer(
  ({ name, package: packageName, version, facts }: OperatorEntry): OperatorEntry =>
    inNamespace(name, packageName, version, facts),
)

function inNamespace(
  name: string,
  packageName: string,
  version: Version | undefined,
  facts: OperatorFacts,
): OperatorEntry {
  return {
    catalog: undefined,
    package: packageName,
    channel: '',
    isDefaultChannel: false,
    name,
    replaces: '',
    skips: [],
    skipRange: undefined,
    version: version ?? { major: 0, minor: 0, patch: 0, prerelease: [], build: [] },
    facts,
  }
}

/** One text for group, version and kind, which can hold anything but the character between them. */
export function apiKey(value: Json): string {
  return ['group', 'version', 'kind'].map((field) => textField(value, field)).join('\0')
}

function factsOfBlob(blob: BundleBlob): OperatorFacts {
  const own = blob.properties.filter(
    ({ type }) => type !== 'olm.bundle.object' && type !== 'olm.csv.metadata',
  )
  const facts = operatorFacts(blob.name, own)
  return { ...facts, properties: [...own, ...own.flatMap(repeated)] }
}

/** opm serves requirements as dependencies too, and OLM makes properties of them again: a CEL rule sees both. */
function repeated({ type, value }: PropertyValue): readonly PropertyValue[] {
  const fields = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, textField(value, name)]))
  if (type === 'olm.gvk.required') return [{ type, value: fields('group', 'version', 'kind') }]
  if (type === 'olm.package.required') return [{ type, value: fields('packageName', 'versionRange') }]
  return []
}

function entryOf(
  catalog: string,
  packageName: string,
  channel: string,
  isDefaultChannel: boolean,
  entry: ChannelEntry,
  facts: OperatorFacts,
): OperatorEntry {
  const range = entry.skipRange === '' ? undefined : parseVersionRange(entry.skipRange)
  const own = facts.properties.find(({ type }) => type === 'olm.package')
  const version = parseVersionTolerantly(own ? textField(own.value, 'version') : '')
  return {
    catalog,
    package: packageName,
    channel,
    isDefaultChannel,
    name: entry.name,
    replaces: entry.replaces,
    skips: entry.skips,
    skipRange: range?.ok === true ? range.value : undefined,
    version: version.ok ? version.value : undefined,
    facts,
  }
}

function countsIn(packages: Iterable<EntriesOfPackage>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { channels } of packages)
    for (const { entries } of channels)
      for (const { channel, name } of entries)
        counts.set(`${channel}/${name}`, (counts.get(`${channel}/${name}`) ?? 0) + 1)
  return counts
}

function providersIn(packages: Iterable<EntriesOfPackage>): ReadonlyMap<string, readonly EntriesOfPackage[]> {
  const providers = new Map<string, Set<EntriesOfPackage>>()
  for (const its of packages)
    for (const { entries } of its.channels)
      for (const { facts } of entries)
        for (const api of facts.provided) {
          const known = providers.get(api)
          if (known) known.add(its)
          else providers.set(api, new Set([its]))
        }
  return new Map([...providers].map(([api, found]) => [api, [...found]]))
}
