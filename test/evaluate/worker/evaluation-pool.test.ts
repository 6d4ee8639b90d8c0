// What one untrusted pull request can cost others: no part of it is processed in this process, and an evaluation that
// does not end is killed, reported as too large, and does not delay the next one.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { PullSnapshot } from '../../../src/pull-request/snapshot.ts'
import {
  defaultEvaluationLimits as productionLimits,
  type EvaluationLimits,
} from '../../../src/catalogs/reader-pool.ts'
import type { EvaluationResponse, WorkerCallbackRequest } from '../../../src/evaluate/pull-evaluation.ts'
import { createEvaluationPool, type EvaluationPool } from '../../../src/evaluate/worker/evaluation-pool.ts'
import { listChildProcesses } from '../../processes.ts'
import { createEvaluationFixture, type EvaluationFixture } from './evaluation-fixture.ts'

// No evaluation of these tests exceeds this time, however busy the machine is.
const defaultEvaluationLimits: EvaluationLimits = { ...productionLimits, time: 600_000 }
const yamlWithManyKeys = Array.from({ length: 4_000 }, (_, at) => `key${at}: [a]\n`).join('')

describe('an untrusted pull request', () => {
  let fixture: EvaluationFixture
  let facts: string
  const pools: EvaluationPool[] = []
  const openPool = (processes: number, budget: Partial<EvaluationLimits> = {}): EvaluationPool => {
    const pool = createEvaluationPool({ ...defaultEvaluationLimits, ...budget }, processes)
    pools.push(pool)
    return pool
  }
  /** Its process ends after an evaluation that was too large, and is used again otherwise. */
  const sharedPool = openPool(2)
  const createRequest = (snapshot: PullSnapshot, budget: Partial<EvaluationLimits> = {}) => ({
    snapshot,
    mirror: fixture.mirror,
    facts,
    demandsSignatures: true,
    budget: { ...defaultEvaluationLimits, ...budget },
  })
  beforeAll(async () => {
    fixture = await createEvaluationFixture()
    facts = await mkdtemp(join(tmpdir(), 'facts-'))
  }, 240_000)
  afterAll(async () => {
    await Promise.all(pools.map((pool) => pool.close()))
    await fixture.close()
    await rm(facts, { recursive: true, force: true })
  })

  const requests: WorkerCallbackRequest[] = []
  const answer = async (request: WorkerCallbackRequest): Promise<unknown> => {
    requests.push(request)
    if (request.kind === 'memory')
      return request.name === 'observe'
        ? 0
        : ['commands', 'shownHeads', 'listPushers'].includes(request.name)
          ? []
          : new Map()
    if (request.kind === 'open-pulls') return []
    return request.question.kind === 'user' ? { kind: 'nobody' } : { kind: 'no' }
  }
  async function evaluate(
    changes: Readonly<Record<string, string>> | PullSnapshot,
    budget: Partial<EvaluationLimits> = {},
  ): Promise<{ answer: EvaluationResponse; stalled: number }> {
    // A process gets these limits when it starts.
    const isSpecial = budget.time !== undefined || budget.paths !== undefined
    const pool = isSpecial ? openPool(2, budget) : sharedPool
    const snapshot = 'head' in changes ? (changes as PullSnapshot) : await fixture.snapshotOf(changes)
    // CPU time of this thread, because other processes can also stall it on a busy machine.
    const used = () => {
      const { user, system } = process.threadCpuUsage()
      return (user + system) / 1000
    }
    let [stalled, last] = [0, used()]
    const clock = setInterval(() => {
      stalled = Math.max(stalled, used() - last)
      last = used()
    }, 5)
    try {
      return { answer: await pool.evaluate(createRequest(snapshot, budget), answer), stalled }
    } finally {
      clearInterval(clock)
    }
  }

  test('with owner files of many keys is evaluated without blocking this process', async () => {
    const response = await evaluate({
      'catalogs/v4.20/foo/OWNERS': yamlWithManyKeys,
      'operators/foo/ci.yaml': yamlWithManyKeys,
    })
    expect(response.answer.kind).toBe('seen')
    expect(response.stalled).toBeLessThan(500)
  }, 240_000)

  test('that exceeds its time limit is too large, and the reason has the limit', async () => {
    expect((await evaluate({ 'operators/foo/ci.yaml': yamlWithManyKeys }, { time: 50 })).answer).toEqual({
      kind: 'too-large',
      why: 'checking the change takes more than 0 seconds',
    })
  }, 240_000)

  test('that names more users than the lookup limit is too large, and looks up none of them', async () => {
    const reviewers = Array.from({ length: 1500 }, (_, at) => `  - somebody-${at}\n`).join('')
    requests.length = 0
    const response = await evaluate({ 'operators/newcomer/ci.yaml': `---\nreviewers:\n${reviewers}` })
    expect(response.answer).toMatchObject({ kind: 'too-large', why: expect.stringMatching(/at most 500/) })
    expect(requests.filter(({ kind }) => kind === 'ask')).toEqual([])
  }, 240_000)

  test('with an unsigned commit for a branch that requires signatures has a finding', async () => {
    const { answer } = await evaluate({ 'README.md': 'unsigned\n' })
    expect(JSON.stringify(answer)).toContain('"rule":"unsigned-commit"')
  }, 240_000)

  test('that changes more paths than the limit is too large, and the reason has both numbers', async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`docs/${at}.md`, `${at}\n`]))
    expect((await evaluate(files, { changedPaths: 20 })).answer).toEqual({
      kind: 'too-large',
      why: 'the change has 30 changed paths; catalog-bot checks at most 20',
    })
  }, 240_000)

  test('with changed files above the memory limit is too large, and the reason has the limit', async () => {
    const megabyte = `${'# a line of a large file\n'.repeat(40_000)}schema: olm.package\nname: foo\n`
    const files = { 'catalogs/v4.20/foo/a.yaml': megabyte, 'catalogs/v4.20/foo/b.yaml': `#\n${megabyte}` }
    expect((await evaluate(files, { changedBytes: 1024 * 1024 })).answer).toEqual({
      kind: 'too-large',
      why: 'the changed files total more than 1 MB',
    })
    expect((await evaluate(files, { changedBytes: 2 * 1024 * 1024 })).answer.kind).toBe('seen')
  }, 240_000)

  test('with few tree objects that expand to a billion paths is too large', async () => {
    const response = await evaluate(await fixture.createTreeBomb(), { paths: 20_000 })
    expect(response.answer).toMatchObject({
      kind: 'too-large',
      why: expect.stringMatching(/more than 20,000 paths/),
    })
  }, 240_000)

  test('is evaluated while large ones occupy their slots, if its size is small or unknown', async () => {
    const pool = openPool(1)
    const [small, large] = [
      await fixture.snapshotOf({ 'README.md': 'small\n' }),
      await fixture.snapshotOf({ 'README.md': 'large\n' }),
    ]
    const hangs = Promise.withResolvers<void>()
    const started = Promise.withResolvers<void>()
    const huge = { files: 3000, lines: 90_000, comments: 0 }
    let startCount = 0
    // Evaluations that wait for an answer occupy all slots for large pull requests.
    const waiting = Array.from({ length: 2 }, () =>
      pool.evaluate(
        createRequest(large),
        async (request) => {
          if (request.kind === 'memory' && request.name === 'observe') startCount += 1
          started.resolve()
          await hangs.promise
          return answer(request)
        },
        { size: huge },
      ),
    )
    await started.promise
    const tiny = { files: 1, lines: 2, comments: 0 }
    expect((await pool.evaluate(createRequest(small), answer, { size: tiny })).kind).toBe('seen')
    expect((await pool.evaluate(createRequest(small), answer)).kind).toBe('seen')
    // None of them was interrupted and restarted for that.
    expect(startCount).toBeLessThanOrEqual(2)
    hangs.resolve()
    for (const one of waiting) expect((await one).kind).toBe('seen')
  }, 240_000)

  test('is evaluated by the same process as before, but not by one that reported too-large', async () => {
    const pool = openPool(1)
    const snapshot = await fixture.snapshotOf({ 'README.md': 'once more\n' })
    const lookers = () => listChildProcesses('evaluation-process')
    const before = new Set(lookers())
    const ours = () => lookers().filter((pid) => !before.has(pid))
    await pool.evaluate(createRequest(snapshot), answer)
    const [first] = ours()
    await pool.evaluate(createRequest(snapshot), answer)
    expect(ours()).toEqual([first])
    const rejected = await pool.evaluate(createRequest(snapshot, { changedPaths: 0 }), answer)
    expect(rejected.kind).toBe('too-large')
    await pool.evaluate(createRequest(snapshot), answer)
    expect(ours()).not.toContain(first)
  }, 240_000)

  test('fails with the error of the store, and not as too large, if the store does not answer', async () => {
    const snapshot = await fixture.snapshotOf({ 'README.md': 'hello\n' })
    const failure = new Error('the store does not answer')
    await expect(sharedPool.evaluate(createRequest(snapshot), () => Promise.reject(failure))).rejects.toBe(
      failure,
    )
  }, 240_000)
})
