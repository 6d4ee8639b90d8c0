import { expect, test } from '@jest/globals'
import { createLookupResolver } from '../../src/catalogs/gather-lookup-results.ts'
import { fetchBranchRules } from '../../src/evaluate/merge-plan-input.ts'
import { createInMemoryCache } from '../../src/catalogs/memory-cache.ts'
import type { BranchRules } from '../../src/policy/branch-rules.ts'

function createBranchRulesContext(name = 'catalog') {
  let reads = 0
  const time = { ms: 77 }
  const clock = { now: () => time.ms, sleep: () => Promise.resolve() }
  return {
    time,
    clock,
    store: createInMemoryCache(clock),
    forge: {
      repository: { owner: 'Acme', name },
      branchRules: (branch: string) =>
        Promise.resolve({ branch, unread: [String((reads += 1))] } as unknown as BranchRules),
      permissions: () => Promise.resolve({ contents: 'write' }),
    },
  }
}

test('branch rules are read once an hour for each branch, and again on request', async () => {
  const ctx = createBranchRulesContext()
  const nth = async (branch: string, fresh = false) =>
    (await fetchBranchRules(ctx, branch, { fresh })).rules.unread
  expect(await nth('main')).toEqual(['1'])
  expect(await nth('main')).toEqual(['1'])
  expect(await nth('release')).toEqual(['2'])
  expect(await nth('main', true)).toEqual(['3'])
  expect(await nth('main')).toEqual(['3'])
  expect(await fetchBranchRules(ctx, 'main')).toMatchObject({
    readAt: 77,
    permissions: { contents: 'write' },
  })
  ctx.time.ms += 3_600_000
  expect(await nth('main')).toEqual(['4'])
})

test('repositories do not share cached branch rules', async () => {
  const ctx = createBranchRulesContext()
  await fetchBranchRules(ctx, 'main')
  const other = { ...createBranchRulesContext('other'), store: ctx.store }
  expect((await fetchBranchRules(other, 'main')).rules.unread).toEqual(['1'])
  const twice = await fetchBranchRules(other, 'main')
  expect(twice.rules.unread).toEqual(['1'])
})

test('branches with names that differ only in case have different cached answers, as on GitHub', async () => {
  const { store, forge } = createBranchRulesContext()
  const answer = ({ branch }: { branch: string }) =>
    Promise.resolve({ kind: branch === 'Next' ? 'yes' : 'no' })
  const resolve = createLookupResolver(
    { ...forge, answer } as never,
    () => Promise.reject(new Error()),
    store,
  )
  for (const branch of ['next', 'Next', 'next'])
    expect(await resolve({ kind: 'branch', branch })).toEqual({ kind: branch === 'Next' ? 'yes' : 'no' })
})
