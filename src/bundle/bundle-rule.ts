// Rules about the content of a registry+v1 bundle: their input, their output and how a hit becomes a finding.
import type { Finding } from '../findings/finding.ts'
import { finding, type SearchingRule } from '../findings/rule.ts'
import { suites, type Suite } from '../findings/suites.ts'
import type { BundlePlaces, Path } from './bundle-places.ts'
import type { RegistryBundle } from './registry-bundle.ts'

/** operator-sdk's selectors: its `suite=operatorframework`, its validator `operatorhub` and the other validators. */
const selectors: Readonly<Record<string, readonly Suite[]>> = {
  all: suites,
  operatorframework: ['operatorhub', 'capabilities', 'categories', 'deprecated-apis', 'good-practices'],
  operatorhub: ['operatorhub', 'capabilities', 'categories', 'deprecated-apis'],
  operatorhubv2: ['operatorhub', 'deprecated-apis'],
  standardcapabilities: ['capabilities'],
  standardcategories: ['categories'],
  'alpha-deprecated-apis': ['deprecated-apis'],
  object: ['objects'],
}

/** Parses a comma-separated list; returns the first invalid name as the error. */
export function parseSuites(
  text: string,
): { readonly suites: readonly Suite[] } | { readonly unknown: string } {
  const found = new Set<Suite>()
  for (const name of text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    const meant = Object.hasOwn(selectors, name) ? selectors[name] : suites.filter((suite) => suite === name)
    if (meant === undefined || meant.length === 0) return { unknown: name }
    for (const suite of meant) found.add(suite)
  }
  return { suites: [...found] }
}

export interface OfBundle {
  readonly judges: 'bundle'
  readonly given: readonly [bundle: RegistryBundle]
  readonly hit: {
    /** Defaults to the CSV's file. */
    readonly file?: string
    readonly path?: Path
  }
}

export type BundleRule = SearchingRule<object, OfBundle>

export function* findInBundle(
  rule: BundleRule,
  bundle: RegistryBundle,
  placeOf: BundlePlaces,
): Generator<Finding> {
  for (const { file, path, data } of rule.find(bundle))
    yield finding(rule, placeOf(file ?? bundle.csv.file, path), data)
}
