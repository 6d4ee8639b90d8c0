// Judges future catalogs like existing ones and reports new problems at the line that causes them.
import { validateCatalog } from '../../catalog/model/validate-catalog.ts'
import type { RuleSet } from '../../catalog/model/rule-set.ts'
import type { Catalog } from '../../catalog/facts/catalog.ts'
import type { CatalogChange } from '../../change/change.ts'
import type { Finding } from '../../findings/finding.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { withoutPublished } from '../validation/new-bundles.ts'
import { ownFindings } from '../validation/own-findings.ts'
import type { RuleSettings } from '../validation/rule-settings.ts'
import { upgradeRules } from '../validation/upgrade/rules.ts'
import { findIn } from '../validation/upgrade/upgrade-rule.ts'
import type { Becoming } from './becoming.ts'
import { bundleDirectoryRules } from './rules.ts'
import { malformedPackageSettings } from './rules/malformed-package-settings.ts'
import { releaseConfigMismatch } from './rules/release-config-mismatch.ts'

/**
 * Findings at places of the pull request, before the configuration's severities apply. `told` has the findings about
 * directories and settings, whose consequences are not reported again.
 */
export function judgeBecoming(
  becoming: readonly Becoming[],
  ruleSet: RuleSet,
  settings: RuleSettings,
  told: readonly Finding[] = [],
): readonly Finding[] {
  return becoming.flatMap((one) => {
    const [change] = one.changes
    return change && !isToldAlready(one, told)
      ? findingsOf(one, change, ruleSet, settings).map((found) => placed(found, one))
      : []
  })
}

function isToldAlready({ directory, kind }: Becoming, told: readonly Finding[]): boolean {
  return told.some(
    ({ at, rule, severity }) =>
      at?.file.startsWith(`operators/${directory}/`) === true &&
      (severity === 'error' || (kind === 'directories' ? ofPlaces : ofSettings).has(rule)),
  )
}

const ofPlaces: ReadonlySet<string> = new Set(bundleDirectoryRules.map(({ id }) => id))
const ofSettings: ReadonlySet<string> = new Set([malformedPackageSettings.id, releaseConfigMismatch.id])

/** Rules that other checks apply to the bundle itself. */
const ofDirectories: ReadonlySet<string> = new Set(['bundle-removed', 'bundle-edited', 'package-removed'])

function findingsOf(
  { kind }: Becoming,
  change: CatalogChange,
  ruleSet: RuleSet,
  settings: RuleSettings,
): readonly Finding[] {
  const { base, result, packages } = change
  if (!result) return []
  const harm = new FindingList()
  for (const rule of upgradeRules)
    if (kind === 'template' || !ofDirectories.has(rule.id)) harm.take(findIn(rule, change))
  const opm = (catalog: Catalog) => validateCatalog(catalog, { ruleSet, profile: 'opm' }).findings
  // Fixing one of several errors must not report the others as new.
  const wasRefused = base !== undefined && opm(base).length > 0
  const refused = wasRefused ? [] : opm(result)
  const known = new Set((base ? ownFindings(base) : []).map(keyOf))
  const own =
    kind === 'template'
      ? withoutPublished(ownFindings(result), settings, packages).filter((found) => !known.has(keyOf(found)))
      : []
  return [...refused, ...own, ...harm.sorted()]
}

function keyOf({ rule, subject }: Finding): string {
  return `${rule} ${subject ?? ''}`
}

const ofEdges = /edge|range|strand|backward|head|replace/

function placed(found: Finding, { at, catalogs, directory, kind }: Becoming): Finding {
  const { related: _, ...told } = found
  const where = kind === 'template' ? ` (in ${inBrief(catalogs)}, once the bundle is added)` : ''
  // The order in which an index adds bundles decides which head or channel it takes.
  const isOpen = kind === 'directories' && found.severity === 'error'
  return {
    ...told,
    ...(isOpen && { severity: 'warning' as const }),
    what: `${found.what}${where}`,
    at: (ofEdges.test(found.rule) ? at.edges : undefined) ?? at.whole,
    data: { package: directory, ...found.data, catalog: catalogs.join(', ') },
  }
}

function inBrief(names: readonly string[]): string {
  return names.length <= 3 ? names.join(', ') : `${names.slice(0, 2).join(', ')} and ${names.length - 2} more`
}
