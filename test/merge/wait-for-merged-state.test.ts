// A pull request that GitHub shows as open although the base branch contains its head. The process that merges it
// reports the merge, and catalog-bot does not report that there is nothing to merge.
import { expect, test } from '@jest/globals'
import { createTestStore } from '../jobs/job-context.ts'
import { resolveOpenPullWithMergedHead } from '../../src/merge/externally-merged-pulls.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import { toCommitSha } from '../../src/pull-request/ids.ts'
import { toMergeLeaseName } from '../../src/jobs/auto-renewing-lease.ts'
import type { Store } from '../../src/ports/store.ts'
import { createTestPullSnapshot, createHexSha } from '../policy/verdict-inputs.ts'

function setUpWaitForMergedState() {
  let now = 1_000_000
  const clock = { now: () => now }
  const store = createTestStore(clock.now)
  const snapshot = createTestPullSnapshot()
  const { repository, pull, head, base, baseRef } = snapshot
  const place = {
    app: { store, clock, settings: { leaseSeconds: 60 }, metrics: { landings: { inc: () => undefined } } },
    forge: { repository },
  } as unknown as JobContext<Store>
  const begin = async () => {
    const lease = await store.acquireLease(toMergeLeaseName(repository, baseRef), 60)
    if (lease === undefined) throw new Error('somebody has the lease')
    const [commit, tree] = [toCommitSha(createHexSha('e')), snapshot.head as never]
    const pendingMerge = { repository, pull, head, base, baseRef, commit, tree, config: 'c' }
    const intent = await store.startMerge(lease, pendingMerge)
    if (intent === undefined) throw new Error('the lease is lost')
    return { lease, intent }
  }
  return { place, store, snapshot, begin, later: (seconds: number) => (now += seconds * 1000) }
}

test('waits for the process that merges it, and then counts it as merged', async () => {
  const { place, store, snapshot, begin } = setUpWaitForMergedState()
  const { lease, intent } = await begin()
  expect(await resolveOpenPullWithMergedHead(snapshot, place)).toBe('wait')
  await store.finishMerge(intent, 'landed')
  await store.releaseLease(lease)
  expect(await resolveOpenPullWithMergedHead(snapshot, place)).toBe('merged')
  // This does not apply to a head that was pushed since then.
  expect(
    await resolveOpenPullWithMergedHead({ ...snapshot, head: toCommitSha(createHexSha('f')) }, place),
  ).toBe('wait')
})

test('waits half a minute for GitHub to notice a merge pushed by others', async () => {
  const { place, snapshot, later } = setUpWaitForMergedState()
  expect(await resolveOpenPullWithMergedHead(snapshot, place)).toBe('wait')
  later(29)
  expect(await resolveOpenPullWithMergedHead(snapshot, place)).toBe('wait')
  later(1)
  expect(await resolveOpenPullWithMergedHead(snapshot, place)).toBe('open')
  expect(
    await resolveOpenPullWithMergedHead({ ...snapshot, head: toCommitSha(createHexSha('f')) }, place),
  ).toBe('wait')
})
