// A pull request that is too large to check is evaluated once, and again when it changes. The evaluations are simulated.
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { toBlobSha, toCommitSha, toPullNumber, toTreeSha } from '../../src/pull-request/ids.ts'
import type { PullSnapshot } from '../../src/pull-request/snapshot.ts'
import { evaluateInWorker } from '../../src/evaluate/evaluate-in-worker.ts'
import { readSettings } from '../../src/jobs/settings.ts'
import type { BranchRules } from '../../src/policy/branch-rules.ts'
import { defaultEvaluationLimits, type EvaluationLimits } from '../../src/catalogs/reader-pool.ts'
import type { EvaluationRequest, EvaluationResponse } from '../../src/evaluate/pull-evaluation.ts'
import { openPreparedStore } from '../adapters/store/prepared-store.ts'
import { createVerdictInput, createTestPullSnapshot, createHexSha } from '../policy/verdict-inputs.ts'
import { realTimeClock } from '../adapters/store/sample-records.ts'

const store = await openPreparedStore({ clock: realTimeClock })
afterAll(() => store.close())

const cachedEvaluation: EvaluationResponse = {
  kind: 'seen',
  configDigest: 'default',
  epoch: 0,
  commands: [],
  runCommands: [],
  report: { changeLines: [], commandLines: [] },
  verdictInput: createVerdictInput(),
}

let configYaml: string | undefined
let evaluationLimits: EvaluationLimits
let nextEvaluationResponse: EvaluationResponse
let evaluationCount: number
let lastPullNumber = 0
let pullSnapshot: PullSnapshot
let branchRules: Partial<BranchRules>
let requestedSignatureChecks: unknown[]
beforeEach(() => {
  configYaml = undefined
  evaluationLimits = defaultEvaluationLimits
  nextEvaluationResponse = { kind: 'too-large', why: 'it has 7 paths; at most 6 are checked' }
  evaluationCount = 0
  branchRules = {}
  requestedSignatureChecks = []
  pullSnapshot = createTestPullSnapshot({ pull: toPullNumber(++lastPullNumber) })
})

async function evaluateAndFormatVerdict(differences: Partial<PullSnapshot> = {}): Promise<string> {
  const ctx = {
    app: {
      store,
      clock: realTimeClock,
      settings: { ...readSettings({}), budget: evaluationLimits },
      registries: { forEvaluation: () => undefined },
      evaluationPool: {
        evaluate: async ({ demandsSignatures }: EvaluationRequest) => {
          evaluationCount += 1
          requestedSignatureChecks.push(demandsSignatures)
          return nextEvaluationResponse
        },
      },
    },
    repository: {
      treeOf: async () => toTreeSha(createHexSha('d')),
      entry: async () => configYaml && { mode: '100644', oid: toBlobSha(configYaml) },
    },
    forge: {
      repository: pullSnapshot.repository,
      permissions: async () => undefined,
      branchRules: async () => branchRules,
    },
    mirror: '/nowhere',
  } as unknown as Parameters<typeof evaluateInWorker>[1]
  const { verdict } = await evaluateInWorker({ ...pullSnapshot, ...differences }, ctx)
  return `${verdict.kind}: ${verdict.reasons.map(({ text }) => text).join(', ')}`
}

const tooLargePullMessage =
  'blocked: this pull request is too large to check: it has 7 paths; at most 6 are checked'

test('a pull request that is too large is evaluated once, and its verdict with the number is cached', async () => {
  expect(await evaluateAndFormatVerdict()).toBe(tooLargePullMessage)
  expect(await evaluateAndFormatVerdict()).toBe(tooLargePullMessage)
  // Neither a comment nor a base branch that moved makes it smaller.
  expect(await evaluateAndFormatVerdict({ title: 'Please', base: toCommitSha(createHexSha('9')) })).toBe(
    tooLargePullMessage,
  )
  expect(evaluationCount).toBe(1)
})

test.each([
  ['its head', () => evaluateAndFormatVerdict({ head: toCommitSha(createHexSha('8')) })],
  ['its base branch', () => evaluateAndFormatVerdict({ baseRef: 'release' })],
  ['the configuration', () => ((configYaml = createHexSha('7')), evaluateAndFormatVerdict())],
  [
    'the budget',
    () => ((evaluationLimits = { ...defaultEvaluationLimits, time: 120_000 }), evaluateAndFormatVerdict()),
  ],
])('it is evaluated again if %s changes', async (_, another) => {
  await evaluateAndFormatVerdict()
  nextEvaluationResponse = cachedEvaluation
  expect(await another()).toMatch(/^merge/)
  expect(evaluationCount).toBe(2)
})

test('another pull request with the same head is evaluated separately', async () => {
  await evaluateAndFormatVerdict()
  nextEvaluationResponse = cachedEvaluation
  expect(await evaluateAndFormatVerdict({ pull: toPullNumber(++lastPullNumber) })).toMatch(/^merge/)
})

test('a pull request with more comments than the limit is not evaluated', async () => {
  const text = 'it has more than 5,000 comments'
  expect(await evaluateAndFormatVerdict({ excess: text })).toBe(
    `blocked: this pull request is too large to check: ${text}`,
  )
  expect(evaluationCount).toBe(0)
})

test.each<[string, Partial<BranchRules>, boolean]>([
  ['nothing', { signatures: false }, false],
  ['signatures', { signatures: true }, true],
  ['signatures and a queue', { signatures: true, queue: { method: 'merge', largestGroup: 5 } }, true],
  [
    'signatures and a queue that squashes',
    { signatures: true, queue: { method: 'squash', largestGroup: 5 } },
    false,
  ],
])(
  'if the branch requires %s, the evaluation knows whether commits must be signed',
  async (name, rules, expected) => {
    branchRules = rules
    await evaluateAndFormatVerdict({ baseRef: name })
    expect(requestedSignatureChecks).toEqual([expected])
  },
)
