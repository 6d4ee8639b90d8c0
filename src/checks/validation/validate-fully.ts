// Validates a whole catalog in the profile `full`: opm's rules, our own, and those about images that need no registry.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import { modelRules } from '../../catalog/model/rules/all.ts'
import { invalidPullSpec } from '../../catalog/model/rules/bundle-rules.ts'
import { fileRules, loadRules } from '../../catalog/load/rules.ts'
import { pullSpecError } from '../../go/reference/pull-spec.ts'
import type { RuleSet } from '../../catalog/model/rule-set.ts'
import { validateCatalog } from '../../catalog/model/validate-catalog.ts'
import type { CatalogVerdict } from '../../catalog/model/validate-catalog.ts'
import { compareFindings } from '../../findings/finding.ts'
import { leftOutBy } from '../../findings/finding-list.ts'
import { findWrittenReferences } from '../images/written-references.ts'
import { withoutPublished } from './new-bundles.ts'
import { ownFindings } from './own-findings.ts'
import { applyRuleSettings, isSilent, placeOf } from './rule-settings.ts'
import type { RuleSettings } from './rule-settings.ts'

/** Rules that cannot be switched off: opm cannot serve a catalog that breaks one. */
export const fixedRules: ReadonlySet<string> = new Set(
  [...modelRules, ...loadRules, ...fileRules].filter(({ fixed }) => fixed).map(({ id }) => id),
)

/**
 * opm's verdict and findings plus ours. `passed` is false for any error. Never throws. `root`: the catalog's directory
 * in its repository, for settings. `registries`: the allowed ones; empty allows all.
 */
export function validateFully(
  catalog: Catalog,
  options: {
    readonly ruleSet?: RuleSet
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
  const below = (file: string) => (root === '' ? file : `${root}/${file}`)
  const told = verdict.findings.filter(({ rule }) => rule === invalidPullSpec.id)
  const refused = new Set(told.map(({ data }) => data?.['image']))
  // If findings of opm's rule were cut off, any reference may be among them.
  const isCut = told.some((found) => leftOutBy(found) > 0)
  const written = findWrittenReferences(catalog, {
    allowed: options.registries ?? [],
    refuses: (reference) =>
      refused.has(reference) || (isCut && reference !== '' && pullSpecError(reference) !== undefined),
    ignores: (rule, place) => isSilent(rule, { ...place, file: below(place.file) }, settings),
  })
  const own = applyRuleSettings(
    [...withoutPublished(ownFindings(catalog), settings), ...written.findings],
    settings,
    fixedRules,
    (found) =>
      written.placesOf(found)?.map((place) => ({ ...place, file: below(place.file) })) ?? [
        placeOf(found, root),
      ],
  )
  return {
    ...verdict,
    passed: verdict.passed && !own.some(({ severity }) => severity === 'error'),
    findings: [...verdict.findings, ...own].sort(compareFindings),
  }
}
