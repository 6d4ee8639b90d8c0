// opm's verdict and message, plus all problems instead of only the first. validate-catalog.ts adds load errors.
import type { Catalog } from '../facts/catalog.ts'
import { formatErrorTree } from './error-tree.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { FindingList } from '@catalog-bot/findings/finding-list'
import { convertToModel } from './convert-to-model.ts'
import { validateModel } from './validate-model.ts'
import { defaultRuleSet } from './rule-set.ts'
import type { OpmRuleSet } from './rule-set.ts'

export interface OpmValidationResult {
  readonly passed: boolean
  /** opm's error message. Absent if the catalog is valid. */
  readonly message?: string
  /** Sorted, without duplicates, and limited per rule. */
  readonly findings: readonly Finding[]
}

/** Never throws. */
export function validateAsOpm(catalog: Catalog, ruleSet: OpmRuleSet = defaultRuleSet): OpmValidationResult {
  const findings = new FindingList()
  const { packages, message: flat } = convertToModel(catalog, ruleSet, findings)
  const tree = validateModel(packages, ruleSet, findings)
  const message = flat ?? (tree && formatErrorTree(tree))
  return {
    passed: message === undefined,
    ...(message !== undefined && { message }),
    findings: findings.sorted(),
  }
}
