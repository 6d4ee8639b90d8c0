// Runs real processes, sends real signals, and fills a real heap.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { WorkerProcess } from '../../../src/adapters/workers/start-worker.ts'
import { WorkerPool, type WorkerPoolOptions } from '../../../src/adapters/workers/worker-pool.ts'
import type { TestWorkerJob } from './test-worker.ts'

let temporaryDirectory: string
let workerPool: WorkerPool<TestWorkerJob, unknown>
beforeEach(() => {
  temporaryDirectory = mkdtempSync(join(tmpdir(), 'workers-'))
  createTestWorkerPool()
})
afterEach(async () => {
  await workerPool.close()
  rmSync(temporaryDirectory, { recursive: true })
})

const generousTimeoutMs = 60_000
const workerScript = new URL('./test-worker.ts', import.meta.url)
const defaultWorkerPoolOptions = {
  script: workerScript,
  heap: 64,
  processes: 1,
  maxWaiting: 100,
  maxIdleMs: generousTimeoutMs,
}

function createTestWorkerPool(options: Partial<WorkerPoolOptions<unknown, TestWorkerJob>> = {}): void {
  workerPool = new WorkerPool<TestWorkerJob, unknown>({ ...defaultWorkerPoolOptions, ...options })
}

const runJob = (job: TestWorkerJob, milliseconds = generousTimeoutMs) => workerPool.run(job, milliseconds)
const readWorkerPid = async () => Number(await runJob({ kind: 'pid' }))
const getJobLogFilePath = () => join(temporaryDirectory, 'job-log')
const createCrashingJob = (times: number, signal: NodeJS.Signals = 'SIGKILL'): TestWorkerJob => ({
  kind: 'die',
  signal,
  file: getJobLogFilePath(),
  times,
})
const createWorkerFaultMatcher = (code: string, messagePattern?: RegExp) => ({
  name: 'WorkerFault',
  code,
  message: messagePattern === undefined ? expect.any(String) : expect.stringMatching(messagePattern),
})

function isProcessAlive(process_: number): boolean {
  try {
    return process.kill(process_, 0)
  } catch {
    return false
  }
}

async function waitUntil(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('a job', () => {
  test('returns any value that can be cloned', async () => {
    const value = { bytes: new Uint8Array([1, 2]), map: new Map([['a', new Set([1n])]]), none: undefined }
    expect(await runJob({ kind: 'return', value })).toEqual(value)
    expect(await runJob({ kind: 'return', value: undefined })).toBeUndefined()
  })

  test('runs without any of our secrets', async () => {
    process.env['SECRET_OF_THE_TEST'] = 'x'
    try {
      expect(Object.keys((await runJob({ kind: 'environment' })) as object)).not.toContain(
        'SECRET_OF_THE_TEST',
      )
    } finally {
      delete process.env['SECRET_OF_THE_TEST']
    }
  })

  test('that cannot be sent does not affect other jobs', async () => {
    await expect(runJob({ kind: 'return', value: () => 'a function' })).rejects.toThrow(/could not be cloned/)
    expect(await runJob({ kind: 'return', value: 1 })).toBe(1)
  })
})

describe('a fault of the job', () => {
  test('is a timeout, and the next job is run', async () => {
    await expect(runJob({ kind: 'spin' }, 1000)).rejects.toMatchObject(
      createWorkerFaultMatcher('too-slow', /longer than 1000 milliseconds/),
    )
    expect(await runJob({ kind: 'return', value: 'next' })).toBe('next')
  })

  test('is a full heap, and the bot continues with the next job', async () => {
    await expect(runJob({ kind: 'fill' })).rejects.toMatchObject(createWorkerFaultMatcher('too-much-memory'))
    expect(await runJob({ kind: 'return', value: 'next' })).toBe('next')
  })

  test.each<[string, TestWorkerJob, RegExp]>([
    ['a thrown error', { kind: 'throw', message: 'no such thing' }, /no such thing/],
    ['a result that cannot be cloned', { kind: 'unsendable' }, /could not be cloned/],
    ['an exit during the job', { kind: 'exit', code: 3 }, /code 3/],
    ['an exit with code 0 during the job', { kind: 'exit', code: 0 }, /code 0/],
  ])('is %s', async (_, job, message) => {
    await expect(runJob(job)).rejects.toMatchObject(createWorkerFaultMatcher('failed', message))
    expect(await runJob({ kind: 'return', value: 'next' })).toBe('next')
  })

  test('is a crash', async () => {
    await expect(runJob(createCrashingJob(Infinity, 'SIGSEGV'))).rejects.toMatchObject(
      createWorkerFaultMatcher('failed', /SIGSEGV/),
    )
  })

  test('is a missing program', async () => {
    createTestWorkerPool({ script: new URL('./nowhere.ts', import.meta.url) })
    await expect(runJob({ kind: 'pid' })).rejects.toMatchObject(createWorkerFaultMatcher('failed', /code 1/))
  })
})

describe('an external failure', () => {
  test.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'])(
    'is %s from outside',
    async (signal) => {
      const here = await readWorkerPid()
      const waiting = expect(runJob({ kind: 'wait', file: getJobLogFilePath() })).rejects.toMatchObject(
        createWorkerFaultMatcher('ended', new RegExp(signal)),
      )
      process.kill(here, signal)
      await waiting
      expect(await readWorkerPid()).not.toBe(here)
    },
  )

  test('is a process that the system does not start', async () => {
    const path = process.execPath
    process.execPath = join(temporaryDirectory, 'nowhere')
    try {
      await expect(runJob({ kind: 'pid' })).rejects.toMatchObject(createWorkerFaultMatcher('not-started'))
    } finally {
      process.execPath = path
    }
    expect(await runJob({ kind: 'return', value: 'next' })).toBe('next')
  })

  test('of an idle process does not affect the next job', async () => {
    const here = await readWorkerPid()
    process.kill(here, 'SIGKILL')
    await waitUntil(() => !isProcessAlive(here))
    expect(await readWorkerPid()).not.toBe(here)
  })
})

describe('a retry', () => {
  beforeEach(() => createTestWorkerPool({ maxAttempts: 2 }))

  test('completes a job after its process was killed from outside', async () => {
    expect(await runJob(createCrashingJob(1))).toBe('done')
  })

  test('happens only once', async () => {
    await expect(runJob(createCrashingJob(Infinity))).rejects.toMatchObject(createWorkerFaultMatcher('ended'))
    expect(readFileSync(getJobLogFilePath(), 'utf8')).toBe('xx')
  })

  test('does not happen if one attempt is allowed', async () => {
    createTestWorkerPool()
    await expect(runJob(createCrashingJob(1))).rejects.toMatchObject(createWorkerFaultMatcher('ended'))
    expect(readFileSync(getJobLogFilePath(), 'utf8')).toBe('x')
  })
})

describe('processes', () => {
  test('are never more than allowed, and are reused', async () => {
    createTestWorkerPool({ processes: 2 })
    const pids = await Promise.all(Array.from({ length: 12 }, readWorkerPid))
    expect(new Set(pids).size).toBe(2)
  })

  test('work at the same time', async () => {
    createTestWorkerPool({ processes: 2 })
    const first = runJob({ kind: 'wait', file: getJobLogFilePath() })
    const second = await readWorkerPid()
    writeFileSync(getJobLogFilePath(), 'x')
    expect(await first).not.toBe(second)
  })

  test('are not started while an existing one may soon be free', async () => {
    createTestWorkerPool({ processes: 4, growAfterMs: generousTimeoutMs })
    const pids = await Promise.all([readWorkerPid(), readWorkerPid(), readWorkerPid()])
    expect(new Set(pids).size).toBe(1)
    // A process that is ending doesn't count.
    const dies = runJob(createCrashingJob(9)).catch(() => undefined)
    const other = await readWorkerPid()
    await dies
    expect(other).not.toBe(pids[0])
  })

  test('are started if a job waits too long', async () => {
    createTestWorkerPool({ processes: 2, growAfterMs: 1 })
    const busy = runJob({ kind: 'spin' }).catch(() => undefined)
    expect(await readWorkerPid()).toBeGreaterThan(0)
    await workerPool.close()
    await busy
  })

  test.each([
    ['in order', 0, [1, 2, 3, 4]],
    ['after an urgent one', 4, [1, 4, 2, 3]],
  ])('run waiting jobs %s', async (_how, urgentValue, expected) => {
    const answered: unknown[] = []
    const orders = [1, 2, 3, 4].map((value) =>
      workerPool
        .run({ kind: 'return', value }, generousTimeoutMs, undefined, '', value === urgentValue)
        .then((answer) => answered.push(answer)),
    )
    await Promise.all(orders)
    expect(answered).toEqual(expected)
  })

  test('are replaced after their maximum number of jobs', async () => {
    createTestWorkerPool({ maxOrders: 2 })
    const [first, second, third] = [await readWorkerPid(), await readWorkerPid(), await readWorkerPid()]
    expect(second).toBe(first)
    expect(third).not.toBe(first)
    await waitUntil(() => !isProcessAlive(first))
  })

  test('end after their idle timeout', async () => {
    createTestWorkerPool({ maxIdleMs: 50 })
    const here = await readWorkerPid()
    await waitUntil(() => !isProcessAlive(here))
    expect(await readWorkerPid()).not.toBe(here)
  })

  test('do not keep a program alive that does not close them', async () => {
    const program = join(import.meta.dirname, 'unclosed-pool.ts')
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program])
    await waitUntil(() => !isProcessAlive(Number(stdout)))
  })
})

describe('processes for a single key', () => {
  const pidFor = async (key: string) =>
    Number(await workerPool.run({ kind: 'pid' }, generousTimeoutMs, undefined, key))

  test('run jobs of one key each, and are reused for the same key', async () => {
    createTestWorkerPool({ isPartitionedByKey: true, processes: 2 })
    const [one, other] = [await pidFor('one'), await pidFor('other')]
    expect(other).not.toBe(one)
    expect([await pidFor('other'), await pidFor('one')]).toEqual([other, one])
  })

  test('are never idle in a greater number than the limit', async () => {
    createTestWorkerPool({ isPartitionedByKey: true, processes: 1 })
    const one = await pidFor('one')
    await pidFor('other')
    await waitUntil(() => !isProcessAlive(one))
    expect(await pidFor('one')).not.toBe(one)
  })

  test('end after a result that makes them unfit for another job', async () => {
    createTestWorkerPool({
      canReuse: (answer, milliseconds) => answer !== 'bad' && milliseconds < generousTimeoutMs,
    })
    const here = await readWorkerPid()
    expect(await runJob({ kind: 'return', value: 'good' })).toBe('good')
    expect(await readWorkerPid()).toBe(here)
    expect(await runJob({ kind: 'return', value: 'bad' })).toBe('bad')
    expect(await readWorkerPid()).not.toBe(here)
  })
})

describe('the queue', () => {
  test('rejects jobs when too many wait, and keeps the waiting ones', async () => {
    createTestWorkerPool({ maxWaiting: 2 })
    const orders = [1, 2, 3, 4].map((value) => runJob({ kind: 'return', value }))
    const outcomes = await Promise.allSettled(orders)
    expect(outcomes.slice(0, 3).map((one) => one.status === 'fulfilled' && one.value)).toEqual([1, 2, 3])
    expect(outcomes[3]).toMatchObject({ status: 'rejected', reason: createWorkerFaultMatcher('crowded') })
    expect(await runJob({ kind: 'return', value: 5 })).toBe(5)
  })

  test('does not count against a job’s time', async () => {
    const first = runJob({ kind: 'wait', file: getJobLogFilePath() })
    const second = runJob({ kind: 'return', value: 'second' }, 2000)
    await new Promise((resolve) => setTimeout(resolve, 2200))
    writeFileSync(getJobLogFilePath(), 'x')
    await first
    expect(await second).toBe('second')
  })

  test('is empty and all processes are gone after the pool is closed', async () => {
    const here = await readWorkerPid()
    const orders = Promise.allSettled([runJob({ kind: 'wait', file: getJobLogFilePath() }), readWorkerPid()])
    await workerPool.close()
    expect(isProcessAlive(here)).toBe(false)
    for (const outcome of await orders)
      expect(outcome).toMatchObject({ reason: createWorkerFaultMatcher('closed') })
    await expect(readWorkerPid()).rejects.toMatchObject(createWorkerFaultMatcher('closed'))
  })
})

describe('other waiting jobs', () => {
  test('displace a long-running job', async () => {
    createTestWorkerPool({ displaceAfterMs: 100 })
    const long = runJob({ kind: 'spin' }).catch((error: unknown) => error)
    expect(await runJob({ kind: 'return', value: 'quick' })).toBe('quick')
    expect(await long).toMatchObject({ code: 'displaced' })
  })

  test('displace a job that only waits for an answer', async () => {
    createTestWorkerPool({ displaceAfterMs: 100 })
    const asking = workerPool
      .run({ kind: 'ask' }, generousTimeoutMs, () => new Promise(() => {}))
      .catch((error: unknown) => error)
    expect(await runJob({ kind: 'return', value: 'quick' })).toBe('quick')
    expect(await asking).toMatchObject({ code: 'displaced' })
  })

  test('do not displace a job that got less CPU time on an overloaded machine', async () => {
    createTestWorkerPool({ displaceAfterMs: 1 })
    const used = jest.spyOn(WorkerProcess.prototype, 'used').mockReturnValue(undefined)
    const slowdown = jest.spyOn(WorkerProcess.prototype, 'slowdown').mockReturnValue(1e9)
    try {
      const long = runJob({ kind: 'wait', file: getJobLogFilePath() }).catch((error: unknown) => error)
      const quick = runJob({ kind: 'return', value: 'quick' })
      await Promise.race([long, waitUntil(() => slowdown.mock.calls.length > 5)])
      writeFileSync(getJobLogFilePath(), 'x')
      expect(await long).toBeGreaterThan(0)
      expect(await quick).toBe('quick')
    } finally {
      used.mockRestore()
      slowdown.mockRestore()
    }
  })
})

test('a prepared process runs the next job of its key, and is prepared once', async () => {
  createTestWorkerPool({ processes: 2, isPartitionedByKey: true })
  const countChildren = () =>
    readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean).length
  const before = countChildren()
  workerPool.prepare('one')
  workerPool.prepare('one')
  expect(countChildren()).toBe(before + 1)
  const readPid = (key: string) => workerPool.run({ kind: 'pid' }, generousTimeoutMs, undefined, key)
  expect(await readPid('one')).toBe(await readPid('one'))
  expect(countChildren()).toBe(before + 1)
  await readPid('other')
  workerPool.prepare('third')
  expect(countChildren()).toBe(before + 2)
})

test('code that an order leaves running can neither call for the next order nor end the process', async () => {
  const pid = await runJob({ kind: 'leave-running' })
  expect(await runJob({ kind: 'ask-late' })).toBe('Error: the order has ended')
  expect(await readWorkerPid()).toBe(pid)
})
