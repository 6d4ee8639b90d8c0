// What the configuration says of rules about images, bundles and installing: another severity, off, silent in some places; and for
// rules of optional suites, that they count at all.
import { suitesOfRules } from '../bundle/content-rules.ts'
import type { Config } from '../config/config.ts'
import type { Finding } from '../findings/finding.ts'
import { applyRuleSettings, type RulePlace } from './validation/rule-settings.ts'

/** opm enforces nothing about them: every rule has a switch. */
const fixed: ReadonlySet<string> = new Set()

/**
 * The findings that count. One of an optional rule does where the configuration wants its suite, or gives the rule a
 * severity. `places` name the image that all of them are about: one of them that is not to be ignored is enough.
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
