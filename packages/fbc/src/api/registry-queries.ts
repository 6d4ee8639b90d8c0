// OLM's catalog queries with opm's answers and errors. Sorts by name where opm uses a Go map's random order.
import { compareBytes, quoteLikeGo } from '../go/text.ts'
import type { ApiBundle, ApiDeprecation } from './api-types.ts'
import type { IndexedBundle, PackageIndex } from './package-index.ts'
import type { ServedBundleKey, ServedCatalog } from './served-catalog.ts'

export type RegistryQueryResult<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: string }

export interface ApiPackage {
  readonly name: string
  readonly channels: readonly {
    readonly name: string
    readonly csvName: string
    readonly deprecation?: ApiDeprecation
  }[]
  readonly defaultChannelName: string
  readonly deprecation?: ApiDeprecation
}

export interface ApiChannelEntry {
  readonly packageName: string
  readonly channelName: string
  readonly bundleName: string
  readonly replaces: string
}

export interface RequestedGvk {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export function listPackages({ index }: ServedCatalog): readonly string[] {
  return [...index.keys()]
}

export function getPackage({ index }: ServedCatalog, name: string): RegistryQueryResult<ApiPackage> {
  const found = index.get(name)
  if (!found) return createQueryFailure(`package ${quoteLikeGo(name)} not found`)
  return createQuerySuccess({
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

export function getBundle(catalog: ServedCatalog, key: ServedBundleKey): RegistryQueryResult<ApiBundle> {
  const channel = findChannel(catalog.index, key)
  if (!channel.ok) return channel
  if (!channel.value.bundles.has(key.name))
    return createQueryFailure(
      `package ${quoteLikeGo(key.package)}, channel ${quoteLikeGo(key.channel)}, bundle ${quoteLikeGo(key.name)} not found`,
    )
  return getBundleOmittingUpgradeEdges(catalog, key)
}

export function getBundleForChannel(
  catalog: ServedCatalog,
  at: Omit<ServedBundleKey, 'name'>,
): RegistryQueryResult<ApiBundle> {
  const channel = findChannel(catalog.index, at)
  return channel.ok ? getBundleOmittingUpgradeEdges(catalog, { ...at, name: channel.value.head }) : channel
}

export function getChannelEntriesThatReplace(
  { index }: ServedCatalog,
  name: string,
): RegistryQueryResult<readonly ApiChannelEntry[]> {
  const entries: ApiChannelEntry[] = []
  for (const bundle of iterateIndexedBundles(index)) {
    const { replaces } = bundle
    // opm lists a bundle once for each time it skips the name.
    const times =
      (replaces === name ? 1 : 0) + getSkipsExcludingReplaces(bundle).filter((skip) => skip === name).length
    for (let time = 0; time < times; time++) entries.push(toApiChannelEntry(bundle, replaces))
  }
  return entries.length > 0
    ? createQuerySuccess(entries)
    : createQueryFailure(`no channel entries found that replace ${name}`)
}

/** Returns the bundle that replaces or skips `key.name`. Returns the first by name where opm picks a random one. */
export function getBundleThatReplaces(
  catalog: ServedCatalog,
  key: ServedBundleKey,
): RegistryQueryResult<ApiBundle> {
  const parent = catalog.index.get(key.package)
  if (!parent) return createQueryFailure(`package ${key.package} not found`)
  const channel = findChannel(catalog.index, key)
  if (!channel.ok) return channel
  for (const bundle of channel.value.bundles.values())
    if (bundle.replaces === key.name || bundle.skips.includes(key.name))
      return getBundleOmittingUpgradeEdges(catalog, { ...key, name: bundle.name })
  return createQueryFailure(
    `no entry found for package ${quoteLikeGo(key.package)}, channel ${quoteLikeGo(key.channel)}`,
  )
}

export function getChannelEntriesThatProvide(
  catalog: ServedCatalog,
  api: RequestedGvk,
): RegistryQueryResult<readonly ApiChannelEntry[]> {
  const entries: ApiChannelEntry[] = []
  for (const bundle of iterateIndexedBundles(catalog.index)) {
    if (!bundleProvidesApi(catalog, bundle, api)) continue
    entries.push(toApiChannelEntry(bundle, bundle.replaces))
    for (const skip of getSkipsExcludingReplaces(bundle)) entries.push(toApiChannelEntry(bundle, skip))
  }
  return entries.length > 0 ? createQuerySuccess(entries) : createApiNotProvidedFailure(api)
}

/** Considers only channel heads, and only those of their skips that are in the channel. */
export function getLatestChannelEntriesThatProvide(
  catalog: ServedCatalog,
  api: RequestedGvk,
): RegistryQueryResult<readonly ApiChannelEntry[]> {
  const entries: ApiChannelEntry[] = []
  for (const { channel, head } of iterateChannelHeads(catalog.index)) {
    if (!bundleProvidesApi(catalog, head, api)) continue
    entries.push(toApiChannelEntry(head, head.replaces))
    for (const skip of getSkipsExcludingReplaces(head))
      if (channel.bundles.has(skip)) entries.push(toApiChannelEntry(head, skip))
  }
  return entries.length > 0 ? createQuerySuccess(entries) : createApiNotProvidedFailure(api)
}

/** The head of the default channel of the first package, by name, that provides the API there. */
export function getDefaultBundleThatProvides(
  catalog: ServedCatalog,
  api: RequestedGvk,
): RegistryQueryResult<ApiBundle> {
  let isProvided = false
  for (const { parent, channel, head } of iterateChannelHeads(catalog.index)) {
    if (!bundleProvidesApi(catalog, head, api)) continue
    isProvided = true
    if (channel.name === parent.defaultChannel)
      return getBundleOmittingUpgradeEdges(catalog, {
        package: parent.name,
        channel: channel.name,
        name: head.name,
      })
  }
  return isProvided
    ? createQueryFailure(`no entry found that provides ${formatRequestedGvk(api)}`)
    : createApiNotProvidedFailure(api)
}

/** All bundles in all channels, in opm's order. Omits the manifests of bundles that have an image. */
export function* listBundles(catalog: ServedCatalog): Generator<ApiBundle> {
  const keys = [...iterateIndexedBundles(catalog.index)].sort(
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

function findChannel(index: PackageIndex, at: Omit<ServedBundleKey, 'name'>) {
  const parent = index.get(at.package)
  if (!parent) return createQueryFailure(`package ${quoteLikeGo(at.package)} not found`)
  const channel = parent.channels.get(at.channel)
  if (!channel)
    return createQueryFailure(
      `package ${quoteLikeGo(at.package)}, channel ${quoteLikeGo(at.channel)} not found`,
    )
  return createQuerySuccess(channel)
}

/** Queries for one bundle don't return its edges. */
function getBundleOmittingUpgradeEdges(catalog: ServedCatalog, key: ServedBundleKey) {
  const bundle = catalog.bundle(key)
  if (!bundle) throw new Error(`${key.name} is in the index, but its blob is missing`)
  return createQuerySuccess({ ...bundle, replaces: '', skips: [] })
}

function* iterateIndexedBundles(index: PackageIndex): Generator<IndexedBundle> {
  for (const { channels } of index.values())
    for (const { bundles } of channels.values()) yield* bundles.values()
}

function* iterateChannelHeads(index: PackageIndex) {
  for (const parent of index.values())
    for (const channel of parent.channels.values()) {
      const head = channel.bundles.get(channel.head)
      if (head) yield { parent, channel, head }
    }
}

function getSkipsExcludingReplaces({ skips, replaces }: IndexedBundle): readonly string[] {
  return skips.filter((skip) => skip !== replaces)
}

function bundleProvidesApi(catalog: ServedCatalog, { package: of, name }: IndexedBundle, api: RequestedGvk) {
  return catalog
    .providedApis(of, name)
    .some(({ group, version, kind }) => group === api.group && version === api.version && kind === api.kind)
}

function toApiChannelEntry(bundle: IndexedBundle, replaces: string): ApiChannelEntry {
  return { packageName: bundle.package, channelName: bundle.channel, bundleName: bundle.name, replaces }
}

function createApiNotProvidedFailure(api: RequestedGvk): { ok: false; error: string } {
  return createQueryFailure(`no channel entries found that provide ${formatRequestedGvk(api)}`)
}

function formatRequestedGvk({ group, version, kind }: RequestedGvk): string {
  return `group:${quoteLikeGo(group)} version:${quoteLikeGo(version)} kind:${quoteLikeGo(kind)}`
}

function createQuerySuccess<Value>(value: Value): { ok: true; value: Value } {
  return { ok: true, value }
}

function createQueryFailure(error: string): { ok: false; error: string } {
  return { ok: false, error }
}
