// The rules that search what a registry+v1 bundle says, of all that there are about bundles.
import type { BundleRule } from './bundle-rule.ts'
import { bundleRules } from './rules.ts'

export const contentRules: readonly BundleRule[] = bundleRules.filter(
  (rule): rule is BundleRule => 'find' in rule,
)

/** Rules that are silent unless they are asked for, by their suite or by a severity in the configuration. */
export const optionalRules: ReadonlySet<string> = new Set(
  bundleRules.filter(({ suite }) => suite !== undefined).map(({ id }) => id),
)
