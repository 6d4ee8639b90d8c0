// Validates future catalogs like existing ones and reports new problems on the line that causes them.
import { validateCatalog } from '@catalog-bot/fbc/model/validate-catalog'
import type { OpmRuleSet } from '@catalog-bot/fbc/model/rule-set'
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import type { CatalogChange } from '../../pull-request/change.ts'
import { formatFindingSubjectKey, type Finding } from '@catalog-bot/findings/finding'
import { FindingList } from '@catalog-bot/findings/finding-list'
import { runCatalogRules, dropFindingsOnPublishedBundles } from '../validation/validate-fully.ts'
import type { RuleSettings } from '../validation/rule-settings.ts'
import { upgradeRules } from '../validation/upgrade/rules.ts'
import { formatTruncatedNameList, runUpgradeRule } from '../validation/upgrade/upgrade-rule.ts'
import type { PostReleaseCatalog } from './post-release-catalog.ts'
import * as bundleDirectoryRules from './rules.ts'

/**
 * Findings at locations in the pull request, before configured severities apply. `reported` has the findings about
 * directories and settings; their consequences are not reported again.
 */
export function validatePostReleaseCatalogs(
  projected: readonly PostReleaseCatalog[],
  ruleSet: OpmRuleSet,
  settings: RuleSettings,
  reported: readonly Finding[] = [],
): readonly Finding[] {
  return projected.flatMap((one) => {
    const [change] = one.changes
    return change && !hasFindingForPostReleaseCatalog(one, reported)
      ? findPostReleaseCatalogProblems(one, change, ruleSet, settings).map((found) =>
          toPostReleaseCatalogFinding(found, one),
        )
      : []
  })
}

function hasFindingForPostReleaseCatalog(
  { directory, kind }: PostReleaseCatalog,
  reported: readonly Finding[],
) {
  return reported.some(
    ({ at, rule, severity }) =>
      at?.file.startsWith(`operators/${directory}/`) === true &&
      (severity === 'error' ||
        (kind === 'directories' ? bundleDirectoryRuleIds : packageSettingsRuleIds).has(rule)),
  )
}

const bundleDirectoryRuleIds: ReadonlySet<string> = new Set(
  Object.values(bundleDirectoryRules).map(({ id }) => id),
)
const packageSettingsRuleIds: ReadonlySet<string> = new Set([
  bundleDirectoryRules.malformedPackageSettingsRule.id,
  bundleDirectoryRules.releaseConfigMismatchRule.id,
])

const ruleIdsAppliedByOtherChecks: ReadonlySet<string> = new Set([
  'bundle-removed',
  'bundle-edited',
  'package-removed',
])

function findPostReleaseCatalogProblems(
  { kind }: PostReleaseCatalog,
  change: CatalogChange,
  ruleSet: OpmRuleSet,
  settings: RuleSettings,
): readonly Finding[] {
  const { base, result, packages } = change
  if (!result) return []
  const harm = new FindingList()
  for (const rule of upgradeRules)
    if (kind === 'template' || !ruleIdsAppliedByOtherChecks.has(rule.id))
      harm.addAll(runUpgradeRule(rule, change))
  const opm = (catalog: Catalog) => validateCatalog(catalog, { ruleSet, profile: 'opm' }).findings
  // When a change fixes one of several errors, the others must not be reported as new.
  const wasInvalid = base !== undefined && opm(base).length > 0
  const opmFindings = wasInvalid ? [] : opm(result)
  const known = new Set((base ? runCatalogRules(base) : []).map(formatFindingSubjectKey))
  const own =
    kind === 'template'
      ? dropFindingsOnPublishedBundles(runCatalogRules(result), settings, packages).filter(
          (found) => !known.has(formatFindingSubjectKey(found)),
        )
      : []
  return [...opmFindings, ...own, ...harm.sorted()]
}

const upgradeEdgeRuleIdPattern = /edge|range|strand|backward|head|replace/

function toPostReleaseCatalogFinding(
  found: Finding,
  { at, catalogs, directory, kind }: PostReleaseCatalog,
): Finding {
  const { related: _, ...rest } = found
  const where =
    kind === 'template' ? ` (in ${formatTruncatedNameList(catalogs, 3)}, once the bundle is added)` : ''
  // The order in which bundles are added to an index determines the head and the channels.
  const isOpen = kind === 'directories' && found.severity === 'error'
  return {
    ...rest,
    ...(isOpen && { severity: 'warning' as const }),
    what: `${found.what}${where}`,
    at: (upgradeEdgeRuleIdPattern.test(found.rule) ? at.edges : undefined) ?? at.whole,
    data: { package: directory, ...found.data, catalog: catalogs.join(', ') },
  }
}
