import { defineRule, definePackageRule, toFindingLocation } from '../catalog-rule.ts'
import { findBundleNewerThanChannelHead, type BundleView, getStringField } from '../view/catalog-view.ts'

export const headNotHighestRule = definePackageRule<{
  channel: string
  head: string
  headVersion: string
  highest: string
  highestVersion: string
}>({
  id: 'head-not-highest',
  severity: 'warning',
  title: "A channel's head is the highest version in the channel",
  what: ({ channel, head, headVersion, highest, highestVersion }) =>
    `the head of channel "${channel}" is ${head} (${headVersion}), but ${highest} (${highestVersion}) is newer`,
  why: 'Subscriptions install the head, so no subscriber gets the newer version from this channel.',
  fix: ({ highest }) =>
    `Make ${highest} replace the head, or if ${highest} was withdrawn, remove it from the channel.`,
  *find(its) {
    for (const channel of its.channels) {
      const { blob, head } = channel
      const highest = findBundleNewerThanChannelHead(its, channel)
      const own = head && its.bundle(head.name)
      if (head === undefined || own === undefined || highest === undefined) continue
      yield {
        at: toFindingLocation(blob.place, head.mark),
        about: [its.name, blob.name, highest.blob.name],
        data: {
          channel: blob.name,
          head: head.name,
          headVersion: own.versionText,
          highest: highest.blob.name,
          highestVersion: highest.versionText,
        },
      }
    }
  },
})

/** A channel head without metadata. It installs, but consoles cannot show it (operator-registry #907). */
export const headWithoutMetadataRule = definePackageRule<{
  bundle: string
  channels: readonly string[]
  lacks: 'metadata' | 'csv' | 'display name'
}>({
  id: 'head-without-metadata',
  severity: 'warning',
  title: 'Every channel head includes the metadata from its ClusterServiceVersion',
  what: ({ bundle, channels, lacks }) =>
    missingMetadataMessages[lacks](
      `${bundle}, the head of ${channels.map((name) => `"${name}"`).join(', ')},`,
    ),
  why: 'Consoles read the display name, description, and install modes from the head. Without this metadata, users cannot find the package.',
  fix: ({ lacks }) =>
    lacks === 'display name'
      ? 'Add a displayName to the ClusterServiceVersion, and render the bundle again from its image.'
      : 'Render the bundle again from its image.',
  *find(its) {
    const channelsByHead = Map.groupBy(its.channels, ({ head }) => head?.name)
    for (const [name, channels] of channelsByHead) {
      const bundle = name === undefined ? undefined : its.bundle(name)
      const lacks = bundle && findMissingBundleMetadata(bundle)
      if (bundle === undefined || lacks === undefined) continue
      yield {
        at: toFindingLocation(bundle.blob.place),
        about: [its.name, bundle.blob.name],
        data: { bundle: bundle.blob.name, channels: channels.map(({ blob }) => blob.name), lacks },
      }
    }
  },
})

const missingMetadataMessages = {
  metadata: (head: string) => `${head} has neither olm.csv.metadata nor olm.bundle.object`,
  csv: (head: string) => `${head} has no ClusterServiceVersion among its olm.bundle.object properties`,
  'display name': (head: string) => `${head} has no display name in its olm.csv.metadata`,
} as const

function findMissingBundleMetadata(bundle: BundleView): keyof typeof missingMetadataMessages | undefined {
  const objects = bundle.properties('olm.bundle.object')
  const metadata = bundle.properties('olm.csv.metadata')
  if (objects.length + metadata.length === 0) return 'metadata'
  // opm reports what it cannot decode, and another rule covers bundles without an image.
  if (metadata.some(({ error }) => error !== undefined)) return undefined
  if (metadata.length > 0)
    return metadata.some(({ value }) => getStringField(value, 'displayName').trim() !== '')
      ? undefined
      : 'display name'
  if (bundle.blob.image === '' || objects.some(isCsvManifest)) return undefined
  return 'csv'
}

function isCsvManifest({ value, error }: BundleView['blob']['properties'][number]): boolean {
  return error !== undefined || getStringField(value, 'kind') === 'ClusterServiceVersion'
}

export const confusingChannelNameRule = definePackageRule<{
  channel: string
  trap: 'blanks' | 'invisible' | 'twin'
  twin: string
}>({
  id: 'channel-name-trap',
  severity: 'warning',
  title: 'Channel names are distinct and can be typed as displayed',
  what: ({ channel, trap, twin }) =>
    ({
      blanks: `the channel name "${channel}" contains whitespace`,
      invisible: `the channel name ${JSON.stringify(channel)} contains invisible characters`,
      twin: `the channel names "${channel}" and "${twin}" differ only in case`,
    })[trap],
  why: 'Users type the channel name into a Subscription by hand. If the name is wrong, the Subscription reports no error and waits forever.',
  fix: 'Use only letters, digits, dots, and dashes, and choose a name that does not resemble another channel of the package.',
  *find(its) {
    const seen = new Map<string, string>()
    for (const { blob } of its.channels) {
      const channel = blob.name
      const similarChannel = seen.get(channel.toLowerCase())
      seen.set(channel.toLowerCase(), channel)
      const trap = /[\p{C}\u2028\u2029]/u.test(channel)
        ? 'invisible'
        : /\s/u.test(channel)
          ? 'blanks'
          : similarChannel !== undefined && similarChannel !== channel
            ? 'twin'
            : undefined
      if (trap !== undefined)
        yield {
          at: toFindingLocation(blob.place),
          about: [its.name, channel],
          data: { channel, trap, twin: similarChannel ?? '' },
        }
    }
  },
})

export const deprecatedDefaultChannelRule = definePackageRule<{ channel: string; others: number }>({
  id: 'deprecated-default-channel',
  severity: 'warning',
  title: 'The default channel is not deprecated',
  what: ({ channel }) => `the default channel "${channel}" is deprecated`,
  why: 'New subscribers who do not choose a channel subscribe to the deprecated channel.',
  fix: ({ others }) =>
    others > 0
      ? 'Make another channel the default.'
      : 'Add a channel that is not deprecated, or deprecate the entire package.',
  *find(its) {
    if (its.blob === undefined || its.isDeprecated('olm.package', '')) return
    const channel = its.blob.defaultChannel
    for (const { place, entries } of its.deprecations) {
      for (const { schema, name, mark } of entries) {
        if (schema !== 'olm.channel' || name !== channel) continue
        const others = its.channels.filter(({ blob }) => !its.isDeprecated('olm.channel', blob.name)).length
        yield { at: toFindingLocation(place, mark), about: [its.name, channel], data: { channel, others } }
      }
    }
  },
})

export const deprecatedHeadRule = definePackageRule<{ bundle: string; channels: readonly string[] }>({
  id: 'deprecated-head',
  severity: 'warning',
  title: 'The head of a supported channel is not deprecated',
  what: ({ bundle, channels }) =>
    `${bundle} is deprecated but is still the head of ${channels.map((name) => `"${name}"`).join(', ')}`,
  why: 'New subscribers install a deprecated version and cannot upgrade to a supported one.',
  fix: 'Add a successor, or deprecate the channel or the package as well.',
  *find(its) {
    if (its.isDeprecated('olm.package', '')) return
    for (const { place, entries } of its.deprecations) {
      for (const { schema, name, mark } of entries) {
        if (schema !== 'olm.bundle') continue
        const channels = its.channels
          .filter(({ blob, head }) => head?.name === name && !its.isDeprecated('olm.channel', blob.name))
          .map(({ blob }) => blob.name)
        if (channels.length === 0) continue
        yield {
          at: toFindingLocation(place, mark),
          about: [its.name, name],
          data: { bundle: name, channels },
        }
      }
    }
  },
})

export const blankDeprecationRule = defineRule<{ schema: string; name: string }>({
  id: 'blank-deprecation',
  severity: 'warning',
  title: 'Every deprecation has a message',
  what: ({ schema, name }) =>
    `the deprecation of ${schema}${name === '' ? '' : ` "${name}"`} has a message that contains only whitespace`,
  why: 'Users see this message on their clusters, but it does not explain what they must do.',
  fix: 'State what to use instead and how long the deprecated item will be supported.',
  *find(catalog) {
    for (const { place, package: inPackage, entries } of catalog.catalog.deprecations)
      for (const { schema, name, message, mark } of entries)
        if (message !== '' && message.trim() === '')
          yield {
            at: toFindingLocation(place, mark),
            about: [inPackage, schema, name],
            data: { schema, name },
          }
  },
})
