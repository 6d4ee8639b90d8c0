// Applies configured severities to findings about images, bundles, and installation, and drops findings of disabled
// optional suites.
import { suiteByBundleRuleId } from '@catalog-bot/bundle/content-rules'
import type { Config } from '../config/config.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { applyRuleSettings, type FindingPackageAndFile } from './validation/rule-settings.ts'

const noFixedSeverityRuleIds: ReadonlySet<string> = new Set()

/**
 * The findings that count. An optional rule counts if its suite is enabled or the configuration gives it a severity.
 * `locations` reference the image; one location that is not ignored is enough.
 */
export function applyConfiguredSeverities(
  findings: readonly Finding[],
  config: Pick<Config, 'rules' | 'bundles'>,
  locations?: readonly FindingPackageAndFile[],
): Finding[] {
  const counted = findings.filter(({ rule }) => isRuleEnabled(rule, config))
  return applyRuleSettings(counted, config.rules, noFixedSeverityRuleIds, locations && (() => locations))
}

function isRuleEnabled(rule: string, { rules, bundles }: Pick<Config, 'rules' | 'bundles'>): boolean {
  const suite = suiteByBundleRuleId.get(rule)
  if (suite === undefined || bundles.suites.includes(suite)) return true
  const setting = Object.hasOwn(rules, rule) ? rules[rule] : undefined
  return typeof setting === 'string' || setting?.severity !== undefined
}
