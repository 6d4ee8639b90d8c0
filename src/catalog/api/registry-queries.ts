// Answers OLM's catalog queries as opm's server does, errors included. Sorts by name where opm's order is that of a Go
// map, which is random.
import { compareBytes, quote } from '../../go/text.ts'
import type { ApiBundle, Deprecation } from './api-types.ts'
import type { IndexedBundle, IndexedChannel, IndexedPackage, PackageIndex } from './package-index.ts'
import type { BundleKey, ServedCatalog } from './served-catalog.ts'

export type Answer<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: string }

export interface ApiPackage {
  readonly name: string
  readonly channels: readonly {
    readonly name: string
    readonly csvName: string
    readonly deprecation?: Deprecation
  }[]
  readonly defaultChannelName: string
  readonly deprecation?: Deprecation
}

export interface ApiChannelEntry {
  readonly packageName: string
  readonly channelName: string
  readonly bundleName: string
  readonly replaces: string
}

export interface WantedApi {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export function listPackages({ index }: ServedCatalog): readonly string[] {
  return [...index.keys()]
}

export function getPackage({ index }: ServedCatalog, name: string): Answer<ApiPackage> {
  const found = index.get(name)
  if (!found) return refused(`package ${quote(name)} not found`)
  return answer({
    name,
    channels: [...found.channels.values()].map((channel) => ({
      name: channel.name,
      csvName: channel.head,
      ...(channel.deprecation && { deprecation: channel.deprecation }),
    })),
    defaultChannelName: found.defaultChannel,
    ...(found.deprecation && { deprecation: found.deprecation }),
  })
}

export function getBundle(catalog: ServedCatalog, key: BundleKey): Answer<ApiBundle> {
  const channel = channelAt(catalog.index, key)
  if (!channel.ok) return channel
  if (!channel.value.bundles.has(key.name))
    return refused(
      `package ${quote(key.package)}, channel ${quote(key.channel)}, bundle ${quote(key.name)} not found`,
    )
  return trimmed(catalog, key)
}

export function getBundleForChannel(catalog: ServedCatalog, at: Omit<BundleKey, 'name'>): Answer<ApiBundle> {
  const channel = channelAt(catalog.index, at)
  return channel.ok ? trimmed(catalog, { ...at, name: channel.value.head }) : channel
}

export function getChannelEntriesThatReplace(
  { index }: ServedCatalog,
  name: string,
): Answer<readonly ApiChannelEntry[]> {
  const entries: ApiChannelEntry[] = []
  for (const bundle of allEntries(index)) {
    const { replaces } = bundle
    // opm lists a bundle once for each time it skips the name.
    const times = (replaces === name ? 1 : 0) + skipsOther(bundle).filter((skip) => skip === name).length
    for (let time = 0; time < times; time++) entries.push(entryOf(bundle, replaces))
  }
  return entries.length > 0 ? answer(entries) : refused(`no channel entries found that replace ${name}`)
}

/** The bundle that replaces or skips `key.name`; the first by name, where opm takes any. */
export function getBundleThatReplaces(catalog: ServedCatalog, key: BundleKey): Answer<ApiBundle> {
  const parent = catalog.index.get(key.package)
  if (!parent) return refused(`package ${key.package} not found`)
  const channel = channelAt(catalog.index, key)
  if (!channel.ok) return channel
  for (const bundle of channel.value.bundles.values())
    if (bundle.replaces === key.name || bundle.skips.includes(key.name))
      return trimmed(catalog, { ...key, name: bundle.name })
  return refused(`no entry found for package ${quote(key.package)}, channel ${quote(key.channel)}`)
}

export function getChannelEntriesThatProvide(
  catalog: ServedCatalog,
  api: WantedApi,
): Answer<readonly ApiChannelEntry[]> {
  const entries: ApiChannelEntry[] = []
  for (const bundle of allEntries(catalog.index)) {
    if (!provides(catalog, bundle, api)) continue
    entries.push(entryOf(bundle, bundle.replaces))
    for (const skip of skipsOther(bundle)) entries.push(entryOf(bundle, skip))
  }
  return entries.length > 0 ? answer(entries) : noneProvides(api)
}

/** Considers only channel heads, and only those of their skips that are in the channel. */
export function getLatestChannelEntriesThatProvide(
  catalog: ServedCatalog,
  api: WantedApi,
): Answer<readonly ApiChannelEntry[]> {
  const entries: ApiChannelEntry[] = []
  for (const { channel, head } of heads(catalog.index)) {
    if (!provides(catalog, head, api)) continue
    entries.push(entryOf(head, head.replaces))
    for (const skip of skipsOther(head)) if (channel.bundles.has(skip)) entries.push(entryOf(head, skip))
  }
  return entries.length > 0 ? answer(entries) : noneProvides(api)
}

/** The head of the default channel of the first package, by name, that provides the API there. */
export function getDefaultBundleThatProvides(catalog: ServedCatalog, api: WantedApi): Answer<ApiBundle> {
  let isProvided = false
  for (const { parent, channel, head } of heads(catalog.index)) {
    if (!provides(catalog, head, api)) continue
    isProvided = true
    if (channel.name === parent.defaultChannel)
      return trimmed(catalog, { package: parent.name, channel: channel.name, name: head.name })
  }
  return isProvided ? refused(`no entry found that provides ${apiWords(api)}`) : noneProvides(api)
}

/** All bundles in all channels, in opm's order. Omits the manifests of bundles that have an image. */
export function* listBundles(catalog: ServedCatalog): Generator<ApiBundle> {
  const keys = [...allEntries(catalog.index)].sort(
    (a, b) =>
      compareBytes(a.channel, b.channel) ||
      compareBytes(a.package, b.package) ||
      compareBytes(a.name, b.name),
  )
  for (const key of keys) {
    const bundle = catalog.bundle(key)
    if (bundle) yield bundle.bundlePath === '' ? bundle : { ...bundle, csvJson: '', object: [] }
  }
}

function channelAt(index: PackageIndex, at: Omit<BundleKey, 'name'>): Answer<IndexedChannel> {
  const parent = index.get(at.package)
  if (!parent) return refused(`package ${quote(at.package)} not found`)
  const channel = parent.channels.get(at.channel)
  if (!channel) return refused(`package ${quote(at.package)}, channel ${quote(at.channel)} not found`)
  return answer(channel)
}

/** Queries for one bundle don't return its edges. */
function trimmed(catalog: ServedCatalog, key: BundleKey): Answer<ApiBundle> {
  const bundle = catalog.bundle(key)
  if (!bundle) throw new Error(`${key.name} stands in the index and nowhere else`)
  return answer({ ...bundle, replaces: '', skips: [] })
}

function* allEntries(index: PackageIndex): Generator<IndexedBundle> {
  for (const { channels } of index.values())
    for (const { bundles } of channels.values()) yield* bundles.values()
}

interface Head {
  readonly parent: IndexedPackage
  readonly channel: IndexedChannel
  readonly head: IndexedBundle
}

function* heads(index: PackageIndex): Generator<Head> {
  for (const parent of index.values())
    for (const channel of parent.channels.values()) {
      const head = channel.bundles.get(channel.head)
      if (head) yield { parent, channel, head }
    }
}

function skipsOther({ skips, replaces }: IndexedBundle): readonly string[] {
  return skips.filter((skip) => skip !== replaces)
}

function provides(catalog: ServedCatalog, { package: of, name }: IndexedBundle, api: WantedApi): boolean {
  return catalog
    .providedApis(of, name)
    .some(({ group, version, kind }) => group === api.group && version === api.version && kind === api.kind)
}

function entryOf(bundle: IndexedBundle, replaces: string): ApiChannelEntry {
  return {
    packageName: bundle.package,
    channelName: bundle.channel,
    bundleName: bundle.name,
    replaces,
  }
}

function noneProvides(api: WantedApi): { ok: false; error: string } {
  return refused(`no channel entries found that provide ${apiWords(api)}`)
}

function apiWords({ group, version, kind }: WantedApi): string {
  return `group:${quote(group)} version:${quote(version)} kind:${quote(kind)}`
}

function answer<Value>(value: Value): { ok: true; value: Value } {
  return { ok: true, value }
}

function refused(error: string): { ok: false; error: string } {
  return { ok: false, error }
}
