// A package whose directory has another name, added to one more catalog: the app looks into that directory of the
// catalogs that the pull request does not touch, and into nothing else of them.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { examine } from '../../../src/examine/examine.ts'
import type { CatalogLoader } from '../../../src/examine/catalogs/catalog-loader.ts'
import { pullNumber } from '../../../src/change/ids.ts'
import { forgetfulCache, forgetfulMemory } from '../../../src/examine/forgetful.ts'
import { aSnapshot } from '../../gate/build.ts'
import type { Files } from '../../git/origin.ts'
import { catalogFile, readCatalog } from './blobs.ts'
import { openWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('one-more')
})
afterAll(() => world.close())

const base: Files = {
  'config.yaml': 'maintainers:\n  - maria\n',
  'operators/alias-operator/ci.yaml': 'reviewers:\n  - alice\n',
  'catalogs/v4.19/alias-operator/catalog.yaml': catalogFile('alias', ['1.0.0']),
  'catalogs/v4.20/alias-operator/catalog.yaml': catalogFile('alias', ['1.0.0', '1.1.0']),
  'catalogs/v4.20/other/catalog.yaml': catalogFile('other', ['1.0.0']),
  'catalogs/v4.21/other/catalog.yaml': catalogFile('other', ['1.0.0']),
}

async function ownershipOf(more: Files) {
  const from = world.origin.commit(base)
  const head = world.origin.commit({ ...base, ...more }, [from])
  world.origin.branch('main', from)
  world.origin.pull(7, head)
  await world.mirror.fetch('main', pullNumber(7))
  const loaded: string[] = []
  const loader: CatalogLoader = {
    cache: forgetfulCache,
    load: async (repository, tree, root) => {
      loaded.push(root)
      const files = new Map<string, string>()
      for (const { path, oid } of await repository.list(tree, root))
        files.set(path.slice(root.length + 1), new TextDecoder().decode(await repository.read(oid)))
      return readCatalog(files)
    },
  }
  const { verdict } = await examine(aSnapshot({ author: world.people.person('alice'), base: from, head }), {
    repository: world.mirror,
    loader,
    ask: async (question) =>
      ['image', 'bundle', 'install'].includes(question.kind)
        ? { kind: 'unknown', reason: 'not asked here', retryAfter: 60 }
        : world.people.answer(question),
    memory: forgetfulMemory,
  })
  const outcome = verdict.outcomes.find(({ check }) => check === 'ownership')
  return { rules: outcome?.findings.map(({ rule }) => rule), loaded }
}

test('its owner adds it alone, by what its directory holds in other catalogs', async () => {
  const { rules, loaded } = await ownershipOf({
    'catalogs/v4.21/alias-operator/catalog.yaml': catalogFile('alias', ['1.1.0']),
  })
  expect(rules).toEqual([])
  expect([...new Set(loaded)].sort()).toEqual([
    'catalogs/v4.19/alias-operator',
    'catalogs/v4.20/alias-operator',
    'catalogs/v4.21',
  ])
})

test('another package in that directory is a new one, also under the directory’s own name', async () => {
  for (const name of ['fresh', 'alias-operator'])
    expect(
      (await ownershipOf({ 'catalogs/v4.21/alias-operator/catalog.yaml': catalogFile(name, ['1.0.0']) }))
        .rules,
    ).toEqual(['new-package'])
})

test('beside the touched catalog only directories of packages that get bundles are read, and none without', async () => {
  const added = await ownershipOf({
    'catalogs/v4.21/other/catalog.yaml': catalogFile('other', ['1.0.0', '1.1.0']),
  })
  expect([...new Set(added.loaded)].sort()).toEqual(['catalogs/v4.20/other', 'catalogs/v4.21'])
  const described = await ownershipOf({
    'catalogs/v4.21/other/catalog.yaml': catalogFile('other', ['1.0.0'], { icon: 'described' }),
  })
  expect([...new Set(described.loaded)]).toEqual(['catalogs/v4.21'])
})
