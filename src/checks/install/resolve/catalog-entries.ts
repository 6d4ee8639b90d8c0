// A catalog as OLM's resolver sees it: one entry for each bundle in each channel. Plain lookups; chooses nothing.
import type { BundleBlob, Catalog, ChannelBlob, ChannelEntry } from '../../../catalog/facts/catalog.ts'
import { parseVersionRange } from '../../../catalog/versions/version-range.ts'
import { parseVersionTolerantly } from '../../../catalog/versions/version.ts'
import { once, oncePer } from '../../../findings/once.ts'
import { textField } from '../../../go/json/json-fields.ts'
import { channelOrder, type ChannelOrder } from './channel-order.ts'
import {
  apiKey,
  compareText,
  type OperatorEntry,
  type OperatorFacts,
  type PropertyValue,
} from './operator-entry.ts'
import { operatorFacts } from './operator-facts.ts'

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

/** Packages are looked into when they are first asked for: a catalog has hundreds, and a change is about one. */
export function catalogEntries(catalog: Catalog, name: string): CatalogEntries {
  const bundles = Map.groupBy(catalog.bundles, (bundle) => bundle.package)
  const channels = Map.groupBy(catalog.channels, (channel) => channel.package)
  const packages = new Map<string, EntriesOfPackage>()
  for (const { name: its, defaultChannel } of catalog.packages) {
    if (packages.has(its)) continue
    const found = once(() =>
      channelsOf(name, its, defaultChannel, channels.get(its) ?? [], bundles.get(its) ?? []),
    )
    packages.set(its, {
      name: its,
      defaultChannel,
      get channels() {
        return found()
      },
    })
  }
  const counts = once(() => countsIn(catalog.channels, bundles))
  const providers = once(() => providersIn(catalog.bundles))
  return {
    name,
    packages,
    countOf: (bundle, channel) => counts().get(`${channel}/${bundle}`) ?? 0,
    providersOf: (api) => [...(providers().get(api) ?? [])].flatMap((its) => packages.get(its) ?? []),
  }
}

function channelsOf(
  catalog: string,
  packageName: string,
  defaultChannel: string,
  channels: readonly ChannelBlob[],
  bundles: readonly BundleBlob[],
): readonly ChannelOfEntries[] {
  // Of several bundles of a name the first counts.
  const facts = new Map(bundles.toReversed().map((blob) => [blob.name, factsOfBlob(blob)]))
  return channels
    .map((blob): ChannelOfEntries => {
      const isDefault = blob.name === defaultChannel
      const entries = blob.entries.flatMap((entry) => {
        const own = facts.get(entry.name)
        return own ? [entryOf(catalog, packageName, blob.name, isDefault, entry, own)] : []
      })
      return {
        package: packageName,
        name: blob.name,
        isDefault,
        entries,
        order: once(() => channelOrder(entries)),
      }
    })
    .sort(compareChannels)
}

/** The default channel first, then by package and name, as Go orders texts of these alphabets. */
export function compareChannels(
  a: Pick<ChannelOfEntries, 'isDefault' | 'package' | 'name'>,
  b: Pick<ChannelOfEntries, 'isDefault' | 'package' | 'name'>,
): number {
  if (a.isDefault !== b.isDefault) return a.isDefault ? -1 : 1
  return compareText(a.package, b.package) || compareText(a.name, b.name)
}

/** The same blob stands on both sides of most changes. */
const factsOfBlob = oncePer((blob: BundleBlob): OperatorFacts => {
  const own = blob.properties.filter(
    ({ type }) => type !== 'olm.bundle.object' && type !== 'olm.csv.metadata',
  )
  const facts = operatorFacts(blob.name, own)
  return { ...facts, properties: [...own, ...own.flatMap(repeated)] }
})

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

function countsIn(
  channels: readonly ChannelBlob[],
  bundles: ReadonlyMap<string, readonly BundleBlob[]>,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const names = new Map([...bundles].map(([its, blobs]) => [its, new Set(blobs.map(({ name }) => name))]))
  for (const { package: its, name: channel, entries } of channels)
    for (const { name } of entries) {
      if (names.get(its)?.has(name) !== true) continue
      const key = `${channel}/${name}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  return counts
}

/** Names of the packages that provide each API. */
function providersIn(bundles: readonly BundleBlob[]): ReadonlyMap<string, ReadonlySet<string>> {
  const providers = new Map<string, Set<string>>()
  for (const { package: its, properties } of bundles)
    for (const { type, value } of properties) {
      if (type !== 'olm.gvk') continue
      const api = apiKey(value)
      const known = providers.get(api)
      if (known) known.add(its)
      else providers.set(api, new Set([its]))
    }
  return providers
}
