import { quoteLikeGo } from '../../go/text.ts'
import { defineOpmRule } from '../../load/load-rules.ts'

interface ChannelRuleFindingData {
  readonly package: string
  readonly channel: string
}

/** For channels, bundles and deprecations; `object` is for example `channel "stable"`. */
export const unknownPackageRule = defineOpmRule<{ package: string; object: string }>({
  id: 'unknown-package',
  title: 'Channels, bundles, and deprecations belong to a package in the catalog',
  what: (data) =>
    `${data.object} belongs to package ${quoteLikeGo(data.package)}, which this catalog does not declare`,
  why: 'A package cannot be served without its olm.package blob.',
  fix: `Add the olm.package blob, or correct \`package:\`. Names are case-sensitive.`,
})

export const missingPackageRule = defineOpmRule<{ object: string }>({
  id: 'missing-package',
  title: 'Channels, bundles, and deprecations specify their package',
  what: (data) => `${data.object} does not specify a package`,
  why: 'Every channel, bundle, and deprecation belongs to exactly one package.',
  fix: 'Add `package:` with the package name.',
})

export const namelessChannelRule = defineOpmRule<{ package: string }>({
  id: 'nameless-channel',
  title: 'Every channel has a name',
  what: (data) => `a channel of package ${quoteLikeGo(data.package)} has no name`,
  why: 'Subscriptions refer to a channel by name.',
  fix: 'Add `name:` with the channel name.',
})

export const duplicateChannelRule = defineOpmRule<ChannelRuleFindingData>({
  id: 'duplicate-channel',
  title: 'Each channel is declared only once in its package',
  what: (data) =>
    `channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)} is declared more than once`,
  why: 'A single blob must contain all entries of a channel. opm does not merge multiple blobs.',
  fix: 'Combine the entries in one olm.channel blob.',
})

export const duplicateEntryRule = defineOpmRule<ChannelRuleFindingData & { entry: string }>({
  id: 'duplicate-entry',
  title: 'Each bundle is listed only once in a channel',
  what: (data) =>
    `channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)} lists ${quoteLikeGo(data.entry)} more than once`,
  why: "A single entry must contain all of a bundle's upgrade edges in the channel.",
  fix: 'Combine the edges in one entry, and remove the other entry.',
})

export const entryWithoutBundleRule = defineOpmRule<ChannelRuleFindingData & { entry: string }>({
  id: 'entry-without-bundle',
  title: 'Every channel entry refers to a bundle in the catalog',
  what: (data) =>
    `channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)} lists ${quoteLikeGo(data.entry)}, but the catalog has no such bundle`,
  why: 'OLM could choose the entry, but would find nothing to install.',
  fix: 'Add the olm.bundle blob, correct the name, or remove the entry.',
})

export const emptyChannelRule = defineOpmRule<ChannelRuleFindingData>({
  id: 'empty-channel',
  title: 'A channel has at least one entry',
  what: (data) =>
    `channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)} has no entries`,
  why: 'A subscription to the channel would find nothing to install.',
  fix: 'Add entries, or remove the channel. If the channel has entries, make sure that the field is spelled `entries:`.',
})

export const noHeadRule = defineOpmRule<ChannelRuleFindingData>({
  id: 'no-head',
  title: 'A channel has a head',
  what: (data) =>
    `channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)} has no head because every entry is replaced or skipped by another`,
  why: 'The head is the version that new installations get.',
  fix: 'Remove the edge to the newest version. The name of that version must not appear in any `replaces` or `skips` field.',
})

export const severalHeadsRule = defineOpmRule<ChannelRuleFindingData & { heads: readonly string[] }>({
  id: 'several-heads',
  title: 'A channel has one head',
  what: (data) =>
    `channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)} has ${data.heads.length} heads: ${data.heads.map(quoteLikeGo).join(', ')}`,
  why: 'The head is the version that new installations get. Exactly one entry must be neither replaced nor skipped.',
  fix: 'Make the newest entry replace or skip the others, directly or through intermediate entries.',
})

export const replacesCycleRule = defineOpmRule<ChannelRuleFindingData & { cycle: readonly string[] }>({
  id: 'replaces-cycle',
  title: 'Upgrades do not form a cycle',
  what: (data) =>
    `in channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)}, \`replaces\` forms a cycle: ${data.cycle.map(quoteLikeGo).join(' replaces ')}`,
  why: 'Upgrades along the cycle would never end.',
  fix: 'Remove the `replaces` field that points from an older version to a newer one.',
})

export const strandedBundleRule = defineOpmRule<ChannelRuleFindingData & { entry: string }>({
  id: 'stranded-bundle',
  title: 'Every entry can be upgraded to the head',
  what: (data) =>
    `${quoteLikeGo(data.entry)} is stranded in channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)}: no chain of \`replaces\` leads from the head to it, and no entry skips it`,
  why: 'Users of the stranded version cannot upgrade. opm follows `replaces` from the head only until it reaches a skipped entry.',
  fix: 'Make a newer entry replace the stranded entry, or add the stranded entry to the `skips` field of a newer entry.',
})

export const namelessEntryRule = defineOpmRule<ChannelRuleFindingData>({
  id: 'nameless-entry',
  title: 'Every channel entry specifies a bundle',
  what: (data) =>
    `an entry of channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)} has no name`,
  why: 'An entry refers to its bundle by name.',
  fix: 'Add `name:` with the bundle name.',
})

export const emptySkipRule = defineOpmRule<ChannelRuleFindingData & { entry: string; index: number }>({
  id: 'empty-skip',
  title: 'Every `skips` entry specifies a bundle',
  what: (data) =>
    `skips[${data.index}] of entry ${quoteLikeGo(data.entry)} in channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)} is empty`,
  why: 'An empty name does not skip any bundle.',
  fix: 'Remove the empty item, or replace it with the name of the bundle to skip.',
})

export const invalidSkipRangeRule = defineOpmRule<
  ChannelRuleFindingData & { entry: string; skipRange: string; error: string }
>({
  id: 'invalid-skip-range',
  title: 'A skipRange is a valid version range',
  what: (data) =>
    `skipRange ${quoteLikeGo(data.skipRange)} of entry ${quoteLikeGo(data.entry)} in channel ${quoteLikeGo(data.channel)} of package ${quoteLikeGo(data.package)} cannot be parsed: ${data.error}`,
  why: 'OLM cannot offer upgrades based on a range that it cannot parse.',
  fix: 'Use comparisons with full versions, such as `>=1.0.0 <1.4.2`. Commas, `^`, and `~` are not supported.',
})
