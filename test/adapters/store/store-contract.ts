// What every store must do with any database. The test files in this directory run it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { toCommitSha, toPullNumber } from '../../../src/pull-request/ids.ts'
import type { RepositoryName, PullSnapshot } from '../../../src/pull-request/snapshot.ts'
import { defineCacheNamespace } from '../../../src/ports/cache.ts'
import type { Job, Lease } from '../../../src/ports/jobs.ts'
import type { MergeIntent } from '../../../src/ports/merge-records.ts'
import type { Store } from '../../../src/ports/store.ts'
import { defineStateNamespace, type StateNamespace } from '../../../src/ports/state.ts'
import { toJobKey } from '../../../src/adapters/store/jobs.ts'
import { openStore } from '../../../src/adapters/store/store.ts'
import { testMergeFreezesContract } from './merge-freezes-contract.ts'
import { testStatusPageStoreContract } from './page-records-contract.ts'
import {
  createCacheNamespace,
  realTimeClock,
  createPushDelivery,
  createPullJob,
  createRepositoryName,
  createStateNamespace,
  waitUntil,
} from './sample-records.ts'
import { createValidatedMerge } from '../../policy/verdict-inputs.ts'

export interface StoreUnderTest {
  /** Where the store's data is, a new location for each call. */
  createLocation(): Promise<{ databaseUrl?: string; dataDirectory?: string }>
  /** Whether a second store can be opened at the same location. */
  readonly shared: boolean
  /** Whether data survives closing and reopening. */
  readonly isDurable: boolean
}

const createPendingMerge = (pull: number, of: RepositoryName) =>
  createValidatedMerge({ repository: of, pull: toPullNumber(pull) })

export function testStoreContract(title: string, setting: StoreUnderTest): void {
  describe(`a store (${title})`, () => {
    let location: Awaited<ReturnType<StoreUnderTest['createLocation']>>
    let store: Store
    const problems: unknown[] = []
    const open = (where = location) =>
      openStore({ ...where, clock: realTimeClock, problem: (error) => problems.push(error) })
    beforeAll(async () => {
      location = await setting.createLocation()
      store = await open()
    })
    afterAll(async () => store.close())

    let working: { stop(): Promise<void> }[] = []
    const work = async (handler: (job: Job) => Promise<void>, concurrency = 4, on = store) => {
      const worker = await on.work(handler, concurrency)
      working.push(worker)
      return worker
    }
    beforeEach(() => void (problems.length = 0))
    /** Stops the jobs of one test from waiting in the next. */
    const drainJobsAfterEach = () =>
      afterEach(async () => {
        for (const worker of working) await worker.stop()
        working = []
        const rest = await store.work(async () => undefined, 50)
        await sleep(150)
        await rest.stop()
      })

    describe('deliveries', () => {
      drainJobsAfterEach()

      test('a delivery is new once, and its jobs are run once', async () => {
        const of = createRepositoryName()
        expect(await store.accept(createPushDelivery(`once ${of.name}`), [createPullJob(1, of)])).toBe('new')
        expect(await store.accept(createPushDelivery(`once ${of.name}`), [createPullJob(2, of)])).toBe(
          'duplicate',
        )
        const seen: Job[] = []
        await work(async (job) => void seen.push(job))
        await waitUntil(() => seen.length > 0)
        await sleep(200)
        expect(seen).toEqual([createPullJob(1, of)])
      })

      test('a delivery that arrives many times at once is new once', async () => {
        const of = createRepositoryName()
        const answers = await Promise.all(
          Array.from({ length: 20 }, () =>
            store.accept(createPushDelivery(`burst ${of.name}`), [createPullJob(1, of)]),
          ),
        )
        expect(answers.filter((answer) => answer === 'new')).toHaveLength(1)
      })

      test('a delivery with jobs that cannot be written is not recorded either', async () => {
        const of = createRepositoryName()
        const broken = { ...createPullJob(1, of), repository: undefined } as unknown as Job
        await expect(
          store.accept(createPushDelivery(`broken ${of.name}`), [createPullJob(2, of), broken]),
        ).rejects.toThrow()
        expect(await store.accept(createPushDelivery(`broken ${of.name}`), [])).toBe('new')
        const seen: Job[] = []
        await work(async (job) => void seen.push(job))
        await sleep(300)
        expect(seen).toEqual([])
      })
    })

    describe('jobs', () => {
      drainJobsAfterEach()

      test('of three kinds are returned unchanged', async () => {
        const of = createRepositoryName()
        const jobs: Job[] = [
          createPullJob(7, of),
          { kind: 'branch', installation: 2, repository: of, branch: 'release/ü 1' },
          { kind: 'sweep', installation: 3, repository: of },
        ]
        for (const job of jobs) await store.enqueue(job)
        const seen: Job[] = []
        await work(async (job) => void seen.push(job))
        await waitUntil(() => seen.length === 3)
        expect(seen).toEqual(expect.arrayContaining(jobs))
      })

      test('that wait and are equal are joined, regardless of the case of the name, and others are not', async () => {
        const of = createRepositoryName()
        const lower = { owner: of.owner.toLowerCase(), name: of.name.toLowerCase() }
        for (let time = 0; time < 5; time++) await store.enqueue(createPullJob(1, time % 2 ? of : lower))
        await Promise.all(Array.from({ length: 20 }, () => store.enqueue(createPullJob(1, of))))
        await store.enqueue(createPullJob(2, of))
        const seen: number[] = []
        await work(async (job) => void seen.push(job.kind === 'pull' ? job.pull : 0))
        await waitUntil(() => seen.length >= 2)
        await sleep(300)
        expect(seen.sort()).toEqual([1, 2])
      })

      test('of a scan wait behind every other kind, even if they came first', async () => {
        const of = createRepositoryName()
        const scan: Job = { kind: 'scan', installation: 1, repository: of }
        await store.enqueue(scan)
        for (const pull of [1, 2, 3]) await store.enqueue(createPullJob(pull, of))
        const seen: string[] = []
        await work(async (job) => void seen.push(job.kind), 1)
        await waitUntil(() => seen.length === 4)
        expect(seen).toEqual(['pull', 'pull', 'pull', 'scan'])
      })

      test('of several repositories take turns, even if one of them has many', async () => {
        const [busy, quiet] = [createRepositoryName(), createRepositoryName()]
        for (const pull of [1, 2, 3, 4, 5]) await store.enqueue(createPullJob(pull, busy))
        for (const pull of [11, 12]) await store.enqueue(createPullJob(pull, quiet))
        const seen: number[] = []
        await work(async (job) => void seen.push(job.kind === 'pull' ? job.pull : 0), 1)
        await waitUntil(() => seen.length === 7)
        expect(seen).toEqual([1, 11, 2, 12, 3, 4, 5])
      })

      test('a joined job has the newest data', async () => {
        const job = createPullJob(1)
        await store.enqueue(job)
        await store.enqueue({ ...job, installation: 99 })
        const seen: Job[] = []
        await work(async (one) => void seen.push(one))
        await waitUntil(() => seen.length === 1)
        expect(seen[0]?.installation).toBe(99)
      })

      test('an equal job that arrives during a run is run once after it, never concurrently', async () => {
        const job = createPullJob(1)
        let running = 0
        let maxConcurrent = 0
        let runs = 0
        await work(async () => {
          runs += 1
          maxConcurrent = Math.max(maxConcurrent, ++running)
          if (runs === 1) for (let time = 0; time < 10; time++) await store.enqueue(job)
          await sleep(150)
          running -= 1
        })
        await store.enqueue(job)
        await waitUntil(() => runs === 2)
        await sleep(500)
        expect([runs, maxConcurrent]).toEqual([2, 1])
      })

      test('a busy key does not block other keys', async () => {
        const [busy, other] = [createPullJob(1), createPullJob(2)]
        let release = () => undefined as void
        const held = new Promise<void>((resolve) => void (release = resolve))
        const seen: string[] = []
        await work(async (job) => {
          seen.push(job.repository.name)
          if (job.repository.name === busy.repository.name) await held
        })
        await store.enqueue(busy)
        await waitUntil(() => seen.length === 1)
        await store.enqueue(busy)
        await store.enqueue(other)
        await waitUntil(() => seen.includes(other.repository.name), 3)
        release()
        await waitUntil(() => seen.length === 3)
      })

      test('up to `concurrency` jobs run at once, and not more', async () => {
        let running = 0
        let maxConcurrent = 0
        let done = 0
        const of = createRepositoryName()
        for (let pull = 1; pull <= 12; pull++) await store.enqueue(createPullJob(pull, of))
        await work(async () => {
          maxConcurrent = Math.max(maxConcurrent, ++running)
          await sleep(50)
          running -= 1
          done += 1
        }, 3)
        await waitUntil(() => done === 12)
        expect(maxConcurrent).toBe(3)
      })

      test('a background job that waits for pull requests takes none of their slots', async () => {
        const of = createRepositoryName()
        const counts = { waiting: 0, yielding: 0 }
        const seen: Job['kind'][] = []
        const evaluated = Promise.withResolvers<void>()
        working.push(
          await store.work(
            async ({ kind }) => {
              seen.push(kind)
              if (kind === 'pull') return evaluated.resolve()
              counts.yielding += 1
              await evaluated.promise
              counts.yielding -= 1
            },
            1,
            counts,
          ),
        )
        await store.enqueue({ ...createPullJob(1, of), kind: 'scan' })
        await waitUntil(() => seen.length === 1)
        await store.enqueue(createPullJob(1, of))
        await waitUntil(() => seen.length === 2)
        expect(seen).toEqual(['scan', 'pull'])
      })

      test('an enqueued job begins immediately', async () => {
        const began: number[] = []
        await work(async () => void began.push(performance.now()))
        const took: number[] = []
        // Without a notification the store polls once a second. The machine may be busy with other things for a while.
        for (let pull = 1; pull <= 5; pull++) {
          await sleep(300)
          const start = performance.now()
          await store.enqueue(createPullJob(pull))
          await waitUntil(() => began.length === pull, 30)
          took.push((began[pull - 1] ?? Infinity) - start)
        }
        expect(Math.min(...took)).toBeLessThan(500)
      })

      test('a delayed job waits, an earlier one brings it forward, and a later one does not postpone it', async () => {
        const [late, soon] = [createPullJob(1), createPullJob(2)]
        await store.enqueue(late, 3600)
        await store.enqueue(soon, 3600)
        const seen: string[] = []
        await work(async (job) => void seen.push(job.repository.name))
        await sleep(300)
        expect(seen).toEqual([])
        await store.enqueue(soon)
        await store.enqueue(soon, 3600)
        await waitUntil(() => seen.length === 1)
        expect(seen).toEqual([soon.repository.name])
        await store.enqueue(late)
        await waitUntil(() => seen.length === 2)
      })

      test('a delay of a second takes about a second', async () => {
        const start = performance.now()
        let took = 0
        await work(async () => void (took = performance.now() - start))
        await store.enqueue(createPullJob(1), 1)
        await waitUntil(() => took > 0)
        expect(took).toBeGreaterThan(900)
        expect(took).toBeLessThan(10_000)
      })

      test('a failed job is retried after a pause, and a new request brings the retry forward', async () => {
        const job = createPullJob(1)
        const times: number[] = []
        await work(async () => {
          times.push(performance.now())
          if (times.length < 4) throw new Error('not yet \0 \ud800')
        })
        await store.enqueue(job)
        await waitUntil(() => times.length === 3, 30)
        expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(1000)
        expect(problems.map(String)).toContain('Error: not yet \0 \ud800')
        const news = performance.now()
        await sleep(100)
        await store.enqueue(job)
        await waitUntil(() => times.length === 4, 30)
        // The third pause is at least four seconds.
        expect((times[3] ?? Infinity) - news).toBeLessThan(3500)
      })

      test('a job that fails while an equal one waits is run by the waiting one, once', async () => {
        const job = createPullJob(1)
        let runs = 0
        await work(async () => {
          runs += 1
          if (runs > 1) return
          await store.enqueue(job)
          throw new Error('first')
        })
        await store.enqueue(job)
        await waitUntil(() => runs === 2)
        await sleep(3000)
        expect(runs).toBe(2)
      })

      test('stopping waits for running jobs and starts no others', async () => {
        const of = createRepositoryName()
        for (let pull = 1; pull <= 5; pull++) await store.enqueue(createPullJob(pull, of))
        let begun = 0
        let ended = 0
        const worker = await work(async () => {
          begun += 1
          await sleep(200)
          ended += 1
        }, 2)
        await waitUntil(() => begun === 2)
        await worker.stop()
        expect([begun, ended]).toEqual([2, 2])
        await sleep(200)
        expect(begun).toBe(2)
      })

      test('a thousand jobs for a hundred keys never overlap for a key, and none is lost', async () => {
        const of = createRepositoryName()
        const running = new Set<number>()
        const lastRun = new Map<number, number>()
        const lastAsked = new Map<number, number>()
        let overlaps = 0
        await work(async (job) => {
          const pull = job.kind === 'pull' ? job.pull : 0
          if (running.has(pull)) overlaps += 1
          running.add(pull)
          lastRun.set(pull, performance.now())
          await sleep(Math.random() * 10)
          running.delete(pull)
        }, 8)
        for (let round = 0; round < 10; round++)
          await Promise.all(
            Array.from({ length: 100 }, async (_, pull) => {
              lastAsked.set(pull + 1, performance.now())
              await store.enqueue(createPullJob(pull + 1, of))
            }),
          )
        // Every key is processed after its last request.
        await waitUntil(() => [...lastAsked].every(([pull, asked]) => (lastRun.get(pull) ?? 0) >= asked), 30)
        expect(overlaps).toBe(0)
      })
    })

    describe('leases', () => {
      test('have one holder at a time, and a greater fence for each holder', async () => {
        const name = `lease ${createRepositoryName().name}`
        const first = await requireLease(store.acquireLease(name, 60))
        expect(await store.acquireLease(name, 60)).toBeUndefined()
        expect(await store.renewLease(first, 60)).toBe(true)
        await store.releaseLease(first)
        expect(await store.renewLease(first, 60)).toBe(false)
        const second = await requireLease(store.acquireLease(name, 60))
        expect(second.fence).toBeGreaterThan(first.fence)
        await store.releaseLease(first)
        expect(await store.acquireLease(name, 60)).toBeUndefined()
      })

      test('that expired can be taken, and the former holder cannot renew them', async () => {
        const name = `short ${createRepositoryName().name}`
        const first = await requireLease(store.acquireLease(name, 0.05))
        await sleep(100)
        const second = await requireLease(store.acquireLease(name, 60))
        expect(second.fence).toBeGreaterThan(first.fence)
        expect(await store.renewLease(first, 60)).toBe(false)
        expect(await store.renewLease(second, 60)).toBe(true)
      })

      test('are granted to one of many concurrent requests', async () => {
        const name = `race ${createRepositoryName().name}`
        const got = await Promise.all(Array.from({ length: 20 }, () => store.acquireLease(name, 60)))
        expect(got.filter(Boolean)).toHaveLength(1)
      })
    })

    describe('pull requests that are ready', () => {
      const ready = (of: RepositoryName, pull: number, baseRef = 'main'): PullSnapshot => ({
        repository: of,
        pull: toPullNumber(pull),
        state: 'open',
        draft: false,
        title: `pull request ${pull}`,
        author: null,
        head: toCommitSha('1'.repeat(40)),
        baseRef,
        base: toCommitSha('2'.repeat(40)),
        headRepository: null,
        labels: [],
        reviews: [],
        comments: [],
        stacked: false,
      })
      const waiting = async (of: RepositoryName, branch = 'main') =>
        (await store.readyPulls(of, branch)).map(({ pull }) => pull)
      /** Ensures that the next timestamp is in a later millisecond. */
      const comes = async (snapshot: PullSnapshot) => {
        await store.putReady(snapshot)
        await sleep(2)
      }

      test('are ordered by arrival, and keep their position through changes', async () => {
        const of = createRepositoryName()
        for (const pull of [7, 3, 5]) await comes(ready(of, pull))
        await store.putReady({ ...ready(of, 7), title: 'changed' })
        expect(await waiting(of)).toEqual([7, 3, 5])
        expect((await store.readyPulls(of, 'main'))[0]?.snapshot).toEqual({
          ...ready(of, 7),
          title: 'changed',
        })
        expect(await waiting(createRepositoryName())).toEqual([])
      })

      test('are stored with any text, and no word becomes another', async () => {
        const of = createRepositoryName()
        await store.putReady({ ...ready(of, 7), title: '/app\0rove \ud800', labels: ['a\0'] })
        const [first] = await store.readyPulls(of, 'main')
        expect(first?.snapshot).toMatchObject({ title: '/app\uFFFDrove \uFFFD', labels: ['a\uFFFD'] })
      })

      test('wait for one branch each, move to the end of another one, and leave', async () => {
        const of = createRepositoryName()
        await comes(ready(of, 1))
        await comes(ready(of, 2, 'v4.20'))
        await comes(ready(of, 1, 'v4.20'))
        expect([await waiting(of), await waiting(of, 'v4.20')]).toEqual([[], [2, 1]])
        await store.dropReady(of, [toPullNumber(2), toPullNumber(9)])
        expect(await waiting(of, 'v4.20')).toEqual([1])
      })
    })

    describe('merges', () => {
      const lease = async (seconds = 60) =>
        requireLease(store.acquireLease(`base ${createRepositoryName().name}`, seconds))

      test('count as pushed and are open until they are settled, oldest first', async () => {
        const of = createRepositoryName()
        const by = await lease()
        const first = await requireMergeIntent(store.startMerge(by, createPendingMerge(1, of)))
        const second = await requireMergeIntent(store.startMerge(by, createPendingMerge(2, of)))
        expect(first).toEqual({ ...createPendingMerge(1, of), id: first.id, fence: by.fence })
        expect(await store.listPendingMerges(of)).toEqual([first, second])
        expect(await store.findMerge(of, toPullNumber(1))).toBeUndefined()
        expect((await store.findPullsOfCommits(of, [first.commit])).size).toBe(0)
        expect((await store.findPullsOfCommits(of, [first.commit], true)).size).toBe(1)
        await store.finishMerge(first, 'landed')
        await store.finishMerge(second, 'abandoned')
        expect(await store.listPendingMerges(of)).toEqual([])
        expect(await store.findMerge(of, toPullNumber(1))).toEqual(createPendingMerge(1, of))
        expect(await store.findMerge(of, toPullNumber(2))).toBeUndefined()
        expect(
          await store.findMerge({ owner: of.owner.toUpperCase(), name: of.name }, toPullNumber(1)),
        ).toBeDefined()
      })

      test('do not start with a lease that expired, was released, or was taken over (T44)', async () => {
        const of = createRepositoryName()
        const expired = await lease(0.05)
        await sleep(100)
        expect(await store.startMerge(expired, createPendingMerge(1, of))).toBeUndefined()
        const given = await lease()
        await store.releaseLease(given)
        expect(await store.startMerge(given, createPendingMerge(1, of))).toBeUndefined()
        const taken = await requireLease(store.acquireLease(given.name, 60))
        expect(await store.startMerge(given, createPendingMerge(1, of))).toBeUndefined()
        expect(
          await store.startMerge({ ...taken, fence: taken.fence + 1 }, createPendingMerge(1, of)),
        ).toBeUndefined()
        expect(await store.listPendingMerges(of)).toEqual([])
      })

      test('happen once per pull request, and the second is rejected', async () => {
        const of = createRepositoryName()
        const by = await lease()
        const [first, second] = [
          await requireMergeIntent(store.startMerge(by, createPendingMerge(1, of))),
          await requireMergeIntent(
            store.startMerge(by, { ...createPendingMerge(1, of), commit: createPendingMerge(2, of).head }),
          ),
        ]
        await store.finishMerge(first, 'landed')
        await expect(store.finishMerge(second, 'landed')).rejects.toMatchObject({
          code: 'already-landed',
          retryable: false,
        })
        await store.finishMerge(second, 'abandoned')
        expect(await store.listPendingMerges(of)).toEqual([])
      })

      test('that were abandoned before their push arrived can still be finished once', async () => {
        const of = createRepositoryName()
        const held = await lease()
        const late = await requireMergeIntent(store.startMerge(held, createPendingMerge(1, of)))
        const other = await requireMergeIntent(
          store.startMerge(held, { ...createPendingMerge(1, of), commit: createPendingMerge(2, of).head }),
        )
        await store.finishMerge(late, 'abandoned')
        await store.finishMerge(other, 'abandoned')
        expect((await store.listAbandonedMerges(of, late.pull)).map(({ id }) => id)).toEqual([
          other.id,
          late.id,
        ])
        await store.finishMerge(late, 'landed')
        expect((await store.findMerge(of, late.pull))?.commit).toBe(late.commit)
        expect((await store.listAbandonedMerges(of, late.pull)).map(({ id }) => id)).toEqual([other.id])
        await expect(store.finishMerge(other, 'landed')).rejects.toMatchObject({ code: 'already-landed' })
        await expect(store.finishMerge(late, 'abandoned')).rejects.toMatchObject({ code: 'already-settled' })
      })

      test('of one commit that two processes started are recorded once', async () => {
        const of = createRepositoryName()
        const by = await lease()
        const paused = await requireMergeIntent(store.startMerge(by, createPendingMerge(1, of)))
        const given = await requireMergeIntent(store.startMerge(by, createPendingMerge(1, of)))
        const other = await requireMergeIntent(store.startMerge(by, createPendingMerge(1, of)))
        await store.finishMerge(given, 'abandoned')
        expect(await store.finishMerge(other, 'landed')).toBe(true)
        // Both processes find the commit on the branch.
        expect(await store.finishMerge(paused, 'landed')).toBe(false)
        expect(await store.finishMerge(given, 'landed')).toBe(false)
        expect(await store.listPendingMerges(of)).toEqual([])
        expect((await store.listAbandonedMerges(of, paused.pull)).map(({ id }) => id)).toEqual([
          given.id,
          paused.id,
        ])
        expect((await store.findMerge(of, paused.pull))?.commit).toBe(other.commit)
      })

      test('that are settled twice need the same outcome, and another outcome is an error', async () => {
        const of = createRepositoryName()
        const intent = await requireMergeIntent(store.startMerge(await lease(), createPendingMerge(1, of)))
        expect(await store.finishMerge(intent, 'mismatch')).toBe(true)
        expect(await store.finishMerge(intent, 'mismatch')).toBe(false)
        await expect(store.finishMerge(intent, 'landed')).rejects.toMatchObject({ code: 'already-settled' })
        await expect(store.finishMerge({ ...intent, id: 999_999 }, 'landed')).rejects.toMatchObject({
          code: 'already-settled',
        })
      })

      test('of one pull request that are settled concurrently merge it once', async () => {
        const of = createRepositoryName()
        const by = await lease()
        const intents = await Promise.all(
          Array.from({ length: 8 }, () =>
            requireMergeIntent(store.startMerge(by, createPendingMerge(1, of))),
          ),
        )
        const ended = await Promise.all(intents.map((intent) => store.finishMerge(intent, 'landed')))
        expect(ended.filter(Boolean)).toHaveLength(1)
        expect(await store.listPendingMerges(of)).toEqual([])
      })
    })

    testMergeFreezesContract(() => store)
    testStatusPageStoreContract(() => store)
    const anyJson = new Map<string, unknown>([
      ['a', { deep: [1, 'ü', null, true] }],
      ['nul \0 and \ud800', 'value \0 \ud800 \u2028'],
      ['k'.repeat(10_000), 'long key'],
      ['null', null],
      ['quote \' " \\', 0],
      ['', 'empty key'],
    ])
    const many = new Map(Array.from({ length: 3000 }, (_, at): [string, unknown] => [`key ${at}`, { at }]))
    const backwards = new Map([...many].reverse())

    describe('the cache', () => {
      test('returns what was stored, by space and key, and nothing else', async () => {
        const name = `space ${createRepositoryName().name}`
        const space = createCacheNamespace(name)
        await store.putCached(space, anyJson, 60)
        expect(await store.getCached(space, [...anyJson.keys(), 'absent'])).toEqual(anyJson)
        expect(await store.getCached(createCacheNamespace(`${name} other`), ['a'])).toEqual(new Map())
        await store.putCached(space, new Map([['a', 2]]), 60)
        expect(await store.getCached(space, ['a', 'a'])).toEqual(new Map([['a', 2]]))
        expect(await store.getCached(space, [])).toEqual(new Map())
      })

      test('does not return expired values, and storing one again makes it fresh', async () => {
        const space = createCacheNamespace(`ttl ${createRepositoryName().name}`)
        await store.putCached(space, new Map([['a', 1]]), 0.05)
        await store.putCached(space, new Map([['b', 1]]), 60)
        await sleep(100)
        expect(await store.getCached(space, ['a', 'b'])).toEqual(new Map([['b', 1]]))
        await store.putCached(space, new Map([['a', 2]]), 60)
        expect(await store.getCached(space, ['a'])).toEqual(new Map([['a', 2]]))
      })

      test('accepts thousands of values at a time, also from two writers at once', async () => {
        const space = createCacheNamespace(`many ${createRepositoryName().name}`)
        await Promise.all([store.putCached(space, many, 60), store.putCached(space, backwards, 60)])
        expect(await store.getCached(space, [...many.keys()])).toEqual(many)
      })

      test('ignores values with another shape or version', async () => {
        const name = `shape ${createRepositoryName().name}`
        const read = (stored: unknown) => (typeof stored === 'number' ? stored : undefined)
        const [first, second] = [1, 2].map((version) => defineCacheNamespace(name, version, read))
        if (!first || !second) throw new Error('two versions')
        await store.putCached(
          createCacheNamespace(name),
          new Map<string, unknown>([
            ['text', 'one'],
            ['number', 1],
          ]),
          60,
        )
        expect(await store.getCached(first, ['text', 'number'])).toEqual(new Map([['number', 1]]))
        expect(await store.getCached(second, ['text', 'number'])).toEqual(new Map())
      })
    })

    describe('state', () => {
      const read = async (space: StateNamespace<unknown>, of: RepositoryName, keys: Iterable<string>) => {
        const found = new Map<string, unknown>()
        for (const key of keys) {
          const value = await store.readState(space, of, key)
          if (value !== undefined) found.set(key, value)
        }
        return found
      }

      test('returns what was written, by space, repository, and key, and nothing else', async () => {
        const of = createRepositoryName()
        const space = createStateNamespace(of.name)
        await store.writeState(space, of, anyJson)
        expect(await read(space, of, [...anyJson.keys(), 'absent'])).toEqual(anyJson)
        expect(await store.readState(space, createRepositoryName(), 'a')).toBeUndefined()
        expect(await store.readState(createStateNamespace(`${of.name} other`), of, 'a')).toBeUndefined()
        // GitHub's names are case-insensitive.
        const { owner, name } = of
        await store.writeState(
          space,
          { owner: owner.toLowerCase(), name: name.toUpperCase() },
          new Map([['a', 2]]),
        )
        expect(await store.readState(space, of, 'a')).toBe(2)
      })

      test('is separate from the cache, even under the same name', async () => {
        const of = createRepositoryName()
        await store.writeState(createStateNamespace(of.name), of, new Map([['a', 'state']]))
        await store.putCached(createCacheNamespace(of.name), new Map([['a', 'cache']]), 60)
        expect(await store.readState(createStateNamespace(of.name), of, 'a')).toBe('state')
        expect(await store.getCached(createCacheNamespace(of.name), ['a'])).toEqual(new Map([['a', 'cache']]))
        // @ts-expect-error durable values cannot be put into the cache
        const wrong = () => store.putCached(createStateNamespace('x'), new Map([['a', 1]]), 60)
        // @ts-expect-error cached values cannot be put into the state
        const alsoWrong = () => store.writeState(createCacheNamespace('x'), of, new Map([['a', 1]]))
        const numbers = defineStateNamespace('x', 1, () => 1)
        // @ts-expect-error values have the declared shape
        const misshapen = () => store.writeState(numbers, of, new Map([['a', 'text']]))
        expect([wrong, alsoWrong, misshapen]).toHaveLength(3)
      })

      test('deletes everything but the listed keys, in one space and one repository', async () => {
        const [of, other] = [createRepositoryName(), createRepositoryName()]
        const [space, elsewhere] = [createStateNamespace(of.name), createStateNamespace(other.name)]
        for (const [where, whose] of [
          [space, of],
          [elsewhere, of],
          [space, other],
        ] as const)
          await store.writeState(where, whose, anyJson)
        const kept = ['nul \0 and \ud800', 'k'.repeat(10_000)]
        await store.retainState(space, of, [...kept, 'absent'])
        expect([...(await read(space, of, anyJson.keys())).keys()]).toEqual(kept)
        expect(await read(elsewhere, of, anyJson.keys())).toEqual(anyJson)
        expect(await read(space, other, anyJson.keys())).toEqual(anyJson)
        await store.retainState(space, of, [])
        expect(await read(space, of, kept)).toEqual(new Map())
      })

      test('accepts thousands of values at a time, also from two writers at once', async () => {
        const of = createRepositoryName()
        const space = createStateNamespace('many')
        await Promise.all([store.writeState(space, of, many), store.writeState(space, of, backwards)])
        expect(await read(space, of, ['key 0', 'key 1500', 'key 2999'])).toEqual(
          new Map([0, 1500, 2999].map((at) => [`key ${at}`, { at }])),
        )
      })

      test('of an earlier version is read as such, and an unreadable value is an error', async () => {
        const of = createRepositoryName()
        const name = `versions ${of.name}`
        const first = defineStateNamespace<number>(name, 1, (stored) =>
          typeof stored === 'number' ? stored : undefined,
        )
        const second = defineStateNamespace<{ count: number }>(name, 2, (stored, version) =>
          version === 1 && typeof stored === 'number' ? { count: stored } : (stored as { count: number }),
        )
        await store.writeState(first, of, new Map([['a', 3]]))
        expect(await store.readState(second, of, 'a')).toEqual({ count: 3 })
        await store.writeState(second, of, new Map([['a', { count: 4 }]]))
        expect(await store.readState(second, of, 'a')).toEqual({ count: 4 })
        await expect(store.readState(first, of, 'a')).rejects.toMatchObject({ code: 'too-new' })
        await store.writeState(createStateNamespace(name), of, new Map([['b', 'no number']]))
        await expect(store.readState(first, of, 'b')).rejects.toMatchObject({ code: 'unreadable' })
      })
    })

    test('verdicts are stored once per head, base, and configuration', async () => {
      const of = createRepositoryName()
      const record = (head: string, after: number) => ({
        repository: of,
        pull: toPullNumber(1),
        head: toCommitSha(head.repeat(40)),
        base: toCommitSha('0'.repeat(40)),
        config: 'c',
        verdict: 'wait',
        report: { findings: ['a \0 b', after] },
        decidedAt: 1_700_000_000_000 + after,
      })
      for (const made of [record('1', 1), record('2', 2), record('1', 3)]) await store.recordVerdict(made)
      for (const { decidedAt, report, ...state } of [record('1', 3), record('2', 2)])
        expect(await store.verdictReport(of, toPullNumber(1), state)).toMatchObject({ decidedAt, report })
      expect(await store.verdictReport(of, toPullNumber(2), record('1', 3))).toBeUndefined()
    })

    if (setting.isDurable)
      test('preserves all data after closing and reopening, and runs waiting jobs', async () => {
        const where = await setting.createLocation()
        const of = createRepositoryName()
        let opened = await open(where)
        await opened.accept(createPushDelivery('kept'), [createPullJob(1, of)])
        await opened.enqueue(createPullJob(2, of), 3600)
        const by = await requireLease(opened.acquireLease('kept', 60))
        const intent = await requireMergeIntent(opened.startMerge(by, createPendingMerge(1, of)))
        await opened.putCached(createCacheNamespace('kept'), new Map([['a', 1]]), 3600)
        await opened.writeState(createStateNamespace('kept'), of, new Map([['a', 1]]))
        await opened.freezeMerges({ repository: of, kind: 'audit', reason: 'why', by: { kind: 'bot' } })
        await opened.close()
        opened = await open(where)
        try {
          expect(await opened.accept(createPushDelivery('kept'), [])).toBe('duplicate')
          expect(await opened.listPendingMerges(of)).toEqual([intent])
          expect(await opened.getCached(createCacheNamespace('kept'), ['a'])).toEqual(new Map([['a', 1]]))
          expect(await opened.readState(createStateNamespace('kept'), of, 'a')).toBe(1)
          expect(await opened.listFreezes(of)).toMatchObject([
            { repository: of, kind: 'audit', reason: 'why' },
          ])
          const seen: Job[] = []
          await work(async (job) => void seen.push(job), 4, opened)
          await waitUntil(() => seen.length === 1)
          expect(seen).toEqual([createPullJob(1, of)])
        } finally {
          await opened.close()
          working = []
        }
      })

    if (setting.shared)
      describe('with a second instance on the same database', () => {
        let other: Store
        beforeAll(async () => void (other = await open()))
        afterAll(async () => other.close())
        drainJobsAfterEach()

        test('leases and merges are shared between them', async () => {
          const name = `two ${createRepositoryName().name}`
          const got = await Promise.all(
            Array.from({ length: 20 }, (_, at) => (at % 2 ? store : other).acquireLease(name, 60)),
          )
          const [winner] = got.filter((lease) => lease !== undefined)
          expect(got.filter(Boolean)).toHaveLength(1)
          const of = createRepositoryName()
          const intent = await requireMergeIntent(
            store.startMerge(winner ?? { name, fence: 0 }, createPendingMerge(1, of)),
          )
          expect(await other.listPendingMerges(of)).toEqual([intent])
        })

        test('every job is run by one of them, never twice at once, and both run some', async () => {
          const of = createRepositoryName()
          const running = new Set<string>()
          const runs = { here: 0, there: 0 }
          const asked = new Map<string, number>()
          const ran = new Map<string, number>()
          let overlaps = 0
          const handler = (where: 'here' | 'there') => async (job: Job) => {
            const key = toJobKey(job)
            if (running.has(key)) overlaps += 1
            running.add(key)
            ran.set(key, performance.now())
            runs[where] += 1
            await sleep(Math.random() * 10)
            running.delete(key)
          }
          await work(handler('here'), 4, store)
          await work(handler('there'), 4, other)
          for (let round = 0; round < 15; round++)
            await Promise.all(
              Array.from({ length: 40 }, async (_, pull) => {
                const job = createPullJob(pull + 1, of)
                asked.set(toJobKey(job), performance.now())
                await (pull % 2 ? store : other).enqueue(job)
              }),
            )
          await waitUntil(() => [...asked].every(([key, at]) => (ran.get(key) ?? 0) >= at), 30)
          expect(overlaps).toBe(0)
          expect(runs.here).toBeGreaterThan(0)
          expect(runs.there).toBeGreaterThan(0)
        })

        test('one delivery that reaches both is new to one', async () => {
          const of = createRepositoryName()
          const answers = await Promise.all(
            Array.from({ length: 10 }, (_, at) =>
              (at % 2 ? store : other).accept(createPushDelivery(`both ${of.name}`), [createPullJob(1, of)]),
            ),
          )
          expect(answers.filter((answer) => answer === 'new')).toHaveLength(1)
        })
      })
  })
}

async function requireLease(lease: Promise<Lease | undefined>): Promise<Lease> {
  const value = await lease
  if (!value) throw new Error('no lease')
  return value
}

async function requireMergeIntent(intent: Promise<MergeIntent | undefined>): Promise<MergeIntent> {
  const value = await intent
  if (!value) throw new Error('no intent')
  return value
}
