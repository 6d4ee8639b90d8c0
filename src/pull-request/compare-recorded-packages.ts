// Compares two states of a recorded package, for web pages. Lists what users notice, by name.
import type { RecordedBundle, RecordedChannel, RecordedPackage } from './recorded-package.ts'
import { splitByName } from './compare-blobs.ts'

/** A change and the untrusted names that it concerns. */
export interface RecordedPackageChange {
  /** Such as `Bundles added`. */
  readonly what: string
  /** The channel, if the change concerns only one. */
  readonly channel?: string
  readonly names: readonly string[]
}

export interface RecordedPackageDifference {
  readonly name: string
  readonly kind: 'added' | 'removed' | 'changed'
  readonly bundles: number
  /** The content of an added or removed package. */
  readonly changes: readonly RecordedPackageChange[]
}

const bundleFieldLabels = {
  version: 'version',
  image: 'image',
  channels: 'channels',
  deprecated: 'deprecation',
  minKubeVersion: 'Kubernetes version',
  installModes: 'install modes',
  isStranded: 'upgrade path',
} satisfies Partial<Record<keyof RecordedBundle, string>>
const channelFieldLabels = { entries: 'number of entries', deprecated: 'deprecation' }
const packageFieldLabels = {
  displayName: 'display name',
  description: 'description',
  owners: 'owners',
  deprecated: 'deprecation',
  images: 'images',
} satisfies Partial<Record<keyof RecordedPackage, string>>

export function compareRecordedPackages({
  before,
  after,
}: {
  readonly before?: RecordedPackage
  readonly after?: RecordedPackage
}): RecordedPackageDifference {
  const newest = after ?? before
  const [name, bundles] = [newest?.name ?? '', newest?.bundles.length ?? 0]
  if (before !== undefined && after !== undefined)
    return { name, kind: 'changed', bundles, changes: listPackageChanges(before, after) }
  const changes = [
    ...describeNames('Channels', newest?.channels),
    ...describeNames('Bundles', newest?.bundles),
  ]
  return { name, kind: before === undefined ? 'added' : 'removed', bundles, changes }
}

function listPackageChanges(
  before: RecordedPackage,
  after: RecordedPackage,
): readonly RecordedPackageChange[] {
  const bundles = splitByName(before.bundles, after.bundles)
  const channels = splitByName(before.channels, after.channels)
  return [
    ...describeNames('Channels added', channels.added),
    ...describeNames('Channels removed', channels.removed),
    ...describeTransition('Default channel', before.defaultChannel, after.defaultChannel),
    ...describeNames('Bundles added', bundles.added),
    ...describeNames('Bundles removed', bundles.removed),
    ...describeNames(
      'Bundles changed',
      bundles.both.flatMap(([old, now]) => {
        const fields = listChangedFields(old, now, bundleFieldLabels)
        return fields.length === 0 ? [] : [{ name: `${now.name} (${fields.join(', ')})` }]
      }),
    ),
    ...channels.both.flatMap(([old, now]) => listChannelChanges(old, now, before, after)),
    ...describeNames(
      'Other changes',
      listChangedFields(before, after, packageFieldLabels).map((name) => ({ name })),
    ),
  ]
}

function listChannelChanges(
  old: RecordedChannel,
  now: RecordedChannel,
  before: RecordedPackage,
  after: RecordedPackage,
): readonly RecordedPackageChange[] {
  const { name: channel } = now
  const fields = listChangedFields(old, now, channelFieldLabels)
  const edges = splitByName(listChannelEdges(before, channel), listChannelEdges(after, channel))
  // Big graphs are not recorded.
  const isComparable = before.graph !== undefined && after.graph !== undefined
  return [
    ...describeTransition('Head', old.heads.join(', '), now.heads.join(', ')),
    ...describeNames('Upgrade edges added', isComparable ? edges.added : []),
    ...describeNames('Upgrade edges removed', isComparable ? edges.removed : []),
    ...describeNames(
      'Other changes',
      fields.map((name) => ({ name })),
    ),
  ].map((change) => ({ ...change, channel }))
}

function listChannelEdges({ graph }: RecordedPackage, channel: string): readonly { readonly name: string }[] {
  const edges = graph?.channels.find(({ name }) => name === channel)?.edges ?? []
  return edges.map(({ from, to, kind }) => ({ name: `${from} → ${to} (${kind})` }))
}

function describeNames(
  what: string,
  items: readonly { readonly name: string }[] = [],
): readonly RecordedPackageChange[] {
  return items.length === 0 ? [] : [{ what, names: items.map(({ name }) => name) }]
}

function describeTransition(what: string, before: string, after: string): readonly RecordedPackageChange[] {
  return before === after ? [] : [{ what, names: [`${before || 'none'} → ${after || 'none'}`] }]
}

function listChangedFields<Item extends object>(
  before: Item,
  after: Item,
  labels: Readonly<Partial<Record<keyof Item, string>>>,
): readonly string[] {
  return (Object.keys(labels) as (keyof Item)[]).flatMap((field) =>
    JSON.stringify(before[field]) === JSON.stringify(after[field]) ? [] : [labels[field] ?? ''],
  )
}
