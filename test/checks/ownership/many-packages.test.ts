import { afterAll, expect, test } from '@jest/globals'
import { getOmittedFindingCount } from '../../../packages/findings/src/finding-list.ts'
import { createCatalogYaml } from './read-catalog-text.ts'
import { createOwnershipScenario } from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('many-packages')
afterAll(() => scenario.close())

test('a file with more packages than a call accepts arguments waits for a maintainer', async () => {
  const base = {
    'config.yaml': 'maintainers: [maria]\n',
    'catalogs/v4.16/mine/catalog.yaml': createCatalogYaml('mine', ['1.0.0']),
  }
  const many = Array.from({ length: 130_000 }, (_, at) => `---\nschema: olm.package\nname: p${at}\n`).join('')
  const from = scenario.origin.commit(base)
  const head = scenario.origin.commit({ ...base, 'catalogs/v4.16/many/catalog.yaml': many }, [from])
  const { outcome } = await scenario.evaluate(from, head)
  expect(outcome.waiting.length).toBeGreaterThan(0)
  const newPackages = outcome.findings.filter(({ rule }) => rule === 'new-package')
  expect(newPackages.filter(({ at }) => at !== undefined)).toHaveLength(5000)
  expect(newPackages.map(getOmittedFindingCount).filter((count) => count > 0)).toEqual([125_000])
})
