// Rules about the content of a registry+v1 bundle: their input, their output, and the conversion of hits to findings.
import type { Finding } from '@catalog-bot/findings/finding'
import {
  createFinding,
  type FindingRuleWithFinder,
  ruleSuiteNames,
  type RuleDefiner,
  type RuleSuite,
  createRuleDefiner,
} from '@catalog-bot/findings/rule'
import type { BundleFieldLocator, FieldPath } from './manifest-document.ts'
import type { RegistryBundle } from './registry-bundle.ts'

/** operator-sdk's selectors: `suite=operatorframework`, the validator `operatorhub`, and the other validators. */
const ruleSuitesByOperatorSdkSelector: Readonly<Record<string, readonly RuleSuite[]>> = {
  all: ruleSuiteNames,
  operatorframework: ['operatorhub', 'capabilities', 'categories', 'deprecated-apis', 'good-practices'],
  operatorhub: ['operatorhub', 'capabilities', 'categories', 'deprecated-apis'],
  operatorhubv2: ['operatorhub', 'deprecated-apis'],
  standardcapabilities: ['capabilities'],
  standardcategories: ['categories'],
  'alpha-deprecated-apis': ['deprecated-apis'],
  object: ['objects'],
}

/** Parses a comma-separated list; returns the first invalid name as the error. */
export function parseRuleSuiteSelectors(
  text: string,
): { readonly suites: readonly RuleSuite[] } | { readonly unknown: string } {
  const found = new Set<RuleSuite>()
  for (const name of text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    const meant = Object.hasOwn(ruleSuitesByOperatorSdkSelector, name)
      ? ruleSuitesByOperatorSdkSelector[name]
      : ruleSuiteNames.filter((suite) => suite === name)
    if (meant === undefined || meant.length === 0) return { unknown: name }
    for (const suite of meant) found.add(suite)
  }
  return { suites: [...found] }
}

export interface BundleRuleInputAndHit {
  readonly judges: 'bundle'
  readonly given: readonly [bundle: RegistryBundle]
  readonly hit: {
    /** Defaults to the CSV's file. */
    readonly file?: string
    readonly path?: FieldPath
  }
}

const bundleRuleDefaults = {
  check: 'images',
  judges: 'bundle',
  since: '0.1.0',
  network: true,
  overridable: true,
} as const

/** A rule about the content of a bundle. A maintainer can override all of them. */
export const defineBundleRule: RuleDefiner<typeof bundleRuleDefaults, BundleRuleInputAndHit> =
  createRuleDefiner(bundleRuleDefaults)

export type BundleRule = FindingRuleWithFinder<object, BundleRuleInputAndHit>

export function* runBundleRule(
  rule: BundleRule,
  bundle: RegistryBundle,
  locate: BundleFieldLocator,
): Generator<Finding> {
  for (const { file, path, data } of rule.find(bundle))
    yield createFinding(rule, locate(file ?? bundle.csv.file, path), data)
}
