import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import pino from 'pino'
import { ReadyEvaluations, type PullEvaluation } from '../../src/evaluate/pull-evaluation.ts'
import { decideVerdict, type VerdictInput } from '../../src/policy/decide.ts'
import { runMergeBatch } from '../../src/merge/run-merge-batch.ts'
import { systemClock } from '../../src/adapters/system-clock.ts'
import type { CheckRunLookupResult } from '../../src/checks/lookups.ts'
import type { Job } from '../../src/ports/jobs.ts'
import type { JobContext } from '../../src/jobs/job-context.ts'
import type { PullSnapshot } from '../../src/pull-request/snapshot.ts'
import type { Store } from '../../src/ports/store.ts'
import { createMetrics } from '../../src/jobs/metrics.ts'
import { defaultConfig } from '../../src/config/config.ts'
import { readSettings } from '../../src/jobs/settings.ts'
import { toPullNumber } from '../../src/pull-request/ids.ts'
import { createMergeFreeze, createVerdictInput } from '../policy/verdict-inputs.ts'
import { MergeFixture, type MergeScenario } from './merge-fixture.ts'

let scenario: MergeScenario
let snapshot: PullSnapshot
let context: JobContext<Store>
let ready: readonly PullSnapshot[]
let enqueuedJobs: Job['kind'][]
let evaluationCount: number
let requiredCheck: CheckRunLookupResult
let isFrozen: boolean
let isDropFailing: boolean

const fixture = await MergeFixture.open()
afterAll(async () => fixture.stop())
afterEach(async () => scenario.close())
beforeEach(async () => {
  scenario = await fixture.openScenario({ behind: false })
  const read = await scenario.options.forge.readSnapshot(toPullNumber(scenario.pull.number))
  if (read === null) throw new Error('no pull request')
  snapshot = read
  await scenario.mirror.fetch('main', snapshot.pull)
  ready = [snapshot]
  enqueuedJobs = []
  evaluationCount = 0
  requiredCheck = { kind: 'green' }
  isFrozen = false
  isDropFailing = false
  context = createJobContext()
})

function createJobContext(): JobContext<Store> {
  const { mirror, options } = scenario
  const clock = { ...systemClock, now: () => scenario.clock.now() }
  return {
    installation: fixture.githubFixture.installation.id,
    repository: mirror,
    forge: options.forge,
    merging: options.merging,
    mirror: '',
    app: {
      settings: readSettings({}),
      store: {
        ...scenario.store,
        readyPulls: async () => ready.map((each) => ({ pull: each.pull, snapshot: each, readyAt: 0 })),
        dropReady: async () => {
          if (isDropFailing) throw new Error('the process ended')
          ready = []
        },
        enqueue: async ({ kind }: Job) => void enqueuedJobs.push(kind),
        listFreezes: async () => (isFrozen ? [createMergeFreeze({ repository: snapshot.repository })] : []),
        observe: async () => 0,
        recordVerdict: async () => undefined,
        recordEvaluation: async () => undefined,
        unparkPull: async () => undefined,
        unfreezeMerges: async () => undefined,
      },
      registries: { forEvaluation: () => async () => requiredCheck },
      evaluationPool: {
        evaluate: async ({ snapshot: evaluated }: { snapshot: PullSnapshot }) => {
          evaluationCount += 1
          const { snapshot: _, verdict: __, ...evaluation } = await evaluate(evaluated)
          return { kind: 'seen', ...evaluation }
        },
      },
      readyEvaluations: new ReadyEvaluations(clock),
      metrics: createMetrics(),
      clock,
      log: pino({ level: 'silent' }),
    } as unknown as JobContext<Store>['app'],
  }
}

async function evaluate(evaluated: PullSnapshot, input: Partial<VerdictInput> = {}): Promise<PullEvaluation> {
  const merge = await scenario.mirror.merge(evaluated.base, evaluated.head, 'Merge\n')
  const verdictInput = createVerdictInput({ snapshot: evaluated, merge, ...input })
  return {
    snapshot: evaluated,
    startedAt: scenario.clock.now(),
    configDigest: 'default',
    epoch: 0,
    commands: [],
    runCommands: [],
    report: { changeLines: [], commandLines: [] },
    verdict: decideVerdict(verdictInput),
    verdictInput,
    hasPreviews: false,
    onCluster: 'off',
    requiresCluster: false,
  }
}

const addReadyEvaluation = async (input?: Partial<VerdictInput>) =>
  context.app.readyEvaluations.add(await evaluate(snapshot, input))
const runBatch = () =>
  runMergeBatch(
    { kind: 'train', installation: context.installation, repository: snapshot.repository, branch: 'main' },
    context,
  )
const isMerged = () => scenario.pull.merged !== null

test('the evaluation that made a pull request ready is enough to merge it', async () => {
  await addReadyEvaluation()
  await runBatch()
  expect([isMerged(), evaluationCount]).toEqual([true, 0])
})

test('a merge is reported even if the process ends before the pull request leaves the ready ones', async () => {
  await addReadyEvaluation()
  isDropFailing = true
  await expect(runBatch()).rejects.toThrow('the process ended')
  expect([isMerged(), enqueuedJobs]).toEqual([true, ['branch', 'pull']])
})

test.each<[string, () => unknown]>([
  ['the branch moved', () => scenario.github.pushToBase(scenario.full, { 'other.txt': 'x\n' })],
  ['a label was added after the evaluation', () => (ready = [{ ...snapshot, labels: ['new'] }])],
  ['it is older than five seconds', () => scenario.clock.sleep(5001)],
  ['it was used before', () => context.app.readyEvaluations.take(snapshot)],
])('a merge batch evaluates a pull request again if %s', async (_, change) => {
  await addReadyEvaluation()
  await change()
  await runBatch()
  expect(evaluationCount).toBe(1)
})

test.each<[string, () => void]>([
  ['a required check failed', () => (requiredCheck = { kind: 'red', conclusion: 'failure' })],
  ['a merge freeze began', () => (isFrozen = true)],
])('nothing merges if %s after the evaluation', async (_, change) => {
  const config = { ...defaultConfig, merge: { ...defaultConfig.merge, requires: [{ app: 1, name: 'ci' }] } }
  const question = { kind: 'check-run', commit: snapshot.head, app: 1, name: 'ci' } as const
  await addReadyEvaluation({ config, required: [{ question, answer: { kind: 'green' } }] })
  change()
  await runBatch()
  expect([isMerged(), evaluationCount, enqueuedJobs]).toEqual([false, 0, ['pull']])
})
