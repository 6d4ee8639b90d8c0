// All rules that compare the base with the result. Made by `npm run rule-pages`: edit the rules, not this list.
import { collectRules } from '@catalog-bot/findings/rule'
import type { UpgradeRule } from './upgrade-rule.ts'
import * as edits from './edits.ts'
import * as removals from './removals.ts'

/** The rules of ./, sorted by id. */
export const upgradeRules: readonly UpgradeRule[] = collectRules([edits, removals])
