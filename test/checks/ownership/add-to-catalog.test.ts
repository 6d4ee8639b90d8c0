// A package in a directory with another name is added to one more catalog: in the catalogs that the pull request does not
// touch, only that directory is read.
import { afterAll, expect, test } from '@jest/globals'
import type { CatalogLoader } from '../../../src/catalogs/catalog-loader.ts'
import { noopCache } from '../../../src/catalogs/memory-cache.ts'
import { createTestPullSnapshot } from '../../policy/verdict-inputs.ts'
import type { OriginFiles } from '../../adapters/git/origin.ts'
import { createCatalogYaml, readCatalog } from './read-catalog-text.ts'
import { createOwnershipScenario } from './ownership-scenario.ts'

const scenario = await createOwnershipScenario('one-more')
afterAll(() => scenario.close())

const baseBranchFiles: OriginFiles = {
  'config.yaml': 'maintainers:\n  - maria\n',
  'operators/alias-operator/ci.yaml': 'reviewers:\n  - alice\n',
  'catalogs/v4.19/alias-operator/catalog.yaml': createCatalogYaml('alias', ['1.0.0']),
  'catalogs/v4.20/alias-operator/catalog.yaml': createCatalogYaml('alias', ['1.0.0', '1.1.0']),
  'catalogs/v4.20/other/catalog.yaml': createCatalogYaml('other', ['1.0.0']),
  'catalogs/v4.21/other/catalog.yaml': createCatalogYaml('other', ['1.0.0']),
}

async function evaluateOwnership(more: OriginFiles) {
  const from = scenario.origin.commit(baseBranchFiles)
  const head = scenario.origin.commit({ ...baseBranchFiles, ...more }, [from])
  await scenario.fetchPull(from, head)
  const loaded: string[] = []
  const loader: CatalogLoader = {
    cache: noopCache,
    load: async (repository, tree, root) => {
      loaded.push(root)
      const files = new Map<string, string>()
      for (const { path, oid } of await repository.list(tree, root))
        files.set(path.slice(root.length + 1), new TextDecoder().decode(await repository.read(oid)))
      return readCatalog(files)
    },
  }
  const { verdict } = await scenario.evaluateSnapshot(
    createTestPullSnapshot({ author: scenario.fakeAccounts.person('alice'), base: from, head }),
    { loader },
  )
  const outcome = verdict.outcomes.find(({ check }) => check === 'ownership')
  return { rules: outcome?.findings.map(({ rule }) => rule), loaded }
}

test('its owner can add it alone, because the directory has the same package in other catalogs', async () => {
  const { rules, loaded } = await evaluateOwnership({
    'catalogs/v4.21/alias-operator/catalog.yaml': createCatalogYaml('alias', ['1.1.0']),
  })
  expect(rules).toEqual([])
  expect([...new Set(loaded)].sort()).toEqual([
    'catalogs/v4.19/alias-operator',
    'catalogs/v4.20/alias-operator',
    'catalogs/v4.21',
  ])
})

test('another package in that directory is a new package, even if it has the name of the directory', async () => {
  for (const name of ['fresh', 'alias-operator'])
    expect(
      (
        await evaluateOwnership({
          'catalogs/v4.21/alias-operator/catalog.yaml': createCatalogYaml(name, ['1.0.0']),
        })
      ).rules,
    ).toEqual(['new-package'])
})

test('untouched catalogs are read only in directories of packages that get bundles', async () => {
  const added = await evaluateOwnership({
    'catalogs/v4.21/other/catalog.yaml': createCatalogYaml('other', ['1.0.0', '1.1.0']),
  })
  expect([...new Set(added.loaded)].sort()).toEqual(['catalogs/v4.20/other', 'catalogs/v4.21'])
  const described = await evaluateOwnership({
    'catalogs/v4.21/other/catalog.yaml': createCatalogYaml('other', ['1.0.0'], { icon: 'described' }),
  })
  expect([...new Set(described.loaded)]).toEqual(['catalogs/v4.21'])
})
