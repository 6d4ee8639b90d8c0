// Every rule, for rule pages, settings, and reports.
import { bundleRules } from '@catalog-bot/bundle/rules'
import { catalogModelRules } from '@catalog-bot/fbc/model/rules/all'
import { catalogFileRules, catalogLoadRules } from '@catalog-bot/fbc/load/rules'
import { configUnreadableRule } from '../config/config-path.ts'
import type { AnyFindingRule } from '@catalog-bot/findings/rule'
import * as bundleDirectoryRules from './bundles/rules.ts'
import * as commitRules from './commits/rules.ts'
import * as imageRules from './images/rules.ts'
import * as installRules from './install/rules.ts'
import * as ownershipRules from './ownership/rules.ts'
import { unknownOpmReleaseRule } from './validation/rule-settings.ts'
import * as templateRules from './validation/templates/rules.ts'
import { upgradeRules } from './validation/upgrade/rules.ts'
import { catalogRules } from './validation/rules.ts'

export const allRules: readonly AnyFindingRule[] = [
  configUnreadableRule,
  ...Object.values(ownershipRules),
  ...Object.values(commitRules),
  ...catalogFileRules,
  ...catalogLoadRules,
  ...catalogModelRules,
  ...catalogRules,
  ...upgradeRules,
  ...Object.values(templateRules),
  ...Object.values(bundleDirectoryRules),
  unknownOpmReleaseRule,
  ...Object.values(imageRules),
  ...bundleRules,
  ...Object.values(installRules),
]

/** Rules that a maintainer can override for one pull request. Never includes rules that opm enforces. */
export const overridableRuleIds: ReadonlySet<string> = new Set(
  allRules.filter(({ overridable, fixed }) => overridable && !fixed).map(({ id }) => id),
)
