// Checks that changed catalogs and bundle directories are valid, keep upgrades working, and match their templates. Asks
// only about the bundles of changed templates. Ignores existing findings that do not block.
import { formatCountWithNoun } from '@catalog-bot/findings/printable'
import { defaultOpmRuleSet, findOpmRuleSet } from '@catalog-bot/fbc/model/rule-set'
import type { OpmRuleSet } from '@catalog-bot/fbc/model/rule-set'
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { validateCatalog } from '@catalog-bot/fbc/model/validate-catalog'
import { toRepositoryPath } from '../../pull-request/compare-blobs.ts'
import type { CatalogChange } from '../../pull-request/change.ts'
import type { Config } from '../../config/config.ts'
import { compareFindings, formatFindingSubjectKey } from '@catalog-bot/findings/finding'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { FindingList, getOmittedFindingCount } from '@catalog-bot/findings/finding-list'
import { createFinding } from '@catalog-bot/findings/rule'
import {
  validateBundleDirectories,
  listAutoMergeBlockReasons,
} from '../bundles/validate-bundle-directories.ts'
import { validatePostReleaseCatalogs } from '../bundles/validate-post-release-catalogs.ts'
import type { Check, CheckInput, CheckOutcome } from '../check.ts'
import type { LookupResults } from '../lookups.ts'
import { alwaysEnabledRuleIds, runCatalogRules, dropFindingsOnPublishedBundles } from './validate-fully.ts'
import { applyRuleSettings, unknownOpmReleaseRule } from './rule-settings.ts'
import { listTemplateImageLookups, evaluateTemplates } from './templates/templates.ts'
import { upgradeRules } from './upgrade/rules.ts'
import { runUpgradeRule } from './upgrade/upgrade-rule.ts'

export const validationCheck: Check<'validation'> = {
  id: 'validation',
  ask: listTemplateImageLookups,
  judge: evaluateValidationCheck,
}

function evaluateValidationCheck(input: CheckInput, answers: LookupResults): CheckOutcome {
  const { change, config } = input
  const ruleSet = findConfiguredOpmRuleSet(config)
  const results = ruleSet
    ? change.catalogs.map((catalog) => validateChangedCatalog(catalog, config, ruleSet))
    : []
  const findings = results.flatMap((one) => one.findings)
  if (!ruleSet) findings.push(createFinding(unknownOpmReleaseRule, undefined, { opm: config.opm }))
  const templates = evaluateTemplates(input, answers)
  findings.push(...applyRuleSettings(templates.findings, config.rules, alwaysEnabledRuleIds))
  const directories = validateBundleDirectories(input)
  findings.push(...directories)
  if (ruleSet)
    findings.push(
      ...applyRuleSettings(
        // No catalog changes yet. The pull request that changes it is checked separately.
        validatePostReleaseCatalogs(input.projectedCatalogs ?? [], ruleSet, config.rules, directories).map(
          (found): Finding => (found.severity === 'error' ? { ...found, severity: 'warning' } : found),
        ),
        config.rules,
        alwaysEnabledRuleIds,
      ),
    )
  const manualMergeReasons = listAutoMergeBlockReasons(input)
  return {
    check: 'validation',
    findings: findings.sort(compareFindings),
    unanswered: templates.unanswered,
    waiting: [],
    ...(manualMergeReasons.length > 0 && { manualMergeReasons }),
    ...(templates.suggestedPatches &&
      templates.suggestedPatches.length > 0 && { suggestedPatches: templates.suggestedPatches }),
    summary: summarizeValidation(
      input,
      results.some(({ hasOlder }) => hasOlder),
    ),
  }
}

/** Undefined for an unknown opm release. */
export function findConfiguredOpmRuleSet({ opm }: Pick<Config, 'opm'>): OpmRuleSet | undefined {
  // `v1.73` means v1.73.0: the default, and the release of the recorded verdicts.
  return defaultOpmRuleSet.id === `opm-${opm}` ? defaultOpmRuleSet : findOpmRuleSet(`${opm}.0`)
}

function validateChangedCatalog(change: CatalogChange, config: Config, ruleSet: OpmRuleSet) {
  const { root, base, result } = change
  const applySettings = (findings: readonly Finding[]) =>
    applyRuleSettings(
      findings.map((found) => makeFindingPathsRepositoryRelative(found, root)),
      config.rules,
      alwaysEnabledRuleIds,
    )
  const own = result
    ? applySettings(dropFindingsOnPublishedBundles(runCatalogRules(result), config.rules, change.packages))
    : []
  const ownOnBase = base ? applySettings(runCatalogRules(base)) : []
  const isKnown = createBaseBranchFindingMatcher(ownOnBase)
  const shown = markErrorsAlreadyOnBaseBranch(
    own.filter((found) => found.severity === 'error' || !isKnown(found)),
    ownOnBase,
  )
  const harm = new FindingList()
  for (const rule of upgradeRules) harm.addAll(runUpgradeRule(rule, change))
  const upgrades = applySettings(harm.sorted())
  const validateAsOpm = (catalog: Catalog) => validateCatalog(catalog, { ruleSet, profile: 'opm' }).findings
  const opm = result ? validateAsOpm(result) : []
  const opmOnBase = opm.length > 0 && base ? validateAsOpm(base) : []
  return {
    findings: [
      ...markErrorsAlreadyOnBaseBranch(opm, opmOnBase).map((found) =>
        makeFindingPathsRepositoryRelative(found, root),
      ),
      ...shown,
      ...upgrades,
    ],
    hasOlder: shown.length < own.length,
  }
}

/**
 * Whether the base has the same finding. If the base's list for a rule was truncated, all findings of that rule count
 * as known.
 */
function createBaseBranchFindingMatcher(base: readonly Finding[]): (found: Finding) => boolean {
  const keys = new Set(base.map(formatFindingSubjectKey))
  const cut = new Set(base.filter((found) => getOmittedFindingCount(found) > 0).map(({ rule }) => rule))
  return (found) => cut.has(found.rule) || keys.has(formatFindingSubjectKey(found))
}

/** Marks the errors that the base has word for word. */
function markErrorsAlreadyOnBaseBranch(
  findings: readonly Finding[],
  base: readonly Finding[],
): readonly Finding[] {
  if (!findings.some(({ severity }) => severity === 'error')) return findings
  const known = new Set(base.map((found) => `${formatFindingSubjectKey(found)} ${found.what}`))
  return findings.map((found) =>
    found.severity === 'error' && known.has(`${formatFindingSubjectKey(found)} ${found.what}`)
      ? { ...found, isOnBase: true }
      : found,
  )
}

/** Converts locations to repository paths and adds the catalog's directory to the data. */
function makeFindingPathsRepositoryRelative(found: Finding, root: string): Finding {
  const there = (at: Location): Location => ({ ...at, file: toRepositoryPath(root, at.file) })
  return {
    ...found,
    ...(found.at && { at: there(found.at) }),
    ...(found.related && { related: found.related.map(({ at, note }) => ({ at: there(at), note })) }),
    data: { catalog: root, ...found.data },
  }
}

/** Omits totals of the whole catalog: every other merge would change them and update all waiting pull requests. */
function summarizeValidation(
  { change: { catalogs }, templates = [], bundleDirectories = [] }: CheckInput,
  hasOlder: boolean,
): string {
  const packages = new Set(catalogs.flatMap((catalog) => catalog.packages.map(({ name }) => name)))
  const bundles = catalogs.reduce(
    (sum, { result }) =>
      sum + (result?.bundles.filter(({ package: name }) => packages.has(name)).length ?? 0),
    0,
  )
  const directories = bundleDirectories.reduce((sum, { touched }) => sum + touched.length, 0)
  return [
    formatCountWithNoun(catalogs.length, 'catalog'),
    `${formatCountWithNoun(packages.size, 'package')} changed`,
    `${formatCountWithNoun(bundles, 'bundle')} in ${packages.size === 1 ? 'it' : 'them'}`,
    ...(directories > 0
      ? [directories === 1 ? '1 bundle directory' : `${directories} bundle directories`]
      : []),
    ...(templates.length > 0 ? [formatCountWithNoun(templates.length, 'template')] : []),
    ...(hasOlder ? ['existing findings omitted'] : []),
  ].join(', ')
}
