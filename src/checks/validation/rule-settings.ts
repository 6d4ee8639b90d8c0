// The configuration's word on rules: another severity, off, or silent for some packages and paths.
// What opm itself refuses has no switch.
import { minimatch } from 'minimatch'
import type { Config } from '../../config/config.ts'
import type { Finding, Severity } from '../../findings/finding.ts'

export type RuleSettings = Config['rules']

/**
 * Findings as the configuration wants them. Those of rules in `fixed` stay as they are, whatever it says. `root` is the
 * directory in the repository that the findings' files are told from.
 */
export function applyRuleSettings(
  findings: readonly Finding[],
  settings: RuleSettings,
  fixed: ReadonlySet<string>,
  root = '',
): Finding[] {
  return findings.flatMap((found) => {
    const setting = Object.hasOwn(settings, found.rule) ? settings[found.rule] : undefined
    if (setting === undefined || fixed.has(found.rule)) return [found]
    const { severity, ignore } =
      typeof setting === 'string'
        ? { severity: setting, ignore: [] }
        : { severity: setting.severity, ignore: setting.ignore }
    if (severity === 'off' || ignore.some((pattern) => isMeant(found, root, pattern))) return []
    return [severity === undefined ? found : { ...found, severity: severity satisfies Severity }]
  })
}

/** Whether a rule is switched off, altogether or for this package or file. */
export function isSilent(
  rule: string,
  place: { readonly package: string; readonly file: string },
  settings: RuleSettings,
): boolean {
  const setting = Object.hasOwn(settings, rule) ? settings[rule] : undefined
  if (setting === undefined) return false
  if (typeof setting === 'string') return setting === 'off'
  return setting.severity === 'off' || setting.ignore.some((pattern) => names(pattern, place))
}

/** Whether a pattern is the finding's package, or a glob that its file matches. A catalog is meant by its directory, too. */
function isMeant({ at, data }: Finding, root: string, pattern: string): boolean {
  const file = at && root !== '' ? `${root}/${at.file}` : at?.file
  return names(pattern, { package: data?.package, file })
}

function names(
  pattern: string,
  place: { readonly package?: unknown; readonly file?: string | undefined },
): boolean {
  return (
    place.package === pattern || (place.file !== undefined && minimatch(place.file, pattern, { dot: true }))
  )
}
