// Checks that touched catalogs and bundle directories are valid, keep upgrades working and match their templates. Asks
// only about bundles of touched templates. Old findings that do not block are not held against the change.
import { defaultRuleSet, ruleSetFor } from '../../catalog/model/rule-set.ts'
import type { RuleSet } from '../../catalog/model/rule-set.ts'
import { validateCatalog } from '../../catalog/model/validate-catalog.ts'
import { repositoryPath } from '../../change/blob-text.ts'
import type { CatalogChange } from '../../change/change.ts'
import type { Config } from '../../config/config.ts'
import { compareFindings } from '../../findings/finding.ts'
import type { Finding, Location } from '../../findings/finding.ts'
import { FindingList, leftOutBy } from '../../findings/finding-list.ts'
import { finding } from '../../findings/rule.ts'
import { judgeBundleDirectories, mergedByHand } from '../bundles/bundle-directories.ts'
import { judgeBecoming } from '../bundles/judge-becoming.ts'
import type { Check, CheckInput, CheckOutcome } from '../check.ts'
import type { Answers } from '../questions.ts'
import { withoutPublished } from './new-bundles.ts'
import { opmReleaseUnknown } from './opm-release-unknown.ts'
import { ownFindings } from './own-findings.ts'
import { applyRuleSettings } from './rule-settings.ts'
import { askTemplates, judgeTemplates } from './templates/templates.ts'
import { upgradeRules } from './upgrade/rules.ts'
import { findIn } from './upgrade/upgrade-rule.ts'
import { fixedRules } from './validate-fully.ts'

export const validationCheck: Check<'validation'> = {
  id: 'validation',
  ask: askTemplates,
  judge,
}

function judge(input: CheckInput, answers: Answers): CheckOutcome {
  const { change, config } = input
  const ruleSet = ruleSetOf(config)
  const judged = ruleSet ? change.catalogs.map((catalog) => judgeCatalog(catalog, config, ruleSet)) : []
  const findings = judged.flatMap((one) => one.findings)
  if (!ruleSet) findings.push(finding(opmReleaseUnknown, undefined, { opm: config.opm }))
  const templates = judgeTemplates(input, answers)
  findings.push(...applyRuleSettings(templates.findings, config.rules, fixedRules))
  const directories = judgeBundleDirectories(input)
  findings.push(...directories)
  if (ruleSet)
    findings.push(
      ...applyRuleSettings(
        // No catalog changes yet; the pull request that changes it will be judged.
        judgeBecoming(input.becoming ?? [], ruleSet, config.rules, directories).map((found): Finding =>
          found.severity === 'error' ? { ...found, severity: 'warning' } : found,
        ),
        config.rules,
        fixedRules,
      ),
    )
  const byHand = mergedByHand(input)
  return {
    check: 'validation',
    findings: findings.sort(compareFindings),
    unanswered: templates.unanswered,
    waiting: [],
    ...(byHand.length > 0 && { byHand }),
    ...(templates.offers && templates.offers.length > 0 && { offers: templates.offers }),
    summary: summaryOf(
      input,
      judged.some(({ hasOlder }) => hasOlder),
    ),
  }
}

/** Undefined for an unknown opm release. */
export function ruleSetOf({ opm }: Pick<Config, 'opm'>): RuleSet | undefined {
  // `v1.73` means v1.73.0: the default, and the release of the recorded verdicts.
  return defaultRuleSet.id === `opm-${opm}` ? defaultRuleSet : ruleSetFor(`${opm}.0`)
}

interface JudgedCatalog {
  readonly findings: Finding[]
  readonly hasOlder: boolean
}

function judgeCatalog(change: CatalogChange, config: Config, ruleSet: RuleSet): JudgedCatalog {
  const { root, base, result } = change
  const settled = (findings: readonly Finding[]) =>
    applyRuleSettings(
      findings.map((found) => inRepository(found, root)),
      config.rules,
      fixedRules,
    )
  const own = result ? settled(withoutPublished(ownFindings(result), config.rules, change.packages)) : []
  const isKnown = knownOf(base ? settled(ownFindings(base)) : [])
  const shown = own.filter((found) => found.severity === 'error' || !isKnown(found))
  const harm = new FindingList()
  for (const rule of upgradeRules) harm.take(findIn(rule, change))
  const upgrades = settled(harm.sorted())
  const opm = result ? validateCatalog(result, { ruleSet, profile: 'opm' }).findings : []
  return {
    findings: [...opm.map((found) => inRepository(found, root)), ...shown, ...upgrades],
    hasOlder: shown.length < own.length,
  }
}

/**
 * Whether the base has the same complaint. If the base's list for a rule was cut off, all findings of that rule count
 * as known.
 */
function knownOf(base: readonly Finding[]): (found: Finding) => boolean {
  const keys = new Set(base.map(keyOf))
  const cut = new Set(base.filter((found) => leftOutBy(found) > 0).map(({ rule }) => rule))
  return (found) => cut.has(found.rule) || keys.has(keyOf(found))
}

/** Matches a finding of the result with the same complaint in the base. */
function keyOf({ rule, subject }: Finding): string {
  return `${rule} ${subject ?? ''}`
}

/** Converts places to repository paths and adds the catalog's directory to the data. */
function inRepository(found: Finding, root: string): Finding {
  const there = (at: Location): Location => ({ ...at, file: repositoryPath(root, at.file) })
  return {
    ...found,
    ...(found.at && { at: there(found.at) }),
    ...(found.related && { related: found.related.map(({ at, note }) => ({ at: there(at), note })) }),
    data: { catalog: root, ...found.data },
  }
}

/** Omits totals of the whole catalog: every other merge would change them and update all waiting pull requests. */
function summaryOf(
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
    counted(catalogs.length, 'catalog'),
    `${counted(packages.size, 'package')} changed`,
    `${counted(bundles, 'bundle')} in ${packages.size === 1 ? 'it' : 'them'}`,
    ...(directories > 0
      ? [directories === 1 ? '1 bundle directory' : `${directories} bundle directories`]
      : []),
    ...(templates.length > 0 ? [counted(templates.length, 'template')] : []),
    ...(hasOlder ? ['older findings not repeated'] : []),
  ].join(', ')
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`
}
