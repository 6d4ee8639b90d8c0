// A catalog's facts under opm's rules: opm's verdict and message, and every problem that there is, not only the
// first one. Load errors are not looked at here: validate-catalog.ts joins them.
import type { Catalog } from '../facts/catalog.ts'
import { printErrorTree } from './error-tree.ts'
import type { Finding } from '../../findings/finding.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { convert } from './convert.ts'
import { validateModel } from './validate-model.ts'
import { defaultRuleSet } from './rule-set.ts'
import type { RuleSet } from './rule-set.ts'

export interface ModelValidation {
  /** True exactly when there are no findings. */
  readonly passed: boolean
  /** opm's error text; absent when it passes. */
  readonly message?: string
  /** The problems, sorted, each once, as many of each rule as a list keeps. */
  readonly findings: readonly Finding[]
}

/** Judges linked facts as opm does. Never throws. */
export function validateAsOpm(catalog: Catalog, ruleSet: RuleSet = defaultRuleSet): ModelValidation {
  const findings = new FindingList()
  const { packages, message: flat } = convert(catalog, ruleSet, findings)
  const tree = validateModel(packages, ruleSet, findings)
  const message = flat ?? (tree && printErrorTree(tree))
  return {
    passed: message === undefined,
    ...(message !== undefined && { message }),
    findings: findings.sorted(),
  }
}
