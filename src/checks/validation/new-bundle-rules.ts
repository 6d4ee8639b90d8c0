// Drops findings of rules about new bundles for old ones, unless the configuration enables the rule.
import type { Finding } from '@catalog-bot/findings/finding'
import type { PackageChange } from '../../pull-request/change.ts'
import type { RuleSettings } from './rule-settings.ts'
import { catalogRules } from './rules.ts'

const ruleIdsForNewBundlesOnly: ReadonlySet<string> = new Set(
  catalogRules.filter((rule) => rule.ofNewBundles).map(({ id }) => id),
)

/** `changed`: the packages that a pull request changes; absent when checking a catalog on its own. */
export function dropFindingsOnPublishedBundles(
  findings: readonly Finding[],
  settings: RuleSettings,
  changed: readonly PackageChange[] = [],
): readonly Finding[] {
  if (!findings.some(({ rule }) => ruleIdsForNewBundlesOnly.has(rule))) return findings
  const added = new Set(
    changed.flatMap((its) => its.bundles.added.map(({ name }) => JSON.stringify([its.name, name]))),
  )
  return findings.filter(
    ({ rule, data }) =>
      !ruleIdsForNewBundlesOnly.has(rule) ||
      isRuleEnabled(rule, settings) ||
      added.has(JSON.stringify([data?.['package'], data?.['bundle']])),
  )
}

function isRuleEnabled(rule: string, settings: RuleSettings): boolean {
  const setting = Object.hasOwn(settings, rule) ? settings[rule] : undefined
  return typeof setting === 'string' || setting?.severity !== undefined
}
