import type { Location } from '@catalog-bot/findings/finding'
import {
  defineRule,
  findPackageLocation,
  formatTruncatedNameList,
  type BaseAndResultPackage,
} from './upgrade-rule.ts'
import type { PackageChange } from '../../../pull-request/change.ts'
import { toFindingLocation } from '../catalog-rule.ts'

/**
 * Removed bundles. The ownership check decides whether the author may remove them; installed-version-stranded finds
 * lost upgrade paths.
 */
export const bundleRemovedRule = defineRule<{ bundles: readonly string[] }>({
  id: 'bundle-removed',
  severity: 'warning',
  title: 'A published bundle remains in the catalog',
  what: ({ bundles }) =>
    `${bundles.length === 1 ? 'published bundle' : `${bundles.length} published bundles`} removed: ${formatTruncatedNameList(bundles)}`,
  why: 'Clusters that pin or reinstall a removed version can no longer install it.',
  fix: 'Keep the bundles, and deprecate or skip those that users should no longer install.',
  *find({ kind, bundles }, sides) {
    if (kind !== 'changed' || bundles.removed.length === 0) return
    yield {
      at: findPackageLocation(sides),
      about: [],
      data: { bundles: bundles.removed.map(({ name }) => name) },
    }
  },
})

export const channelRemovedRule = defineRule<{ channel: string }>({
  id: 'channel-removed',
  severity: 'warning',
  title: 'A channel is deprecated before it is removed',
  what: ({ channel }) => `channel "${channel}" is removed without prior deprecation`,
  why: 'Every subscription to the channel stops receiving updates, and its users get no warning.',
  fix: 'Keep the channel, deprecate it in olm.deprecations with a message that names its successor, and remove it later.',
  find: (change, sides) => findRemovedChannels(change, sides, false),
})

export const deprecatedChannelRemovedRule = defineRule<{ channel: string }>({
  id: 'deprecated-channel-removed',
  severity: 'warning',
  title: 'A deprecated channel is removed only when it is no longer in use',
  what: ({ channel }) => `deprecated channel "${channel}" is removed`,
  why: 'Subscriptions that still use the channel stop getting updates.',
  fix: 'If the channel has been deprecated long enough, no action is needed.',
  find: (change, sides) => findRemovedChannels(change, sides, true),
})

function* findRemovedChannels(
  { kind, channels }: PackageChange,
  sides: BaseAndResultPackage,
  deprecated: boolean,
) {
  const { base } = sides
  if (kind !== 'changed' || !base) return
  for (const channel of channels.removed) {
    const was = base.isDeprecated('olm.channel', channel) || base.isDeprecated('olm.package', '')
    if (was === deprecated) yield { at: findPackageLocation(sides), about: [channel], data: { channel } }
  }
}

export const packageRemovedRule = defineRule<{ name: string; bundles: number; deprecated: boolean }>({
  id: 'package-removed',
  severity: 'warning',
  title: 'A published package remains in the catalog',
  what: ({ name, bundles, deprecated }) =>
    `package "${name}" is removed, with ${bundles} ${bundles === 1 ? 'bundle' : 'bundles'}${deprecated ? ' (it was deprecated)' : ''}`,
  why: 'Existing subscriptions stop receiving updates, and users can no longer install the package.',
  fix: ({ deprecated }) =>
    deprecated
      ? 'If the package has been deprecated long enough, no action is needed.'
      : 'To inform users, first deprecate the package in olm.deprecations, and remove it later.',
  *find({ kind, name, bundles }, { base, result }) {
    if (kind !== 'removed' || !base || !result) return
    yield {
      about: [],
      data: { name, bundles: bundles.removed.length, deprecated: base.isDeprecated('olm.package', '') },
    }
  },
})

export const newlyDeprecatedRule = defineRule<{ what: string; message: string }>({
  id: 'newly-deprecated',
  severity: 'info',
  title: 'New deprecations are intentional',
  what: ({ what, message }) => `${what} is newly deprecated: ${message}`,
  why: 'Clusters that use the deprecated item show this message to their users.',
  fix: 'Make sure that the message explains what to use instead.',
  *find({ kind, deprecations }, { result }) {
    if (kind !== 'changed') return
    const locations = new Map<string, Location>()
    for (const { place, entries } of result?.deprecations ?? [])
      for (const { schema, name, mark } of entries) {
        const key = `${schema}\n${name}`
        if (!locations.has(key)) locations.set(key, toFindingLocation(place, mark))
      }
    for (const { schema, name, message } of deprecations.added) {
      yield {
        at: locations.get(`${schema}\n${name}`),
        about: [schema, name],
        data: {
          what: schema === 'olm.package' ? 'the package' : `${schema.replace('olm.', '')} "${name}"`,
          message,
        },
      }
    }
  },
})
