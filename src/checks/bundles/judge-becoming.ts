// Judges what catalogs would become as the catalogs themselves are judged: opm's verdict, our own rules, the harm to those
// who have installed. Told at the line that leads there; what was wrong before is not this change's doing.
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
 * Findings at places of the pull request. The configuration's word on rules is still to be heard. `told`: what is wrong
 * with the directories and settings themselves; what follows from that is not told a second time.
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

/** Directories say of a bundle only where it stands: what is in it, or was taken away, is judged where it lies. */
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
  // Whoever mends one of several faults is not told of the others as if they were new.
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

/** Rules about the way from one bundle to another. */
const ofEdges = /edge|range|strand|backward|head|replace/

function placed(found: Finding, { at, catalogs, directory, kind }: Becoming): Finding {
  const { related: _, ...told } = found
  const where = kind === 'template' ? ` (in ${inBrief(catalogs)}, once the bundle is added)` : ''
  // Which head an index takes of several, or which channel, depends on the order in which bundles are added to it.
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
