// The rules about the content of a registry+v1 bundle.
import type { BundleRule } from './bundle-rule.ts'
import type { Suite } from '../findings/suites.ts'
import { bundleRules } from './rules.ts'

export const contentRules: readonly BundleRule[] = bundleRules.filter(
  (rule): rule is BundleRule => 'find' in rule,
)

/** Rules that run only if their suite or a configured severity enables them. */
export const optionalRules: ReadonlySet<string> = new Set(
  bundleRules.filter(({ suite }) => suite !== undefined).map(({ id }) => id),
)

export const suitesOfRules: ReadonlyMap<string, Suite> = new Map(
  bundleRules.flatMap(({ id, suite }) => (suite === undefined ? [] : [[id, suite] as const])),
)
