// The rules about the content of a registry+v1 bundle.
import type { BundleRule } from './bundle-rule.ts'
import type { RuleSuite } from '@catalog-bot/findings/rule'
import { bundleRules } from './rules.ts'

export const bundleContentRules: readonly BundleRule[] = bundleRules.filter(
  (rule): rule is BundleRule => 'find' in rule,
)

/** Rules that are off unless their suite or a configured severity enables them. */
export const optInBundleRuleIds: ReadonlySet<string> = new Set(
  bundleRules.filter(({ suite }) => suite !== undefined).map(({ id }) => id),
)

export const suiteByBundleRuleId: ReadonlyMap<string, RuleSuite> = new Map(
  bundleRules.flatMap(({ id, suite }) => (suite === undefined ? [] : [[id, suite] as const])),
)
