import { expect, test } from '@jest/globals'
import { knownBranchRules } from '../../src/examine/known-branch-rules.ts'
import type { BranchRules } from '../../src/gate/branch-rules.ts'

function aPlace() {
  let reads = 0
  const kept = new Map<string, { value: unknown; seconds: number | undefined }>()
  return {
    kept,
    forge: {
      repository: { owner: 'Acme', name: 'catalog' },
      branchRules: (branch: string) =>
        Promise.resolve({ branch, unread: [String((reads += 1))] } as unknown as BranchRules),
      permissions: () => Promise.resolve({ contents: 'write' }),
    },
    store: {
      getCached: (space: string, [key = '']: readonly string[]) => {
        const found = kept.get(`${space} ${key}`)
        return Promise.resolve(new Map(found === undefined ? [] : [[key, found.value]]))
      },
      putCached: (space: string, values: ReadonlyMap<string, unknown>, seconds?: number) => {
        for (const [key, value] of values) kept.set(`${space} ${key}`, { value, seconds })
        return Promise.resolve()
      },
    },
    clock: { now: () => 77, sleep: () => Promise.resolve() },
  }
}

test('what a branch demands is read once an hour for each branch, and anew where that is asked for', async () => {
  const place = aPlace()
  const nth = async (branch: string, fresh = false) =>
    (await knownBranchRules(place, branch, { fresh })).rules.unread
  expect(await nth('main')).toEqual(['1'])
  expect(await nth('main')).toEqual(['1'])
  expect(await nth('release')).toEqual(['2'])
  expect(await nth('main', true)).toEqual(['3'])
  expect(await nth('main')).toEqual(['3'])
  expect(await knownBranchRules(place, 'main')).toMatchObject({
    readAt: 77,
    permissions: { contents: 'write' },
  })
  expect([...place.kept.values()].map(({ seconds }) => seconds)).toEqual([3600, 3600])
  expect([...place.kept.keys()].every((key) => key.startsWith('branch-rules 1 acme/catalog'))).toBe(true)
})
