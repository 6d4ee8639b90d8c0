import { defineRule } from '../../../findings/rule.ts'
import { quote } from '../../../go/text.ts'

interface ChannelRuleData {
  readonly package: string
  readonly channel: string
}

/** For channels, bundles and deprecations; `object` is for example `channel "stable"`. */
export const unknownPackage = defineRule<{ package: string; object: string }>({
  id: 'unknown-package',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Channels, bundles and deprecations belong to a package of the catalog',
  format: (data) => ({
    what: `${data.object} belongs to package ${quote(data.package)}, which this catalog does not declare`,
    why: 'Without its olm.package blob a package cannot be served.',
    fix: `Add the olm.package blob, or correct \`package:\` (names are case-sensitive).`,
  }),
})

export const missingPackage = defineRule<{ object: string }>({
  id: 'missing-package',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Channels, bundles and deprecations name their package',
  format: (data) => ({
    what: `${data.object} names no package`,
    why: 'Every channel, bundle and deprecation belongs to exactly one package.',
    fix: 'Add `package:` with the name of its package.',
  }),
})

export const namelessChannel = defineRule<{ package: string }>({
  id: 'nameless-channel',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every channel has a name',
  format: (data) => ({
    what: `a channel of package ${quote(data.package)} has no name`,
    why: 'Subscriptions follow a channel by its name.',
    fix: 'Add `name:` with the channel name.',
  }),
})

export const duplicateChannel = defineRule<ChannelRuleData>({
  id: 'duplicate-channel',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A channel is declared once in its package',
  format: (data) => ({
    what: `channel ${quote(data.channel)} of package ${quote(data.package)} is declared again`,
    why: 'A channel is one blob with all its entries; two blobs are not merged.',
    fix: 'Join the entries in one olm.channel blob.',
  }),
})

export const duplicateEntry = defineRule<ChannelRuleData & { entry: string }>({
  id: 'duplicate-entry',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A bundle stands once in a channel',
  format: (data) => ({
    what: `channel ${quote(data.channel)} of package ${quote(data.package)} lists ${quote(data.entry)} again`,
    why: 'An entry holds all upgrade edges of its bundle in that channel.',
    fix: 'Join the edges in one entry and remove the other.',
  }),
})

export const entryWithoutBundle = defineRule<ChannelRuleData & { entry: string }>({
  id: 'entry-without-bundle',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every channel entry has its bundle in the catalog',
  format: (data) => ({
    what: `channel ${quote(data.channel)} of package ${quote(data.package)} lists ${quote(data.entry)}, but the catalog has no such bundle`,
    why: 'OLM could choose the entry and would then find nothing to install.',
    fix: 'Add the olm.bundle blob, correct the name, or remove the entry.',
  }),
})

export const emptyChannel = defineRule<ChannelRuleData>({
  id: 'empty-channel',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A channel has at least one entry',
  format: (data) => ({
    what: `channel ${quote(data.channel)} of package ${quote(data.package)} has no entries`,
    why: 'There is nothing to install from it.',
    fix: 'Add entries (is the field spelt `entries:`?), or remove the channel.',
  }),
})

export const noHead = defineRule<ChannelRuleData>({
  id: 'no-head',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A channel has a head',
  format: (data) => ({
    what: `channel ${quote(data.channel)} of package ${quote(data.package)} has no head: every entry is replaced or skipped by another`,
    why: 'The head is the version that new installations get.',
    fix: 'Remove the edge that points at the newest version: its name must be in no `replaces` and in no `skips`.',
  }),
})

export const severalHeads = defineRule<ChannelRuleData & { heads: readonly string[] }>({
  id: 'several-heads',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A channel has one head',
  format: (data) => ({
    what: `channel ${quote(data.channel)} of package ${quote(data.package)} has ${data.heads.length} heads: ${data.heads.map(quote).join(', ')}`,
    why: 'The head is the one version that new installations get; it must be the only entry that nothing replaces or skips.',
    fix: 'Let the newest entry replace or skip the others, directly or through the entries between.',
  }),
})

export const replacesCycle = defineRule<ChannelRuleData & { cycle: readonly string[] }>({
  id: 'replaces-cycle',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Upgrades do not run in a circle',
  format: (data) => ({
    what: `in channel ${quote(data.channel)} of package ${quote(data.package)} \`replaces\` runs in a circle: ${data.cycle.map(quote).join(' replaces ')}`,
    why: 'Upgrades along the circle would never end.',
    fix: 'Remove the `replaces` that points from an older version to a newer one.',
  }),
})

export const strandedBundle = defineRule<ChannelRuleData & { entry: string }>({
  id: 'stranded-bundle',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every entry can be upgraded to the head',
  format: (data) => ({
    what: `${quote(data.entry)} is stranded in channel ${quote(data.channel)} of package ${quote(data.package)}: no chain of \`replaces\` leads from the head to it, and nothing skips it`,
    why: 'Who has it installed gets no upgrade. The chain ends at an entry that is skipped, so edges below that do not count.',
    fix: 'Let a newer entry replace it, or name it in the `skips` of one.',
  }),
})

export const namelessEntry = defineRule<ChannelRuleData>({
  id: 'nameless-entry',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every channel entry names a bundle',
  format: (data) => ({
    what: `an entry of channel ${quote(data.channel)} of package ${quote(data.package)} has no name`,
    why: 'An entry stands for the bundle that it names.',
    fix: 'Add `name:` with the name of the bundle.',
  }),
})

export const emptySkip = defineRule<ChannelRuleData & { entry: string; index: number }>({
  id: 'empty-skip',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every element of skips names a bundle',
  format: (data) => ({
    what: `skips[${data.index}] of entry ${quote(data.entry)} in channel ${quote(data.channel)} of package ${quote(data.package)} is empty`,
    why: 'An empty name skips nothing.',
    fix: 'Remove the empty element, or name the bundle that is skipped.',
  }),
})

export const invalidSkipRange = defineRule<
  ChannelRuleData & { entry: string; skipRange: string; error: string }
>({
  id: 'invalid-skip-range',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A skipRange is a version range',
  format: (data) => ({
    what: `skipRange ${quote(data.skipRange)} of entry ${quote(data.entry)} in channel ${quote(data.channel)} of package ${quote(data.package)} cannot be read: ${data.error}`,
    why: 'A range that cannot be read offers no upgrade to anybody.',
    fix: 'Write comparisons of full versions, such as `>=1.0.0 <1.4.2` (no commas, no `^` or `~`).',
  }),
})
