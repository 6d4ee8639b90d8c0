// The one shape of rules about what a registry+v1 bundle says: a sentence, a severity, words, and `find` over the
// bundle. A rule sees neither files nor other rules; places and words are added in one place.
import type { Finding } from '../findings/finding.ts'
import { finding, type AnyRule, type Rule } from '../findings/rule.ts'
import type { BundlePlaces, Path } from './bundle-places.ts'
import type { RegistryBundle } from './registry-bundle.ts'

/** Sets of rules that are asked for by name, after the optional validators of `operator-sdk bundle validate`. */
export const suites = [
  'operatorhub',
  'good-practices',
  'deprecated-apis',
  'community',
  'multiarch',
  'objects',
  'openshift',
] as const
export type Suite = (typeof suites)[number]

/** What operator-sdk's selector `suite=operatorframework` stands for. */
const operatorframework: readonly Suite[] = ['operatorhub', 'deprecated-apis', 'good-practices']

/** The suites of a list separated by commas, where `operatorframework` and `all` stand for several; else the wrong name. */
export function parseSuites(
  text: string,
): { readonly suites: readonly Suite[] } | { readonly unknown: string } {
  const found = new Set<Suite>()
  for (const name of text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    const meant =
      name === 'all'
        ? suites
        : name === 'operatorframework'
          ? operatorframework
          : suites.filter((suite) => suite === name)
    if (meant.length === 0) return { unknown: name }
    for (const suite of meant) found.add(suite)
  }
  return { suites: [...found] }
}

export interface BundleRule extends AnyRule {
  /** Without one, the rule is always asked. */
  readonly suite?: Suite
  readonly find: (bundle: RegistryBundle, placeOf: BundlePlaces) => Iterable<Finding>
}

interface Hit<Data extends object> {
  /** The CSV's file, where it is left out. */
  readonly file?: string
  readonly path?: Path
  readonly data: Data
}

interface BundleRuleText<Data extends object> extends Omit<Rule<Data>, 'check'> {
  readonly suite?: Suite
  find(bundle: RegistryBundle): Iterable<Hit<Data>>
}

/** Makes a rule: every hit becomes a finding with the rule's words. */
export function bundleRule<Data extends object>(text: BundleRuleText<Data>): BundleRule {
  const { id, severity, title, suite } = text
  const rule: Rule<Data> = { id, check: 'images', severity, title, say: (data) => text.say(data) }
  return {
    id,
    check: 'images',
    severity,
    title,
    ...(suite !== undefined && { suite }),
    find: function* (bundle, placeOf) {
      for (const { file, path, data } of text.find(bundle))
        yield finding(rule, placeOf(file ?? bundle.csv.file, path), data)
    },
  }
}
