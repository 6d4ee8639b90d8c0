// Every rule that compares base and result. Made by `npm run rule-pages`: edit the rules, not this list.
import type { UpgradeRule } from './upgrade-rule.ts'
import {
  bundleEdited,
  bundleMetadataEdited,
  defaultChannelChanged,
  headMovesBackwards,
  installedVersionStranded,
} from './edits.ts'
import {
  bundleRemoved,
  channelRemoved,
  deprecatedChannelRemoved,
  newlyDeprecated,
  packageRemoved,
} from './removals.ts'

/** The rules of ./, sorted by id. */
export const upgradeRules: readonly UpgradeRule[] = [
  bundleEdited,
  bundleMetadataEdited,
  bundleRemoved,
  channelRemoved,
  defaultChannelChanged,
  deprecatedChannelRemoved,
  headMovesBackwards,
  installedVersionStranded,
  newlyDeprecated,
  packageRemoved,
]
