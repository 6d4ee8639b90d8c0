// A catalog's facts under opm's rules: opm's verdict and message, and every problem that there is, not only the
// first one. Load errors are not looked at here: validate-catalog.ts joins them.
import type { Catalog } from './catalog.ts'
import { printErrorTree } from './error-tree.ts'
import { compareFindings } from '../findings/finding.ts'
import type { Finding } from '../findings/finding.ts'
import { convert } from './model/convert.ts'
import { validateModel } from './model/validate-model.ts'
import { defaultRuleSet } from './rule-set.ts'
import type { RuleSet } from './rule-set.ts'

export interface ModelValidation {
  /** True exactly when there are no findings. */
  readonly passed: boolean
  /** opm's error text; absent when it passes. */
  readonly message?: string
  /** All problems, sorted, each once. */
  readonly findings: readonly Finding[]
}

/** Judges linked facts as opm does (R11 to R41). Never throws. */
export function validateAsOpm(catalog: Catalog, ruleSet: RuleSet = defaultRuleSet): ModelValidation {
  const { packages, complaints } = convert(catalog, ruleSet)
  const { tree, findings } = validateModel(packages, ruleSet)
  const first = complaints.find((complaint) => complaint.message !== undefined)
  const message = first?.message ?? (tree && printErrorTree(tree))
  const all = [...complaints.map((complaint) => complaint.finding), ...findings].sort(compareFindings)
  return {
    passed: message === undefined,
    ...(message !== undefined && { message }),
    findings: all.filter((found, index) => index === 0 || !isSame(found, all[index - 1])),
  }
}

/** A bundle in two channels is checked in both: what is wrong with the bundle itself is said once. */
function isSame(a: Finding, b: Finding | undefined): boolean {
  return b !== undefined && compareFindings(a, b) === 0
}
