// The channels that a change to a package affects: changed ones, and those that offer a changed bundle.
import type { CatalogChange, PackageChange } from '../../pull-request/change.ts'
import { memoizePerObject } from '@catalog-bot/findings/memoize'

/** Names before and after, sorted. Empty for changes outside channels, such as a description. */
export function findTouchedChannels(
  { base, result }: Pick<CatalogChange, 'base' | 'result'>,
  { name, bundles, channels, defaultChannel, deprecations }: PackageChange,
): readonly string[] {
  const its = [base, result].flatMap((catalog) =>
    catalog ? (groupChannelsByPackage(catalog).get(name) ?? []) : [],
  )
  const touched = new Set([
    ...channels.added,
    ...channels.removed,
    ...channels.changed.map((channel) => channel.name),
    ...(defaultChannel ? [defaultChannel.before, defaultChannel.after] : []),
  ])
  const deprecated = [...deprecations.added, ...deprecations.removed, ...deprecations.changed]
  for (const { schema, name: of } of deprecated) if (schema === 'olm.channel') touched.add(of)
  const isWhole = deprecated.some(({ schema }) => schema === 'olm.package')
  const differing = new Set([
    ...[...bundles.added, ...bundles.changed, ...bundles.removed].map((bundle) => bundle.name),
    ...deprecated.flatMap(({ schema, name: of }) => (schema === 'olm.bundle' ? [of] : [])),
  ])
  for (const channel of its)
    if (isWhole || channel.entries.some((entry) => differing.has(entry.name))) touched.add(channel.name)
  return [...touched].sort()
}

const groupChannelsByPackage = memoizePerObject(({ channels }: NonNullable<CatalogChange['base']>) =>
  Map.groupBy(channels, (channel) => channel.package),
)
