// All rules that compare the base with the result. Made by `npm run rule-pages`: edit the rules, not this list.
import type { UpgradeRule } from './upgrade-rule.ts'
import {
  bundleEditedRule,
  bundleMetadataEditedRule,
  defaultChannelChangedRule,
  headMovesBackwardsRule,
  installedVersionStrandedRule,
} from './edits.ts'
import {
  bundleRemovedRule,
  channelRemovedRule,
  deprecatedChannelRemovedRule,
  newlyDeprecatedRule,
  packageRemovedRule,
} from './removals.ts'

/** The rules of ./, sorted by id. */
export const upgradeRules: readonly UpgradeRule[] = [
  bundleEditedRule,
  bundleMetadataEditedRule,
  bundleRemovedRule,
  channelRemovedRule,
  defaultChannelChangedRule,
  deprecatedChannelRemovedRule,
  headMovesBackwardsRule,
  installedVersionStrandedRule,
  newlyDeprecatedRule,
  packageRemovedRule,
]
