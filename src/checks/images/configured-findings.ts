// What the configuration says of image rules: another severity, off, silent in some places; and for rules of optional
// suites, that they count at all.
import { optionalRules } from '../../bundle/content-rules.ts'
import type { Finding } from '../../findings/finding.ts'
import { applyRuleSettings, type RulePlace, type RuleSettings } from '../validation/rule-settings.ts'

/** opm enforces nothing about images: every rule has a switch. */
const fixed: ReadonlySet<string> = new Set()

/**
 * The findings that count. One of an optional rule does where the configuration gives that rule a severity. `places` name
 * the image that all of them are about: one of them that is not to be ignored is enough.
 */
export function configuredFindings(
  findings: readonly Finding[],
  settings: RuleSettings,
  places?: readonly RulePlace[],
): Finding[] {
  const counted = findings.filter(({ rule }) => !optionalRules.has(rule) || hasSeverity(settings, rule))
  return applyRuleSettings(counted, settings, fixed, places && (() => places))
}

function hasSeverity(settings: RuleSettings, rule: string): boolean {
  const setting = Object.hasOwn(settings, rule) ? settings[rule] : undefined
  return typeof setting === 'string' || setting?.severity !== undefined
}
