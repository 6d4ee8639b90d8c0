// A catalog as OLM's resolver sees it: one entry for each bundle in each channel.
import { compareCodeUnits } from '@catalog-bot/findings/finding'
import type { BundleBlob, Catalog, ChannelBlob, ChannelEntry } from '@catalog-bot/fbc/facts/catalog'
import { parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import { parseVersionTolerantly } from '@catalog-bot/fbc/versions/version'
import { memoizeOnce, memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import {
  toGvkKey,
  type OperatorEntry,
  type ParsedOperatorProperties,
  type OperatorProperty,
  parseOperatorProperties,
} from './operator-properties.ts'
import { getJsonStringField } from '@catalog-bot/fbc/go/json/json'

/**
 * OLM v0's order of preference in a channel: from the head along `replaces`, without skipped entries. Errors use
 * OLM's text (OLM: resolver.go, sortChannel).
 */
type ChannelEntryOrderResult =
  | { readonly ok: true; readonly entries: readonly OperatorEntry[] }
  | { readonly ok: false; readonly error: string }

/** `order` starts at the head. OLM fails if it cannot determine the order. */
export interface ChannelOperatorEntries {
  readonly package: string
  readonly name: string
  readonly isDefault: boolean
  readonly entries: readonly OperatorEntry[]
  readonly order: () => ChannelEntryOrderResult
}

interface PackageOperatorEntries {
  readonly name: string
  /** The default channel first, then by name. This is OLM's order of preference. */
  readonly channels: readonly ChannelOperatorEntries[]
}

export interface CatalogOperatorEntries {
  readonly name: string
  readonly packages: ReadonlyMap<string, PackageOperatorEntries>
  /** Counts the entries with this name and channel in all packages. */
  countOf(name: string, channel: string): number
  providersOf(api: string): readonly PackageOperatorEntries[]
}

/** Builds each package on first use, because a catalog has hundreds of packages and a change affects few of them. */
export function createCatalogOperatorEntries(catalog: Catalog, name: string): CatalogOperatorEntries {
  const bundles = Map.groupBy(catalog.bundles, (bundle) => bundle.package)
  const channels = Map.groupBy(catalog.channels, (channel) => channel.package)
  const packages = new Map<string, PackageOperatorEntries>()
  for (const { name: its, defaultChannel } of catalog.packages) {
    if (packages.has(its)) continue
    const found = memoizeOnce(() =>
      createChannelOperatorEntries(
        name,
        its,
        defaultChannel,
        channels.get(its) ?? [],
        bundles.get(its) ?? [],
      ),
    )
    packages.set(its, {
      name: its,
      get channels() {
        return found()
      },
    })
  }
  const counts = memoizeOnce(() => countChannelEntries(catalog.channels, bundles))
  const providers = memoizeOnce(() => indexPackagesByProvidedApi(catalog.bundles))
  return {
    name,
    packages,
    countOf: (bundle, channel) => counts().get(`${channel}/${bundle}`) ?? 0,
    providersOf: (api) => [...(providers().get(api) ?? [])].flatMap((its) => packages.get(its) ?? []),
  }
}

function createChannelOperatorEntries(
  catalog: string,
  packageName: string,
  defaultChannel: string,
  channels: readonly ChannelBlob[],
  bundles: readonly BundleBlob[],
): readonly ChannelOperatorEntries[] {
  // The first of several bundles with one name counts.
  const facts = new Map(
    bundles.toReversed().map((blob) => [blob.name, parseOperatorPropertiesFromBlob(blob)]),
  )
  return channels
    .map((blob): ChannelOperatorEntries => {
      const isDefault = blob.name === defaultChannel
      const entries = blob.entries.flatMap((entry) => {
        const own = facts.get(entry.name)
        return own ? [createOperatorEntry(catalog, packageName, blob.name, entry, own)] : []
      })
      return {
        package: packageName,
        name: blob.name,
        isDefault,
        entries,
        order: memoizeOnce(() => computeChannelEntryOrder(entries)),
      }
    })
    .sort(compareChannelsByPreference)
}

/** The default channel first, then by package and name in Go's string order. */
export function compareChannelsByPreference(
  a: Pick<ChannelOperatorEntries, 'isDefault' | 'package' | 'name'>,
  b: Pick<ChannelOperatorEntries, 'isDefault' | 'package' | 'name'>,
): number {
  if (a.isDefault !== b.isDefault) return a.isDefault ? -1 : 1
  return compareCodeUnits(a.package, b.package) || compareCodeUnits(a.name, b.name)
}

/** Cached because most blobs are the same on both sides of a change. */
const parseOperatorPropertiesFromBlob = memoizePerObject((blob: BundleBlob): ParsedOperatorProperties => {
  const own = blob.properties.filter(
    ({ type }) => type !== 'olm.bundle.object' && type !== 'olm.csv.metadata',
  )
  const facts = parseOperatorProperties(blob.name, own)
  return { ...facts, properties: [...own, ...own.flatMap(toOpmDependencyProperties)] }
})

/** opm also serves requirements as dependencies. OLM converts those back to properties, so a CEL rule sees both. */
function toOpmDependencyProperties({ type, value }: OperatorProperty): readonly OperatorProperty[] {
  const fields = (...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, getJsonStringField(value, name)]))
  if (type === 'olm.gvk.required') return [{ type, value: fields('group', 'version', 'kind') }]
  if (type === 'olm.package.required') return [{ type, value: fields('packageName', 'versionRange') }]
  return []
}

function createOperatorEntry(
  catalog: string,
  packageName: string,
  channel: string,
  entry: ChannelEntry,
  facts: ParsedOperatorProperties,
): OperatorEntry {
  const range = entry.skipRange === '' ? undefined : parseVersionRange(entry.skipRange)
  const own = facts.properties.find(({ type }) => type === 'olm.package')
  const version = parseVersionTolerantly(own ? getJsonStringField(own.value, 'version') : '')
  return {
    catalog,
    package: packageName,
    channel,
    name: entry.name,
    replaces: entry.replaces,
    skips: entry.skips,
    skipRange: range?.ok === true ? range.value : undefined,
    version: version.ok ? version.value : undefined,
    facts,
  }
}

function countChannelEntries(
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

function indexPackagesByProvidedApi(bundles: readonly BundleBlob[]) {
  const providers = new Map<string, Set<string>>()
  for (const { package: its, properties } of bundles)
    for (const { type, value } of properties)
      if (type === 'olm.gvk') getOrCreate(providers, toGvkKey(value), () => new Set()).add(its)
  return providers
}

/** All entries must be of one package and channel. */
export function computeChannelEntryOrder(entries: readonly OperatorEntry[]): ChannelEntryOrderResult {
  const [any] = entries
  if (any === undefined) return { ok: true, entries: [] }
  const where = `in channel ${quoteLikeGo(any.channel)} of package ${quoteLikeGo(any.package)}`
  const byName = new Map(entries.map((entry) => [entry.name, entry]))
  const superseded = new Set<OperatorEntry>()
  const replaced = new Map<OperatorEntry, OperatorEntry>()
  const skipped = new Set<string>()
  for (const entry of entries) {
    const older = entry.replaces === '' ? undefined : byName.get(entry.replaces)
    if (older) {
      superseded.add(older)
      replaced.set(entry, older)
    }
    for (const skip of entry.skips) {
      const passed = byName.get(skip)
      if (!passed) continue
      superseded.add(passed)
      skipped.add(skip)
    }
  }
  const heads = entries.filter((entry) => !superseded.has(entry))
  if (heads.length === 0)
    return { ok: false, error: `no channel heads (entries not replaced by another entry) found ${where}` }
  const chains: OperatorEntry[][] = []
  for (const head of heads) {
    const chain: OperatorEntry[] = []
    const visited = new Set<OperatorEntry>()
    for (let entry: OperatorEntry | undefined = head; entry !== undefined; entry = replaced.get(entry)) {
      if (visited.has(entry))
        return {
          ok: false,
          error: `a cycle exists in the chain of replacement beginning with ${quoteLikeGo(head.name)} ${where}`,
        }
      visited.add(entry)
      if (!skipped.has(entry.name)) chain.push(entry)
    }
    chains.push(chain)
  }
  const [only, ...others] = chains
  if (only !== undefined && others.length === 0) return { ok: true, entries: only }
  return {
    ok: false,
    error:
      `a unique replacement chain within a channel is required to determine the relative order between channel entries, ` +
      `but ${chains.length} replacement chains were found ${where}: ${chains.map(formatReplacesChain).join(', ')}`,
  }
}

function formatReplacesChain(chain: readonly OperatorEntry[]): string {
  const [first] = chain
  if (first === undefined) return '[]'
  return chain.length === 1 ? first.name : `${first.name}...${chain.at(-1)?.name}`
}
