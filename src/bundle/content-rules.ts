// The rules that search what a registry+v1 bundle says, of all that there are about bundles.
import type { BundleRule } from './bundle-rule.ts'
import type { Suite } from '../findings/suites.ts'
import { bundleRules } from './rules.ts'

export const contentRules: readonly BundleRule[] = bundleRules.filter(
  (rule): rule is BundleRule => 'find' in rule,
)

/** Rules that are silent unless they are asked for, by their suite or by a severity in the configuration. */
export const optionalRules: ReadonlySet<string> = new Set(
  bundleRules.filter(({ suite }) => suite !== undefined).map(({ id }) => id),
)

/** The suite of each of these. */
export const suitesOfRules: ReadonlyMap<string, Suite> = new Map(
  bundleRules.flatMap(({ id, suite }) => (suite === undefined ? [] : [[id, suite] as const])),
)
