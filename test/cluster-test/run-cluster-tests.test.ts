// The job that tests a pull request on a cluster: one test at a time per cluster, stopped for a newer commit, and
// resumed after a crash.
import { expect, test } from '@jest/globals'
import { runClusterTests, type ClusterTestImagesByCatalog } from '../../src/cluster-test/run-cluster-tests.ts'
import {
  clusterTestRunStateNamespace,
  lastClusterTestRunStateNamespace,
  clusterTestRequestStateNamespace,
  type ClusterTestRunState,
  type ClusterTestRequest,
} from '../../src/cluster-test/request-cluster-test.ts'
import type { ClusterTestClient } from '../../src/cluster-test/process/cluster-test-client.ts'
import type {
  ClusterTestWorkerResponse,
  ClusterTestProgress,
  ClusterTestWorkerRequest,
} from '../../src/cluster-test/process/cluster-test-protocol.ts'
import { toCommitSha, toPullNumber, toTreeSha } from '../../src/pull-request/ids.ts'
import { createFailedClusterTestOutcome } from '../../src/checks/install/cluster-test/cluster-test-state.ts'
import type { ClusterTestReport } from '../../src/checks/install/cluster-test/cluster-test-report.ts'

const repository = { owner: 'coast', name: 'catalog' }
const clusterTestJob = { kind: 'trial', installation: 7, repository, pull: toPullNumber(5) } as const
const plannedClusterTest = {
  target: 'OLM v0' as const,
  package: 'foo',
  channel: 'stable',
  mode: 'AllNamespaces' as const,
  steps: [{ root: 'foo.v1', version: '1', names: ['foo.v1'] }],
  crds: [],
  isUpgrade: true,
}
const clusterTestRequest: ClusterTestRequest = {
  head: toCommitSha('1'.repeat(40)),
  tree: toTreeSha('2'.repeat(40)),
  baseTree: toTreeSha('3'.repeat(40)),
  trials: [{ root: 'catalogs/v4.20', trial: plannedClusterTest }],
  key: 'one',
  isRequired: false,
  isOver: false,
}
const createClusterTestReport = (outcome: ClusterTestReport['outcome']): ClusterTestReport => ({
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
const preparedWorkerResponse: ClusterTestWorkerResponse = {
  kind: 'prepared',
  slot: 'slot',
  servesCatalogs: true,
  ports: [4001, 4002],
}

interface ClusterTestRunScenario {
  request?: ClusterTestRequest
  made?: ClusterTestRunState | undefined
  /** Leases that others hold. */
  takenLeases?: readonly string[]
  slot?: { ended: number }
  losesLease?: boolean
  answer?: (
    order: Extract<ClusterTestWorkerRequest, { kind: 'try' }>,
    news: (one: ClusterTestProgress) => Promise<string>,
    scene: ClusterTestRunRecord,
  ) => Promise<ClusterTestWorkerResponse>
  prepare?: ClusterTestWorkerResponse
  images?: ClusterTestImagesByCatalog
}

interface ClusterTestRunRecord {
  states: Map<string, unknown>
  readonly checks: { status: string; conclusion?: string; title: string }[]
  readonly enqueued: number[]
  readonly orders: ClusterTestWorkerRequest[]
  readonly served: { tree: string; port: number }[]
  readonly leases: string[]
}

async function runScenario(scene: ClusterTestRunScenario): Promise<ClusterTestRunRecord> {
  const played: ClusterTestRunRecord = {
    states: new Map<string, unknown>([
      [clusterTestRequestStateNamespace.name, scene.request ?? clusterTestRequest],
      [clusterTestRunStateNamespace.name, scene.made],
      [lastClusterTestRunStateNamespace.name, scene.slot],
    ]),
    checks: [],
    enqueued: [],
    orders: [],
    served: [],
    leases: [],
  }
  const fakeClusterTests: ClusterTestClient = {
    async order(order, onNews) {
      played.orders.push(order)
      if (order.kind === 'prepare') return scene.prepare ?? preparedWorkerResponse
      const answer =
        scene.answer ??
        (() =>
          Promise.resolve<ClusterTestWorkerResponse>({
            kind: 'tried',
            report: createClusterTestReport({ verdict: 'installs' }),
          }))
      return answer(order, async (news) => (await onNews?.(news)) ?? 'go', played)
    },
    withServedCatalog: async ({ tree, port }, use) => {
      played.served.push({ tree, port })
      return use(port)
    },
    close: () => Promise.resolve(),
  }
  const ctx = {
    installation: 7,

    mirror: '/mirror',
    forge: {
      repository,
      perform: ({ run }: { run: ClusterTestRunRecord['checks'][number] }) =>
        Promise.resolve(void played.checks.push(run)),
    },
    app: {
      clusterTests: fakeClusterTests,
      clock: { now: () => 1_000_000_000 },
      log: { warn: () => undefined },
      store: {
        readState: ({ name }: { name: string }) => Promise.resolve(played.states.get(name)),
        writeState: ({ name }: { name: string }, _: unknown, values: Map<string, unknown>) =>
          Promise.resolve(void played.states.set(name, values.get('5') ?? values.get('last'))),
        enqueue: (_: unknown, seconds = 0) => Promise.resolve(void played.enqueued.push(seconds)),
        acquireLease: (name: string) => {
          played.leases.push(`acquired ${name}`)
          return Promise.resolve(scene.takenLeases?.includes(name) ? undefined : { name, fence: 1 })
        },
        renewLease: () => Promise.resolve(scene.losesLease !== true),
        releaseLease: () => Promise.resolve(void played.leases.push('released')),
      },
    },
  }
  await runClusterTests(clusterTestJob, ctx as unknown as Parameters<typeof runClusterTests>[1], () =>
    Promise.resolve(scene.images ?? new Map()),
  )
  return played
}
const getClusterTestRunState = ({ states }: ClusterTestRunRecord) =>
  states.get(clusterTestRunStateNamespace.name) as ClusterTestRunState
const listCheckConclusions = ({ checks }: ClusterTestRunRecord) =>
  checks.map(({ status, conclusion }) => conclusion ?? status)

test('serves both catalogs from the validated trees, and the check reports the result', async () => {
  const played = await runScenario({
    answer: async (_, news) => {
      await news({ kind: 'news', id: 'abcdefgh', says: 'the install test is starting' })
      return { kind: 'tried', report: createClusterTestReport({ verdict: 'installs' }) }
    },
  })
  expect(played.served).toEqual([
    { tree: clusterTestRequest.tree, port: 4001 },
    { tree: clusterTestRequest.baseTree, port: 4002 },
  ])
  expect(played.orders[1]).toMatchObject({
    kind: 'try',
    github: repository,
    installation: 7,
    catalogs: { head: 4001, base: 4002 },
    abandoned: [],
  })
  expect(listCheckConclusions(played)).toEqual(['in_progress', 'success'])
  expect(getClusterTestRunState(played)).toMatchObject({ key: 'one', running: [] })
  expect(played.leases).toEqual(['acquired trial slot', 'released'])
  expect((await runScenario({ made: getClusterTestRunState(played) })).orders).toEqual([])
})

test('waits for a cluster that is in use', async () => {
  const first = await runScenario({ takenLeases: ['trial slot'] })
  expect(listCheckConclusions(first)).toEqual(['queued'])
  expect(first.enqueued).toEqual([15])
  expect(first.orders).toHaveLength(1)
  expect(first.leases.filter((one) => one.startsWith('acquired'))).toEqual([
    'acquired trial slot',
    'acquired trial line slot',
  ])
})

test('a repository that just used the cluster yields to the repositories that wait for it', async () => {
  const now = 1_000_000_000
  const yields = await runScenario({ slot: { ended: now - 44_000 }, takenLeases: ['trial line slot'] })
  expect([listCheckConclusions(yields), yields.enqueued, yields.orders.length]).toEqual([['queued'], [15], 1])
  expect(yields.leases).not.toContain('acquired trial slot')
  // No other repository waits.
  expect(listCheckConclusions(await runScenario({ slot: { ended: now - 1000 } }))).toEqual(['success'])
  // Every other repository has had a chance since then.
  const later = await runScenario({ slot: { ended: now - 46_000 }, takenLeases: ['trial line slot'] })
  expect(listCheckConclusions(later)).toEqual(['success'])
  expect(later.states.get(lastClusterTestRunStateNamespace.name)).toEqual({ ended: now })
  // The repository that had the cluster last does not take a place in the queue of the others.
  const busy = await runScenario({ slot: { ended: now - 1000 }, takenLeases: ['trial slot'] })
  expect(busy.leases.filter((one) => one.includes('line'))).toEqual(['acquired trial line slot'])
})

test('a newer commit, closed pull request, or lost lease stops the test with a neutral result', async () => {
  const stopped = (change: (states: Map<string, unknown>) => void, more: ClusterTestRunScenario = {}) =>
    runScenario({
      ...more,
      answer: async (_, news, { states }) => {
        change(states)
        const reply = await news({ kind: 'news', says: 'x' })
        return {
          kind: 'tried',
          report: createClusterTestReport(
            reply === 'stop'
              ? createFailedClusterTestOutcome('killed', 'it was told to stop')
              : { verdict: 'installs' },
          ),
        }
      },
    })
  const newer = await stopped((states) =>
    states.set(clusterTestRequestStateNamespace.name, { ...clusterTestRequest, key: 'two' }),
  )
  expect(listCheckConclusions(newer).at(-1)).toBe('neutral')
  expect(newer.enqueued).toEqual([0])
  const closed = await stopped((states) =>
    states.set(clusterTestRequestStateNamespace.name, { ...clusterTestRequest, isOver: true }),
  )
  expect(listCheckConclusions(closed).at(-1)).toBe('neutral')
  expect(closed.enqueued).toEqual([])
  expect(listCheckConclusions(await stopped(() => undefined, { losesLease: true })).at(-1)).toBe('neutral')
})

test('records running tests, cleans up after a crash, and gives up after repeated crashes', async () => {
  const died = await runScenario({
    answer: async (_, news) => {
      await news({ kind: 'news', id: 'abcdefgh', says: 'the install test is starting' })
      return { kind: 'failed', why: 'the process ended' }
    },
  })
  expect(getClusterTestRunState(died)).toMatchObject({ key: '', running: ['abcdefgh'], attempts: 1 })
  expect(died.enqueued).toEqual([60])
  const next = await runScenario({ made: getClusterTestRunState(died) })
  expect(next.orders[1]).toMatchObject({ abandoned: ['abcdefgh'] })
  expect(getClusterTestRunState(next)).toMatchObject({ key: 'one', running: [] })
  const again = await runScenario({
    made: { ...getClusterTestRunState(died), attempts: 3 },
    answer: () => Promise.resolve({ kind: 'failed', why: 'the process ended' }),
  })
  expect(listCheckConclusions(again)).toEqual(['neutral'])
  expect(again.enqueued).toEqual([])
})

test('an inconclusive result does not pass a required check, and enqueues the pull request', async () => {
  const required = { ...clusterTestRequest, isRequired: true }
  const unclear = await runScenario({
    request: required,
    answer: () =>
      Promise.resolve({
        kind: 'tried',
        report: createClusterTestReport(createFailedClusterTestOutcome('quota', 'exceeded quota')),
      }),
  })
  expect(listCheckConclusions(unclear)).toEqual(['action_required'])
  expect(unclear.enqueued).toEqual([0])
})

test('without a cluster from the operator, no test runs and the check is neutral', async () => {
  const rejected = await runScenario({ prepare: { kind: 'refused', why: 'the operator gives no cluster' } })
  expect(listCheckConclusions(rejected)).toEqual(['neutral'])
  expect(rejected.leases).toEqual([])
  expect((await runScenario({ request: { ...clusterTestRequest, isOver: true } })).checks).toEqual([])
})

test('waits for a preview in progress before it takes the cluster, up to a limit', async () => {
  const onV1 = {
    ...clusterTestRequest,
    trials: [{ root: 'catalogs/v4.20', trial: { ...plannedClusterTest, target: 'OLM v1' as const } }],
  }
  const coming = new Map([['catalogs/v4.20', 'coming' as const]])
  const waits = await runScenario({ request: onV1, images: coming })
  expect([listCheckConclusions(waits), waits.enqueued, waits.leases, waits.orders.length]).toEqual([
    ['queued'],
    [20],
    [],
    1,
  ])
  expect(getClusterTestRunState(waits)).toMatchObject({ waited: { key: 'one', times: 1 } })
  const patient = { ...getClusterTestRunState(waits), waited: { key: 'one', times: 30 } }
  const over = await runScenario({ request: onV1, images: coming, made: patient })
  expect(over.orders[1]).toMatchObject({ images: { why: expect.stringContaining('not ready in time') } })
  // Another commit starts its own count.
  const other = await runScenario({ request: { ...onV1, key: 'two' }, images: coming, made: patient })
  expect(getClusterTestRunState(other)).toMatchObject({ waited: { key: 'two', times: 1 } })
  const head = 'registry.example/catalog@sha256:1'
  const there = await runScenario({ request: onV1, images: new Map([['catalogs/v4.20', { head }]]) })
  expect(there.orders[1]).toMatchObject({ images: { head } })
  expect(there.served).toEqual([])
})
