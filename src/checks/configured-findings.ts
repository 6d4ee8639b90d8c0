// Applies configured severities and switches to rules about images, bundles and installing, and drops findings of
// disabled optional suites.
import { suitesOfRules } from '../bundle/content-rules.ts'
import type { Config } from '../config/config.ts'
import type { Finding } from '../findings/finding.ts'
import { applyRuleSettings, type RulePlace } from './validation/rule-settings.ts'

const fixed: ReadonlySet<string> = new Set()

/**
 * The findings that count. An optional rule counts if its suite is enabled or the configuration gives it a severity.
 * `places` name the image; one place that is not ignored is enough.
 */
export function configuredFindings(
  findings: readonly Finding[],
  config: Pick<Config, 'rules' | 'bundles'>,
  places?: readonly RulePlace[],
): Finding[] {
  const counted = findings.filter(({ rule }) => isAskedFor(rule, config))
  return applyRuleSettings(counted, config.rules, fixed, places && (() => places))
}

function isAskedFor(rule: string, { rules, bundles }: Pick<Config, 'rules' | 'bundles'>): boolean {
  const suite = suitesOfRules.get(rule)
  if (suite === undefined || bundles.suites.includes(suite)) return true
  const setting = Object.hasOwn(rules, rule) ? rules[rule] : undefined
  return typeof setting === 'string' || setting?.severity !== undefined
}
