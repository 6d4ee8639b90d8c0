import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { leftOutBy } from '../../../src/findings/finding-list.ts'
import { catalogFile } from './blobs.ts'
import { openWorld, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld('many-packages')
})
afterAll(() => world.close())

test('a file of more packages than a call takes arguments is judged: it waits for who may allow it', async () => {
  const base = {
    'config.yaml': 'maintainers: [maria]\n',
    'catalogs/v4.16/mine/catalog.yaml': catalogFile('mine', ['1.0.0']),
  }
  const many = Array.from({ length: 130_000 }, (_, at) => `---\nschema: olm.package\nname: p${at}\n`).join('')
  const from = world.origin.commit(base)
  const head = world.origin.commit({ ...base, 'catalogs/v4.16/many/catalog.yaml': many }, [from])
  const { outcome } = await world.judge(from, head)
  expect(outcome.waiting.length).toBeGreaterThan(0)
  const told = outcome.findings.filter(({ rule }) => rule === 'new-package')
  expect(told.filter(({ at }) => at !== undefined)).toHaveLength(5000)
  expect(told.map(leftOutBy).filter((count) => count > 0)).toEqual([125_000])
}, 120_000)
