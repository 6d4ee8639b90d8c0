// A whole catalog's verdict under opm's rules: load errors first, as opm never looks further than the first of
// them, then the model. Reads no files; rules of our own (profile `full`) are checks that come on top.
import type { Catalog } from '../facts/catalog.ts'
import { compareFindings } from '../../findings/finding.ts'
import type { Finding } from '../../findings/finding.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { unknownDeprecatedObject } from './rules/deprecation-rules.ts'
import { bundleInNoChannel } from './rules/bundle-rules.ts'
import { entryWithoutBundle, unknownPackage } from './rules/channel-rules.ts'
import { packageWithoutChannel, unknownDefaultChannel } from './rules/package-rules.ts'
import { defaultRuleSet } from './rule-set.ts'
import type { RuleSet } from './rule-set.ts'
import { validateAsOpm } from './validate-as-opm.ts'

/** `opm`: what opm refuses, nothing else. `full`: the file-scoped findings of our own as well. */
export type Profile = 'opm' | 'full'

export interface CatalogVerdict {
  /** opm's verdict, whatever the profile. */
  readonly passed: boolean
  /** opm's error text when it does not pass. */
  readonly message?: string
  readonly findings: readonly Finding[]
}

/** What may be missing only because the file that holds it could not be read to its end. */
const saidOfAbsence: ReadonlySet<string> = new Set([
  unknownPackage.id,
  unknownDefaultChannel.id,
  packageWithoutChannel.id,
  entryWithoutBundle.id,
  bundleInNoChannel.id,
  unknownDeprecatedObject.id,
])

/**
 * Judges a catalog. Load errors decide the message, in walk order; the model's findings are given as well, except
 * those that a file cut short by a load error would explain. Never throws.
 */
export function validateCatalog(
  catalog: Catalog,
  options: { readonly ruleSet?: RuleSet; readonly profile?: Profile } = {},
): CatalogVerdict {
  const model = validateAsOpm(catalog, options.ruleSet ?? defaultRuleSet)
  const [loadError] = catalog.loadErrors
  const whole = loadError === undefined
  const ofFiles = new FindingList()
  ofFiles.take(catalog.findings.filter((found) => options.profile !== 'opm' || found.severity === 'error'))
  const ofModel = whole ? model.findings : model.findings.filter((found) => !saidOfAbsence.has(found.rule))
  const message = loadError?.message ?? model.message
  return {
    passed: message === undefined,
    ...(message !== undefined && { message }),
    findings: [...ofFiles.sorted(), ...ofModel].sort(compareFindings),
  }
}
