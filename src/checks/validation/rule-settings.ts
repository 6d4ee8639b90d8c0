// Applies configured severities and exclusions to findings. opm's own errors cannot be switched off.
import { minimatch } from 'minimatch'
import type { Config } from '../../config/config.ts'
import type { Finding, Severity } from '../../findings/finding.ts'

export type RuleSettings = Config['rules']

export interface RulePlace {
  readonly package?: unknown
  readonly file?: string | undefined
}

/**
 * Applies settings except to rules in `fixed`. `placesOf` returns a finding's places; the finding is dropped if all are
 * ignored.
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

export function isSilent(rule: string, place: RulePlace, settings: RuleSettings): boolean {
  const setting = Object.hasOwn(settings, rule) ? settings[rule] : undefined
  if (setting === undefined) return false
  if (typeof setting === 'string') return setting === 'off'
  return setting.severity === 'off' || setting.ignore.some((pattern) => names(pattern, place))
}

/** `root`: the directory that the finding's file is relative to. */
export function placeOf({ at, data }: Finding, root = ''): RulePlace {
  return { package: data?.package, file: at && root !== '' ? `${root}/${at.file}` : at?.file }
}

/** Whether the pattern equals the package or matches the file as a glob. */
function names(pattern: string, place: RulePlace): boolean {
  return (
    place.package === pattern || (place.file !== undefined && minimatch(place.file, pattern, { dot: true }))
  )
}
