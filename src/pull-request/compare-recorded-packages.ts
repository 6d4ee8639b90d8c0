// Compares two states of a recorded package, for web pages. Lists what users notice, by name.
import type { GraphEdge } from '@catalog-bot/fbc/graph/package-graph'
import type { RecordedBundle, RecordedChannel, RecordedPackage } from './recorded-package.ts'

/** A change and the untrusted names that it concerns. */
export interface RecordedPackageChange {
  /** A sentence without a period, such as `Bundles added`. */
  readonly what: string
  /** The channel, if the change concerns only one. */
  readonly channel?: string
  readonly names: readonly string[]
}

export interface RecordedPackageDifference {
  readonly name: string
  readonly kind: 'added' | 'removed' | 'changed'
  readonly bundles: number
  /** For an added or removed package, what it contains. */
  readonly changes: readonly RecordedPackageChange[]
}

interface RecordedPackagePair {
  readonly before?: RecordedPackage
  readonly after?: RecordedPackage
}

export function compareRecordedPackages({ before, after }: RecordedPackagePair): RecordedPackageDifference {
  const newest = after ?? before
  const name = newest?.name ?? ''
  const bundles = newest?.bundles.length ?? 0
  if (before !== undefined && after !== undefined)
    return { name, kind: 'changed', bundles, changes: listPackageChanges(before, after) }
  return {
    name,
    kind: before === undefined ? 'added' : 'removed',
    bundles,
    changes: [...describeNames('Channels', newest?.channels), ...describeNames('Bundles', newest?.bundles)],
  }
}

function describeNames(
  what: string,
  items: readonly { readonly name: string }[] = [],
): readonly RecordedPackageChange[] {
  return items.length === 0 ? [] : [{ what, names: items.map(({ name }) => name) }]
}

function listPackageChanges(
  before: RecordedPackage,
  after: RecordedPackage,
): readonly RecordedPackageChange[] {
  const bundles = splitByName(before.bundles, after.bundles)
  const channels = splitByName(before.channels, after.channels)
  const images = splitByName(
    before.images.map(({ reference }) => ({ name: reference })),
    after.images.map(({ reference }) => ({ name: reference })),
  )
  const changes: RecordedPackageChange[] = [
    ...describeNames('Channels added', channels.added),
    ...describeNames('Channels removed', channels.removed),
    ...describeValueChange('Default channel', before.defaultChannel, after.defaultChannel),
    ...describeNames('Bundles added', bundles.added),
    ...describeNames('Bundles removed', bundles.removed),
    ...describeBundleChanges(bundles.both),
    ...channels.both.flatMap(([old, now]) => describeChannelChanges(old, now, before, after)),
    ...describeDeprecation('The package', before.deprecated, after.deprecated),
    ...describeValueChange('Owners', before.owners.join(', '), after.owners.join(', ')),
    ...describeValueChange('Display name', before.displayName ?? '', after.displayName ?? ''),
    ...(before.description === after.description ? [] : [{ what: 'The description changed', names: [] }]),
    ...describeNames('Images added', images.added),
    ...describeNames('Images removed', images.removed),
  ]
  return changes.length > 0 ? changes : [{ what: 'Other details of the package changed', names: [] }]
}

interface NameDifference<Item> {
  readonly added: readonly Item[]
  readonly removed: readonly Item[]
  readonly both: readonly (readonly [before: Item, after: Item])[]
}

function splitByName<Item extends { readonly name: string }>(
  before: readonly Item[],
  after: readonly Item[],
): NameDifference<Item> {
  const old = new Map(before.map((item) => [item.name, item]))
  const now = new Map(after.map((item) => [item.name, item]))
  return {
    added: [...now.values()].filter(({ name }) => !old.has(name)),
    removed: [...old.values()].filter(({ name }) => !now.has(name)),
    both: [...now.values()].flatMap((item) => {
      const its = old.get(item.name)
      return its === undefined ? [] : [[its, item] as const]
    }),
  }
}

function describeBundleChanges(
  pairs: NameDifference<RecordedBundle>['both'],
): readonly RecordedPackageChange[] {
  const listBundles = (what: string, differs: (old: RecordedBundle, now: RecordedBundle) => boolean) => {
    return describeNames(
      what,
      pairs.filter(([old, now]) => differs(old, now)).map(([, now]) => now),
    )
  }
  const formatMetadata = ({ version, minKubeVersion = '', installModes = [] }: RecordedBundle) =>
    JSON.stringify([version, minKubeVersion, installModes])
  return [
    ...listBundles('Bundle images changed', (old, now) => old.image !== now.image),
    ...listBundles(
      'Versions or installation requirements changed',
      (old, now) => formatMetadata(old) !== formatMetadata(now),
    ),
    ...listBundles('Now deprecated', (old, now) => isDeprecatedNow(old, now)),
    ...listBundles('No longer deprecated', (old, now) => isDeprecatedNow(now, old)),
    ...listBundles('Now stranded', (old, now) => old.isStranded !== true && now.isStranded === true),
    ...listBundles('No longer stranded', (old, now) => old.isStranded === true && now.isStranded !== true),
  ]
}

const isDeprecatedNow = (old: Pick<RecordedBundle, 'deprecated'>, now: Pick<RecordedBundle, 'deprecated'>) =>
  old.deprecated === undefined && now.deprecated !== undefined

function describeDeprecation(
  subject: string,
  before: string | undefined,
  after: string | undefined,
): readonly RecordedPackageChange[] {
  if (before === after) return []
  const what = after === undefined ? 'no longer' : before === undefined ? 'now' : 'still'
  return [{ what: `${subject} is ${what} deprecated`, names: after === undefined ? [] : [after] }]
}

function describeValueChange(what: string, before: string, after: string): readonly RecordedPackageChange[] {
  const format = (value: string) => (value === '' ? 'none' : value)
  return before === after ? [] : [{ what, names: [`${format(before)} → ${format(after)}`] }]
}

function describeChannelChanges(
  old: RecordedChannel,
  now: RecordedChannel,
  before: RecordedPackage,
  after: RecordedPackage,
): readonly RecordedPackageChange[] {
  const { name: channel } = now
  const edges = splitByName(listChannelEdges(before, channel), listChannelEdges(after, channel))
  return [
    ...describeValueChange('Head', old.heads.join(', '), now.heads.join(', ')),
    ...describeValueChange('Entries', String(old.entries), String(now.entries)),
    ...describeDeprecation('The channel', old.deprecated, now.deprecated),
    // Big graphs are not recorded.
    ...(before.graph === undefined || after.graph === undefined
      ? []
      : [
          ...describeNames('Upgrade edges added', edges.added),
          ...describeNames('Upgrade edges removed', edges.removed),
        ]),
  ].map((change) => ({ ...change, channel }))
}

function listChannelEdges({ graph }: RecordedPackage, channel: string): readonly { readonly name: string }[] {
  const format = ({ from, to, kind }: GraphEdge) => `${from} → ${to} (${kind})`
  const edges = graph?.channels.find(({ name }) => name === channel)?.edges ?? []
  return edges.map((edge) => ({ name: format(edge) }))
}
