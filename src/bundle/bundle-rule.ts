// Rules that search what a registry+v1 bundle says: what they are given, what they yield, and how a hit becomes a
// finding. A rule sees neither files nor other rules; places and words are added in one place.
import type { Finding } from '../findings/finding.ts'
import { finding, type SearchingRule } from '../findings/rule.ts'
import { suites, type Suite } from '../findings/suites.ts'
import type { BundlePlaces, Path } from './bundle-places.ts'
import type { RegistryBundle } from './registry-bundle.ts'

/**
 * Names that stand for several suites, or for one of ours: operator-sdk's `suite=operatorframework`, its validator
 * `operatorhub`, and the names of its others.
 */
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

/** The suites of a list separated by commas; else the wrong name. */
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

/** The kind of rules that search a bundle. */
export interface OfBundle {
  readonly judges: 'bundle'
  readonly given: readonly [bundle: RegistryBundle]
  readonly hit: {
    /** The CSV's file, where it is left out. */
    readonly file?: string
    readonly path?: Path
  }
}

export type BundleRule = SearchingRule<object, OfBundle>

/** What a rule finds in a bundle: its words, and the places of its hits in the bundle's files. */
export function* findInBundle(
  rule: BundleRule,
  bundle: RegistryBundle,
  placeOf: BundlePlaces,
): Generator<Finding> {
  for (const { file, path, data } of rule.find(bundle))
    yield finding(rule, placeOf(file ?? bundle.csv.file, path), data)
}
