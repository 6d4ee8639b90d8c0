// The configuration's word on rules: another severity, off, or silent for some packages and paths.
// What opm itself refuses has no switch.
import { minimatch } from 'minimatch'
import type { Config } from '../../config/config.ts'
import type { Finding, Severity } from '../../findings/finding.ts'

export type RuleSettings = Config['rules']

/** What a finding speaks of, as the configuration names it. */
export interface RulePlace {
  readonly package?: unknown
  readonly file?: string | undefined
}

/**
 * Findings as the configuration wants them. Those of rules in `fixed` stay as they are, whatever it says. `placesOf` says
 * what a finding speaks of: it is silent where all of that is to be ignored.
 */
export function applyRuleSettings(
  findings: readonly Finding[],
  settings: RuleSettings,
  fixed: ReadonlySet<string>,
  placesOf: (found: Finding) => readonly RulePlace[] = (found) => [placeOf(found)],
): Finding[] {
  return findings.flatMap((found) => {
    const setting = Object.hasOwn(settings, found.rule) ? settings[found.rule] : undefined
    if (setting === undefined || fixed.has(found.rule)) return [found]
    const { severity, ignore } =
      typeof setting === 'string'
        ? { severity: setting, ignore: [] }
        : { severity: setting.severity, ignore: setting.ignore }
    const isIgnored = (place: RulePlace) => ignore.some((pattern) => names(pattern, place))
    const places = placesOf(found)
    if (severity === 'off' || (places.length > 0 && places.every(isIgnored))) return []
    return [severity === undefined ? found : { ...found, severity: severity satisfies Severity }]
  })
}

/** Whether a rule is switched off, altogether or for this package or file. */
export function isSilent(rule: string, place: RulePlace, settings: RuleSettings): boolean {
  const setting = Object.hasOwn(settings, rule) ? settings[rule] : undefined
  if (setting === undefined) return false
  if (typeof setting === 'string') return setting === 'off'
  return setting.severity === 'off' || setting.ignore.some((pattern) => names(pattern, place))
}

/** The package and the file of a finding; `root` is the directory in the repository that its file is told from. */
export function placeOf({ at, data }: Finding, root = ''): RulePlace {
  return { package: data?.package, file: at && root !== '' ? `${root}/${at.file}` : at?.file }
}

/** Whether a pattern is the package, or a glob that the file matches. */
function names(pattern: string, place: RulePlace): boolean {
  return (
    place.package === pattern || (place.file !== undefined && minimatch(place.file, pattern, { dot: true }))
  )
}
