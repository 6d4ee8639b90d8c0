// Validates all files of a catalog with the profile `full`: the rules of opm and of catalog-bot, and image rules without a registry.
import { assembleCatalog, type Catalog } from '@catalog-bot/fbc/facts/catalog'
import { catalogModelRules } from '@catalog-bot/fbc/model/rules/all'
import { invalidPullSpecRule } from '@catalog-bot/fbc/model/rules/bundle-rules'
import { catalogFileRules, catalogLoadRules } from '@catalog-bot/fbc/load/rules'
import { findPullSpecError } from '@catalog-bot/fbc/go/reference/image-reference'
import type { OpmRuleSet } from '@catalog-bot/fbc/model/rule-set'
import { validateCatalog, type CatalogVerdict } from '@catalog-bot/fbc/model/validate-catalog'
import { compareFindings, type Finding } from '@catalog-bot/findings/finding'
import { getOmittedFindingCount, FindingList } from '@catalog-bot/findings/finding-list'
import { linkLeadsOutRule } from '@catalog-bot/fbc/load/file-rules'
import { memoizePerObject } from '@catalog-bot/findings/memoize'
import { findImageReferenceProblems } from '../images/named-image.ts'
import {
  applyRuleSettings,
  hasConfiguredSeverity,
  isRuleSilenced,
  getFindingPackageAndFile,
  type RuleSettings,
} from './rule-settings.ts'
import { addCatalogRuleFindings, defaultCatalogSizeLimits } from './catalog-rule.ts'
import { createCatalogView, type PackageView } from './view/catalog-view.ts'
import { catalogRules } from './rules.ts'
import type { PackageChange } from '../../pull-request/change.ts'

// Drops findings of rules about new bundles for old ones, unless the configuration enables the rule.
const ruleIdsForNewBundlesOnly: ReadonlySet<string> = new Set(
  catalogRules.filter((rule) => rule.ofNewBundles).map(({ id }) => id),
)

// catalog-bot's own findings, with default severities. Cached, because many pull requests share a base.
/** Sorted and limited per rule. Locations use the catalog's file names. */
export const runCatalogRules = memoizePerObject((catalog: Catalog): readonly Finding[] => {
  const view = createCatalogView(catalog)
  // The loader finds these, because the bytes of a file do not show the target of a link.
  const linked = catalog.findings.filter(({ rule }) => rule === linkLeadsOutRule.id)
  const list = new FindingList()
  list.addAll(linked)
  const ofPackages = view.packages.length > maxCachedPackages ? [] : view.packages.map(runPackageRules)
  // A package with too many findings needs the limits of the whole catalog.
  const isKnown =
    ofPackages.length > 0 && !ofPackages.flat().some((found) => getOmittedFindingCount(found) > 0)
  if (isKnown) list.addAll(ofPackages.flat())
  for (const rule of catalogRules)
    if (!isKnown || !rule.searchesPackages) addCatalogRuleFindings(rule, view, defaultCatalogSizeLimits, list)
  return list.sorted()
})

/** Running each rule on each package costs more than on all together. Public catalogs have some hundred. */
const maxCachedPackages = 5000

const runPackageRules = memoizePerObject((its: PackageView): readonly Finding[] => {
  const view = { catalog: assembleCatalog([]), packages: [its], package: () => undefined }
  const list = new FindingList()
  for (const rule of catalogRules)
    if (rule.searchesPackages) addCatalogRuleFindings(rule, view, defaultCatalogSizeLimits, list)
  return list.sorted()
})

/** Rules that cannot be disabled, because opm cannot serve a catalog that violates one. */
export const alwaysEnabledRuleIds: ReadonlySet<string> = new Set(
  [...catalogModelRules, ...catalogLoadRules, ...catalogFileRules]
    .filter(({ fixed }) => fixed)
    .map(({ id }) => id),
)

/**
 * opm's verdict and findings plus catalog-bot's findings. `passed` is false for any error. Never throws. `root`: the
 * catalog's directory in its repository, for settings. `registries`: the allowed ones; empty allows all.
 */
export function validateCatalogWithAllRules(
  catalog: Catalog,
  options: {
    readonly ruleSet?: OpmRuleSet
    readonly settings?: RuleSettings
    readonly root?: string
    readonly registries?: readonly string[]
  } = {},
): CatalogVerdict {
  const verdict = validateCatalog(catalog, {
    ...(options.ruleSet && { ruleSet: options.ruleSet }),
    profile: 'opm',
  })
  const { root = '', settings = {} } = options
  const toRepositoryPath = (file: string) => (root === '' ? file : `${root}/${file}`)
  const invalidPullSpecs = verdict.findings.filter(({ rule }) => rule === invalidPullSpecRule.id)
  const rejectedImages = new Set(invalidPullSpecs.map(({ data }) => data?.['image']))
  // If findings of opm's rule were truncated, any reference might be among the omitted ones.
  const isCut = invalidPullSpecs.some((found) => getOmittedFindingCount(found) > 0)
  const written = findImageReferenceProblems(catalog, {
    allowed: options.registries ?? [],
    rejects: (reference) =>
      rejectedImages.has(reference) ||
      (isCut && reference !== '' && findPullSpecError(reference) !== undefined),
    ignores: (rule, location) =>
      isRuleSilenced(rule, { ...location, file: toRepositoryPath(location.file) }, settings),
  })
  const own = applyRuleSettings(
    [...dropFindingsOnPublishedBundles(runCatalogRules(catalog), settings), ...written.findings],
    settings,
    alwaysEnabledRuleIds,
    (found) =>
      written
        .locationsOf(found)
        ?.map((location) => ({ ...location, file: toRepositoryPath(location.file) })) ?? [
        getFindingPackageAndFile(found, root),
      ],
  )
  return {
    ...verdict,
    passed: verdict.passed && !own.some(({ severity }) => severity === 'error'),
    findings: [...verdict.findings, ...own].sort(compareFindings),
  }
}

/** `changed`: the packages that a pull request changes; absent when checking a catalog on its own. */
export function dropFindingsOnPublishedBundles(
  findings: readonly Finding[],
  settings: RuleSettings,
  changed: readonly PackageChange[] = [],
): readonly Finding[] {
  if (!findings.some(({ rule }) => ruleIdsForNewBundlesOnly.has(rule))) return findings
  const added = new Set(
    changed.flatMap((its) => its.bundles.added.map(({ name }) => JSON.stringify([its.name, name]))),
  )
  return findings.filter(
    ({ rule, data }) =>
      !ruleIdsForNewBundlesOnly.has(rule) ||
      hasConfiguredSeverity(rule, settings) ||
      added.has(JSON.stringify([data?.['package'], data?.['bundle']])),
  )
}
