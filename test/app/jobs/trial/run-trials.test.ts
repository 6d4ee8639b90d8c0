// The job that tries a pull request on a cluster: one at a time on each, given up for a newer commit, and taken up after a death.
import { expect, test } from '@jest/globals'
import type { FoundImages } from '../../../../src/app/jobs/trial/catalog-images.ts'
import { runTrials } from '../../../../src/app/jobs/trial/run-trials.ts'
import {
  madeTrials,
  trialTurns,
  trialWishes,
  type MadeTrials,
  type TrialWish,
} from '../../../../src/app/jobs/trial/trial-state.ts'
import type { Trials } from '../../../../src/app/trials/open-trials.ts'
import type { TrialAnswer, TrialNews, TrialOrder } from '../../../../src/app/trials/trial-order.ts'
import { commitSha, pullNumber, treeSha } from '../../../../src/change/ids.ts'
import { failed } from '../../../../src/checks/install/trial/trial-outcome.ts'
import type { TrialReport } from '../../../../src/checks/install/trial/trial-report.ts'

const repository = { owner: 'coast', name: 'catalog' }
const job = { kind: 'trial', installation: 7, repository, pull: pullNumber(5) } as const
const trial = {
  target: 'OLM v0' as const,
  package: 'foo',
  channel: 'stable',
  mode: 'AllNamespaces' as const,
  steps: [{ root: 'foo.v1', version: '1', names: ['foo.v1'] }],
  crds: [],
  isUpgrade: true,
}
const wish: TrialWish = {
  head: commitSha('1'.repeat(40)),
  tree: treeSha('2'.repeat(40)),
  baseTree: treeSha('3'.repeat(40)),
  trials: [{ root: 'catalogs/v4.20', trial }],
  key: 'one',
  isRequired: false,
  isOver: false,
}
const report = (outcome: TrialReport['outcome']): TrialReport => ({
  id: 'abcdefgh',
  target: 'OLM v0',
  package: 'foo',
  channel: 'stable',
  mode: 'AllNamespaces',
  steps: ['foo.v1'],
  namespace: 'n',
  cluster: [],
  outcome,
  started: 0,
  ended: 1,
  events: [],
  evidence: [],
  leftovers: [],
})
const prepared: TrialAnswer = { kind: 'prepared', slot: 'slot', servesCatalogs: true, ports: [4001, 4002] }

interface Scene {
  wish?: TrialWish
  made?: MadeTrials | undefined
  /** Leases that others hold. */
  taken?: readonly string[]
  turn?: { ended: number }
  losesLease?: boolean
  answer?: (
    order: Extract<TrialOrder, { kind: 'try' }>,
    news: (one: TrialNews) => Promise<string>,
    scene: Played,
  ) => Promise<TrialAnswer>
  prepare?: TrialAnswer
  images?: FoundImages
}

interface Played {
  states: Map<string, unknown>
  readonly checks: { status: string; conclusion?: string; title: string }[]
  readonly enqueued: number[]
  readonly orders: TrialOrder[]
  readonly served: { tree: string; port: number }[]
  readonly leases: string[]
}

async function play(scene: Scene): Promise<Played> {
  const played: Played = {
    states: new Map<string, unknown>([
      [trialWishes.name, scene.wish ?? wish],
      [madeTrials.name, scene.made],
      [trialTurns.name, scene.turn],
    ]),
    checks: [],
    enqueued: [],
    orders: [],
    served: [],
    leases: [],
  }
  const trials: Trials = {
    isAllowed: true,
    async order(order, onNews) {
      played.orders.push(order)
      if (order.kind === 'prepare') return scene.prepare ?? prepared
      const answer =
        scene.answer ??
        (() => Promise.resolve<TrialAnswer>({ kind: 'tried', report: report({ verdict: 'installs' }) }))
      return answer(order, async (news) => (await onNews?.(news)) ?? 'go', played)
    },
    serving: async ({ tree, port }, use) => {
      played.served.push({ tree, port })
      return use(port)
    },
    close: () => Promise.resolve(),
  }
  const place = {
    installation: 7,

    mirror: '/mirror',
    forge: {
      repository,
      perform: ({ run }: { run: Played['checks'][number] }) => Promise.resolve(void played.checks.push(run)),
    },
    app: {
      trials,
      clock: { now: () => 1_000_000_000 },
      log: { warn: () => undefined },
      store: {
        readState: ({ name }: { name: string }) => Promise.resolve(played.states.get(name)),
        writeState: ({ name }: { name: string }, _: unknown, values: Map<string, unknown>) =>
          Promise.resolve(void played.states.set(name, values.get('5') ?? values.get('last'))),
        enqueue: (_: unknown, seconds = 0) => Promise.resolve(void played.enqueued.push(seconds)),
        acquireLease: (name: string) => {
          played.leases.push(`acquired ${name}`)
          return Promise.resolve(scene.taken?.includes(name) ? undefined : { name, fence: 1 })
        },
        renewLease: () => Promise.resolve(scene.losesLease !== true),
        releaseLease: () => Promise.resolve(void played.leases.push('released')),
      },
    },
  }
  await runTrials(job, place as unknown as Parameters<typeof runTrials>[1], () =>
    Promise.resolve(scene.images ?? new Map()),
  )
  return played
}
const madeOf = ({ states }: Played) => states.get(madeTrials.name) as MadeTrials
const told = ({ checks }: Played) => checks.map(({ status, conclusion }) => conclusion ?? status)

test('both catalogs are served from the trees that were validated, and the check tells the end', async () => {
  const played = await play({
    answer: async (_, news) => {
      await news({ kind: 'news', id: 'abcdefgh', says: 'the trial begins' })
      return { kind: 'tried', report: report({ verdict: 'installs' }) }
    },
  })
  expect(played.served).toEqual([
    { tree: wish.tree, port: 4001 },
    { tree: wish.baseTree, port: 4002 },
  ])
  expect(played.orders[1]).toMatchObject({
    kind: 'try',
    github: repository,
    installation: 7,
    catalogs: { head: 4001, base: 4002 },
    abandoned: [],
  })
  expect(told(played)).toEqual(['in_progress', 'success'])
  expect(madeOf(played)).toMatchObject({ key: 'one', running: [] })
  expect(played.leases).toEqual(['acquired trial slot', 'released'])
  expect((await play({ made: madeOf(played) })).orders).toEqual([])
})

test('a cluster that is taken is waited for', async () => {
  const first = await play({ taken: ['trial slot'] })
  expect(told(first)).toEqual(['queued'])
  expect(first.enqueued).toEqual([15])
  expect(first.orders).toHaveLength(1)
  expect(first.leases.filter((one) => one.startsWith('acquired'))).toEqual([
    'acquired trial slot',
    'acquired trial line slot',
  ])
})

test('a repository that has just had it lets those go first who wait, whichever of its pull requests it is', async () => {
  const now = 1_000_000_000
  const yields = await play({ turn: { ended: now - 44_000 }, taken: ['trial line slot'] })
  expect([told(yields), yields.enqueued, yields.orders.length]).toEqual([['queued'], [15], 1])
  expect(yields.leases).not.toContain('acquired trial slot')
  // Nobody waits.
  expect(told(await play({ turn: { ended: now - 1000 } }))).toEqual(['success'])
  // Everybody has had a chance since.
  const later = await play({ turn: { ended: now - 46_000 }, taken: ['trial line slot'] })
  expect(told(later)).toEqual(['success'])
  expect(later.states.get(trialTurns.name)).toEqual({ ended: now })
  // Whoever had it last does not stand in the line of others.
  const busy = await play({ turn: { ended: now - 1000 }, taken: ['trial slot'] })
  expect(busy.leases.filter((one) => one.includes('line'))).toEqual(['acquired trial line slot'])
})

test('a newer commit, a closed pull request or a lost lease stops what runs, and its end is no yes', async () => {
  const stopped = (change: (states: Map<string, unknown>) => void, more: Scene = {}) =>
    play({
      ...more,
      answer: async (_, news, { states }) => {
        change(states)
        const said = await news({ kind: 'news', says: 'x' })
        return {
          kind: 'tried',
          report: report(said === 'stop' ? failed('killed', 'it was told to stop') : { verdict: 'installs' }),
        }
      },
    })
  const newer = await stopped((states) => states.set(trialWishes.name, { ...wish, key: 'two' }))
  expect(told(newer).at(-1)).toBe('neutral')
  expect(newer.enqueued).toEqual([0])
  const closed = await stopped((states) => states.set(trialWishes.name, { ...wish, isOver: true }))
  expect(told(closed).at(-1)).toBe('neutral')
  expect(closed.enqueued).toEqual([])
  expect(told(await stopped(() => undefined, { losesLease: true })).at(-1)).toBe('neutral')
})

test('names are kept before anything has them, and whoever comes after a death takes them away', async () => {
  const died = await play({
    answer: async (_, news) => {
      await news({ kind: 'news', id: 'abcdefgh', says: 'the trial begins' })
      return { kind: 'failed', why: 'the process ended' }
    },
  })
  expect(madeOf(died)).toMatchObject({ key: '', running: ['abcdefgh'], attempts: 1 })
  expect(died.enqueued).toEqual([60])
  const next = await play({ made: madeOf(died) })
  expect(next.orders[1]).toMatchObject({ abandoned: ['abcdefgh'] })
  expect(madeOf(next)).toMatchObject({ key: 'one', running: [] })
  const again = await play({
    made: { ...madeOf(died), attempts: 3 },
    answer: () => Promise.resolve({ kind: 'failed', why: 'the process ended' }),
  })
  expect(told(again)).toEqual(['neutral'])
  expect(again.enqueued).toEqual([])
})

test('where the check is required, what could not be found out is no yes, and the pull request is looked at when it is over', async () => {
  const required = { ...wish, isRequired: true }
  const unclear = await play({
    wish: required,
    answer: () => Promise.resolve({ kind: 'tried', report: report(failed('quota', 'exceeded quota')) }),
  })
  expect(told(unclear)).toEqual(['action_required'])
  expect(unclear.enqueued).toEqual([0])
})

test('where the operator gives no cluster nothing is tried, and the check is neither green nor red', async () => {
  const refused = await play({ prepare: { kind: 'refused', why: 'the operator gives no cluster' } })
  expect(told(refused)).toEqual(['neutral'])
  expect(refused.leases).toEqual([])
  expect((await play({ wish: { ...wish, isOver: true } })).checks).toEqual([])
})

test('a preview that is being made is waited for before the cluster is taken, but not for ever', async () => {
  const onV1 = {
    ...wish,
    trials: [{ root: 'catalogs/v4.20', trial: { ...trial, target: 'OLM v1' as const } }],
  }
  const coming = new Map([['catalogs/v4.20', 'coming' as const]])
  const waits = await play({ wish: onV1, images: coming })
  expect([told(waits), waits.enqueued, waits.leases, waits.orders.length]).toEqual([['queued'], [20], [], 1])
  expect(madeOf(waits)).toMatchObject({ waited: { key: 'one', times: 1 } })
  const patient = { ...madeOf(waits), waited: { key: 'one', times: 30 } }
  const over = await play({ wish: onV1, images: coming, made: patient })
  expect(over.orders[1]).toMatchObject({ images: { why: expect.stringContaining('not there in time') } })
  // Another commit waits for its own.
  const other = await play({ wish: { ...onV1, key: 'two' }, images: coming, made: patient })
  expect(madeOf(other)).toMatchObject({ waited: { key: 'two', times: 1 } })
  const head = 'registry.example/catalog@sha256:1'
  const there = await play({ wish: onV1, images: new Map([['catalogs/v4.20', { head }]]) })
  expect(there.orders[1]).toMatchObject({ images: { head } })
  expect(there.served).toEqual([])
})
