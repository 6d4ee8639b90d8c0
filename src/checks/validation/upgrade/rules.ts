// Every rule that compares base and result. Made by `npm run rule-pages`: edit the rules, not this list.
import type { UpgradeRule } from './upgrade-rule.ts'
import { bundleEdited, bundleMetadataEdited } from './edits.ts'
import { bundleRemoved } from './removals.ts'
import { channelRemoved, deprecatedChannelRemoved } from './channel-removed.ts'
import { defaultChannelChanged } from './default-channel-changed.ts'
import { headMovesBackwards } from './head-moves-backwards.ts'
import { installedVersionStranded } from './installed-version-stranded.ts'
import { newlyDeprecated } from './newly-deprecated.ts'
import { packageRemoved } from './package-removed.ts'

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
