// Unchanged packages are not validated again, which must not affect any finding.
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { assembleCatalog } from '../../../packages/fbc/src/facts/catalog.ts'
import { parseCatalogFile } from '../../../packages/fbc/src/load/parse-catalog-file.ts'
import { FindingList } from '../../../packages/findings/src/finding-list.ts'
import {
  addCatalogRuleFindings,
  defaultCatalogSizeLimits,
} from '../../../src/checks/validation/catalog-rule.ts'
import { catalogRules } from '../../../src/checks/validation/rules.ts'
import {
  runCatalogRules,
  validateCatalogWithAllRules,
} from '../../../src/checks/validation/validate-fully.ts'
import { createCatalogView } from '../../../src/checks/validation/view/catalog-view.ts'

const readFiles = (pattern: string) =>
  globSync(pattern).map((path) => ({ path, facts: parseCatalogFile(readFileSync(path)) }))

test('findings are the same whether or not the other packages are known', () => {
  const good = readFiles('fixtures/demo/repository/catalogs/v4.20/*/catalog.yaml')
  expect(validateCatalogWithAllRules(assembleCatalog(good)).passed).toBe(true)
  const all = [...good, ...readFiles('fixtures/rules/*/bad/*/catalog.yaml')]
  const [catalog, unknown] = [assembleCatalog(all), assembleCatalog(structuredClone(all))]
  expect(validateCatalogWithAllRules(catalog)).toEqual(validateCatalogWithAllRules(unknown))
  const whole = new FindingList()
  for (const rule of catalogRules)
    addCatalogRuleFindings(rule, createCatalogView(catalog), defaultCatalogSizeLimits, whole)
  expect(runCatalogRules(catalog)).toEqual(whole.sorted())
})
