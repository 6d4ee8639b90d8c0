// A whole catalog's verdict in the profile `full`: opm's rules, then our own, those about images as far as nobody needs
// to be asked. For the command line and for whoever looks at one state of a catalog; what a pull request changes is for
// validation.ts and images.ts.
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

/** Rules that nobody can switch off: a catalog that breaks one cannot be served. */
export const fixedRules: ReadonlySet<string> = new Set(
  [...modelRules, ...loadRules, ...fileRules].filter(({ fixed }) => fixed).map(({ id }) => id),
)

/**
 * opm's verdict and findings with ours on top, and with what the images check says of references without asking for
 * them. `passed` is false for any error, also of a rule of our own. Never throws. `root` is the catalog's directory in
 * its repository, by which settings name files; `registries` are those that the repository allows, none meaning all.
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
  // Where opm's rule found more than are listed, any reference that it refuses may be among them.
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
