// A removed channel, which breaks its subscriptions. Users know about the removal only if the channel was deprecated.
import { defineRule } from '@catalog-bot/findings/rule'
import type { PackageChange } from '../../../pull-request/change.ts'
import { findPackageLocation, type BaseAndResultPackage, type UpgradeRuleSignature } from './upgrade-rule.ts'

export const channelRemoved = defineRule<{ channel: string }, UpgradeRuleSignature>({
  id: 'channel-removed',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A channel is deprecated before it is removed',
  format: ({ channel }) => ({
    what: `channel "${channel}" is removed without prior deprecation`,
    why: 'Every subscription to the channel stops receiving updates, and its users get no warning.',
    fix: 'Keep the channel, deprecate it in olm.deprecations with a message that names its successor, and remove it later.',
  }),
  find: (change, sides) => findChannelRemovals(change, sides, false),
})

export const deprecatedChannelRemoved = defineRule<{ channel: string }, UpgradeRuleSignature>({
  id: 'deprecated-channel-removed',
  check: 'validation',
  overridable: true,
  judges: 'pull request',
  severity: 'warning',
  since: '0.1.0',
  title: 'A deprecated channel is removed only when it is no longer in use',
  format: ({ channel }) => ({
    what: `deprecated channel "${channel}" is removed`,
    why: 'Subscriptions that still use the channel stop getting updates.',
    fix: 'If the channel has been deprecated long enough, no action is needed.',
  }),
  find: (change, sides) => findChannelRemovals(change, sides, true),
})

function* findChannelRemovals(
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
