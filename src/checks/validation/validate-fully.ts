// Validates a whole catalog with the profile `full`: opm's rules, catalog-bot's rules, and image rules that do not need
// a registry.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { catalogModelRules } from '@catalog-bot/fbc/model/rules/all'
import { invalidPullSpec } from '@catalog-bot/fbc/model/rules/bundle-rules'
import { fileRules, loadRules } from '@catalog-bot/fbc/load/rules'
import { findPullSpecError } from '@catalog-bot/fbc/go/reference/image-reference'
import type { OpmRuleSet } from '@catalog-bot/fbc/model/rule-set'
import { validateCatalog } from '@catalog-bot/fbc/model/validate-catalog'
import type { CatalogVerdict } from '@catalog-bot/fbc/model/validate-catalog'
import { compareFindings } from '@catalog-bot/findings/finding'
import { getOmittedFindingCount } from '@catalog-bot/findings/finding-list'
import { findImageReferenceProblems } from '../images/validate-reference-text.ts'
import { dropFindingsOnPublishedBundles } from './new-bundle-rules.ts'
import { runCatalogRules } from './run-catalog-rules.ts'
import { applyRuleSettings, isRuleSilenced, getFindingPackageAndFile } from './rule-settings.ts'
import type { RuleSettings } from './rule-settings.ts'

/** Rules that cannot be disabled, because opm cannot serve a catalog that violates one. */
export const alwaysEnabledRuleIds: ReadonlySet<string> = new Set(
  [...catalogModelRules, ...loadRules, ...fileRules].filter(({ fixed }) => fixed).map(({ id }) => id),
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
  const invalidPullSpecs = verdict.findings.filter(({ rule }) => rule === invalidPullSpec.id)
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
