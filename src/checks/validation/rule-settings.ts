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
  format: ({ opm }) => ({
    what: `catalog-bot does not support the rules of opm ${opm}`,
    why: 'The opm release determines which catalogs are valid, so a wrong guess could allow a catalog that clusters reject.',
    fix: 'Ask a maintainer to set `opm` in .github/catalog-bot.yml to v1.28 or later.',
  }),
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
    const setting = Object.hasOwn(settings, found.rule) ? settings[found.rule] : undefined
    if (setting === undefined || fixed.has(found.rule)) return [found]
    const { severity, ignore } =
      typeof setting === 'string'
        ? { severity: setting, ignore: [] }
        : { severity: setting.severity, ignore: setting.ignore }
    const isIgnored = (location: FindingPackageAndFile) =>
      ignore.some((pattern) => matchesIgnorePattern(pattern, location))
    const locations = locationsOf(found)
    if (severity === 'off' || (locations.length > 0 && locations.every(isIgnored))) return []
    return [severity === undefined ? found : { ...found, severity: severity satisfies Severity }]
  })
}

export function isRuleSilenced(rule: string, location: FindingPackageAndFile, settings: RuleSettings) {
  const setting = Object.hasOwn(settings, rule) ? settings[rule] : undefined
  if (setting === undefined) return false
  if (typeof setting === 'string') return setting === 'off'
  return (
    setting.severity === 'off' || setting.ignore.some((pattern) => matchesIgnorePattern(pattern, location))
  )
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
