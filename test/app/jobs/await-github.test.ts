// A pull request that is open for GitHub while its branch holds its head: whoever merges it tells, and nobody is told that there
// is nothing to merge.
import { expect, test } from '@jest/globals'
import { openMemoryStore, Tables } from '../../../simulate/ports/memory-store.ts'
import { awaitGitHub } from '../../../src/app/jobs/await-github.ts'
import type { JobContext } from '../../../src/app/jobs/job-context.ts'
import { commitSha } from '../../../src/change/ids.ts'
import { leaseName } from '../../../src/landing/lease-name.ts'
import type { Store } from '../../../src/ports/store.ts'
import { aSnapshot, sha } from '../../gate/build.ts'

function open() {
  let now = 1_000_000
  const clock = { now: () => now }
  const store = openMemoryStore({ tables: new Tables(), now: clock.now, turn: async (_, act) => act() })
  const snapshot = aSnapshot()
  const { repository, pull, head, base, baseRef } = snapshot
  const place = {
    app: { store, clock, settings: { leaseSeconds: 60 }, metrics: { landings: { inc: () => undefined } } },
    forge: { repository },
  } as unknown as JobContext<Store>
  const begin = async () => {
    const lease = await store.acquireLease(leaseName(repository, baseRef), 60)
    if (lease === undefined) throw new Error('somebody has the lease')
    const [commit, tree] = [commitSha(sha('e')), snapshot.head as never]
    const landing = { repository, pull, head, base, baseRef, commit, tree, config: 'c' }
    const intent = await store.beginLanding(lease, landing)
    if (intent === undefined) throw new Error('the lease is lost')
    return { lease, intent }
  }
  return { place, store, snapshot, begin, later: (seconds: number) => (now += seconds * 1000) }
}

test('whoever is landing it is waited for, and what they merged is merged', async () => {
  const { place, store, snapshot, begin } = open()
  const { lease, intent } = await begin()
  expect(await awaitGitHub(snapshot, place)).toBe('wait')
  await store.endLanding(intent, 'landed')
  await store.releaseLease(lease)
  expect(await awaitGitHub(snapshot, place)).toBe('merged')
  // A head that was pushed since is another matter.
  expect(await awaitGitHub({ ...snapshot, head: commitSha(sha('f')) }, place)).toBe('wait')
})

test('what somebody else pushed has half a minute to be noticed by GitHub', async () => {
  const { place, snapshot, later } = open()
  expect(await awaitGitHub(snapshot, place)).toBe('wait')
  later(29)
  expect(await awaitGitHub(snapshot, place)).toBe('wait')
  later(1)
  expect(await awaitGitHub(snapshot, place)).toBe('open')
  expect(await awaitGitHub({ ...snapshot, head: commitSha(sha('f')) }, place)).toBe('wait')
})
