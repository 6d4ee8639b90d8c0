// Drops findings of rules about new bundles for old ones, unless the configuration enables the rule.
import type { Finding } from '../../findings/finding.ts'
import type { PackageChange } from '../../change/change.ts'
import type { RuleSettings } from './rule-settings.ts'
import { rules } from './rules.ts'

const ofNewBundles: ReadonlySet<string> = new Set(
  rules.filter((rule) => rule.ofNewBundles).map(({ id }) => id),
)

/** `changed`: the packages that a pull request changes; absent when checking a catalog on its own. */
export function withoutPublished(
  findings: readonly Finding[],
  settings: RuleSettings,
  changed: readonly PackageChange[] = [],
): readonly Finding[] {
  if (!findings.some(({ rule }) => ofNewBundles.has(rule))) return findings
  const added = new Set(
    changed.flatMap((its) => its.bundles.added.map(({ name }) => JSON.stringify([its.name, name]))),
  )
  return findings.filter(
    ({ rule, data }) =>
      !ofNewBundles.has(rule) ||
      isAskedFor(rule, settings) ||
      added.has(JSON.stringify([data?.['package'], data?.['bundle']])),
  )
}

function isAskedFor(rule: string, settings: RuleSettings): boolean {
  const setting = Object.hasOwn(settings, rule) ? settings[rule] : undefined
  return typeof setting === 'string' || setting?.severity !== undefined
}
