// Applies configured severities and exclusions to findings. opm's own errors cannot be disabled.
import { minimatch } from 'minimatch'
import type { Finding, Severity } from '@catalog-bot/findings/finding'
import { defineRule } from '@catalog-bot/findings/rule'
import type { Config } from '../../config/config.ts'

export const unknownOpmReleaseRule = defineRule<{ opm: string }>({
  id: 'opm-release-unknown',
  check: 'validation',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  title: 'catalog-bot supports the configured opm release',
  what: ({ opm }) => `catalog-bot does not support the rules of opm ${opm}`,
  why: 'The opm release determines which catalogs are valid, so a wrong guess could allow a catalog that clusters reject.',
  fix: 'Ask a maintainer to set `opm` in .github/catalog-bot.yml to v1.28 or later.',
})

export type RuleSettings = Config['rules']

export interface FindingPackageAndFile {
  readonly package?: unknown
  readonly file?: string | undefined
}

/**
 * Applies settings except to rules in `fixed`. `locationsOf` returns a finding's locations. A finding is dropped if
 * all of them are ignored.
 */
export function applyRuleSettings(
  findings: readonly Finding[],
  settings: RuleSettings,
  fixed: ReadonlySet<string>,
  locationsOf: (found: Finding) => readonly FindingPackageAndFile[] = (found) => [
    getFindingPackageAndFile(found),
  ],
): Finding[] {
  return findings.flatMap((found) => {
    const setting = getRuleSetting(found.rule, settings)
    if (setting === undefined || fixed.has(found.rule)) return [found]
    const { severity, ignore } = setting
    const isIgnored = (location: FindingPackageAndFile) =>
      ignore.some((pattern) => matchesIgnorePattern(pattern, location))
    const locations = locationsOf(found)
    if (severity === 'off' || (locations.length > 0 && locations.every(isIgnored))) return []
    return [severity === undefined ? found : { ...found, severity: severity satisfies Severity }]
  })
}

export function isRuleSilenced(rule: string, location: FindingPackageAndFile, settings: RuleSettings) {
  const setting = getRuleSetting(rule, settings)
  if (setting === undefined) return false
  return (
    setting.severity === 'off' || setting.ignore.some((pattern) => matchesIgnorePattern(pattern, location))
  )
}

/** Whether the configuration gives the rule a severity, which enables optional rules. */
export function hasConfiguredSeverity(rule: string, settings: RuleSettings): boolean {
  return getRuleSetting(rule, settings)?.severity !== undefined
}

function getRuleSetting(rule: string, settings: RuleSettings) {
  const setting = Object.hasOwn(settings, rule) ? settings[rule] : undefined
  return typeof setting === 'string' ? { severity: setting, ignore: [] } : setting
}

/** `root`: the directory that the finding's file is relative to. */
export function getFindingPackageAndFile({ at, data }: Finding, root = ''): FindingPackageAndFile {
  return { package: data?.package, file: at && root !== '' ? `${root}/${at.file}` : at?.file }
}

/** Whether the pattern equals the package or matches the file as a glob. */
function matchesIgnorePattern(pattern: string, location: FindingPackageAndFile): boolean {
  return (
    location.package === pattern ||
    (location.file !== undefined && minimatch(location.file, pattern, { dot: true }))
  )
}
