// Real processes, real signals, a real heap that runs full.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { openWorkerPool, type WorkerPool, type WorkerPoolOptions } from '../../src/workers/worker-pool.ts'
import type { OddJob } from './odd-jobs.ts'

let directory: string
let pool: WorkerPool<OddJob, unknown>
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'workers-'))
  open()
})
afterEach(async () => {
  await pool.close()
  rmSync(directory, { recursive: true })
})

const ample = 60_000
const script = new URL('./odd-jobs.ts', import.meta.url)
const few = { script, heap: 64, processes: 1, mostWaiting: 100, longestRest: ample }

function open(options: Partial<WorkerPoolOptions<unknown>> = {}): void {
  pool = openWorkerPool<OddJob, unknown>({ ...few, ...options })
}

const run = (job: OddJob, milliseconds = ample) => pool.run(job, milliseconds)
const pid = async () => Number(await run({ kind: 'pid' }))
const diary = () => join(directory, 'diary')
const dying = (times: number, signal: NodeJS.Signals = 'SIGKILL'): OddJob => ({
  kind: 'die',
  signal,
  diary: diary(),
  times,
})
const refusal = (code: string, words?: RegExp) => ({
  name: 'WorkerFault',
  code,
  message: words === undefined ? expect.any(String) : expect.stringMatching(words),
})

function isAlive(process_: number): boolean {
  try {
    return process.kill(process_, 0)
  } catch {
    return false
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe('an order', () => {
  test('is answered with any value that can be copied', async () => {
    const value = { bytes: new Uint8Array([1, 2]), map: new Map([['a', new Set([1n])]]), none: undefined }
    expect(await run({ kind: 'say', value })).toEqual(value)
    expect(await run({ kind: 'say', value: undefined })).toBeUndefined()
  })

  test('is worked on without any of our secrets', async () => {
    process.env['SECRET_OF_THE_TEST'] = 'x'
    try {
      expect(Object.keys((await run({ kind: 'environment' })) as object)).not.toContain('SECRET_OF_THE_TEST')
    } finally {
      delete process.env['SECRET_OF_THE_TEST']
    }
  })

  test('that cannot be sent harms nobody else', async () => {
    await expect(run({ kind: 'say', value: () => 'a function' })).rejects.toThrow(/could not be cloned/)
    expect(await run({ kind: 'say', value: 1 })).toBe(1)
  })
})

describe('its own fault', () => {
  test('is it to take too long; the next order is answered', async () => {
    await expect(run({ kind: 'spin' }, 1000)).rejects.toMatchObject(
      refusal('too-slow', /longer than 1000 milliseconds/),
    )
    expect(await run({ kind: 'say', value: 'next' })).toBe('next')
  })

  test('is it to fill the heap; we go on, and the next order is answered', async () => {
    await expect(run({ kind: 'fill' })).rejects.toMatchObject(refusal('too-much-memory'))
    expect(await run({ kind: 'say', value: 'next' })).toBe('next')
  })

  test.each<[string, OddJob, RegExp]>([
    ['to throw', { kind: 'throw', words: 'no such thing' }, /no such thing/],
    ['to answer what cannot be copied', { kind: 'unsendable' }, /could not be cloned/],
    ['to end in the middle of it', { kind: 'exit', code: 3 }, /code 3/],
    ['to end as if all were well', { kind: 'exit', code: 0 }, /code 0/],
  ])('is it %s', async (_, job, words) => {
    await expect(run(job)).rejects.toMatchObject(refusal('failed', words))
    expect(await run({ kind: 'say', value: 'next' })).toBe('next')
  })

  test('is it to crash', async () => {
    await expect(run(dying(Infinity, 'SIGSEGV'))).rejects.toMatchObject(refusal('failed', /SIGSEGV/))
  })

  test('is it when the program is not there', async () => {
    open({ script: new URL('./nowhere.ts', import.meta.url) })
    await expect(run({ kind: 'pid' })).rejects.toMatchObject(refusal('failed', /code 1/))
  })
})

describe('nobody’s fault', () => {
  test.each<NodeJS.Signals>(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'])(
    'is it that something outside sends %s',
    async (signal) => {
      const here = await pid()
      const waiting = expect(run({ kind: 'wait', diary: diary() })).rejects.toMatchObject(
        refusal('ended', new RegExp(signal)),
      )
      process.kill(here, signal)
      await waiting
      expect(await pid()).not.toBe(here)
    },
  )

  test('is it that the system starts no process', async () => {
    const path = process.execPath
    process.execPath = join(directory, 'nowhere')
    try {
      await expect(run({ kind: 'pid' })).rejects.toMatchObject(refusal('not-started'))
    } finally {
      process.execPath = path
    }
    expect(await run({ kind: 'say', value: 'next' })).toBe('next')
  })

  test('and not even noticed is the end of a process without work', async () => {
    const here = await pid()
    process.kill(here, 'SIGKILL')
    await until(() => !isAlive(here))
    expect(await pid()).not.toBe(here)
  })
})

describe('a second try', () => {
  beforeEach(() => open({ mostTries: 2 }))

  test('helps an order whose process was ended from outside', async () => {
    expect(await run(dying(1))).toBe('done')
  })

  test('is the last', async () => {
    await expect(run(dying(Infinity))).rejects.toMatchObject(refusal('ended'))
    expect(readFileSync(diary(), 'utf8')).toBe('xx')
  })

  test('is none where one is allowed', async () => {
    open()
    await expect(run(dying(1))).rejects.toMatchObject(refusal('ended'))
    expect(readFileSync(diary(), 'utf8')).toBe('x')
  })
})

describe('processes', () => {
  test('are never more than allowed, and are used again', async () => {
    open({ processes: 2 })
    const pids = await Promise.all(Array.from({ length: 12 }, pid))
    expect(new Set(pids).size).toBe(2)
  })

  test('work at the same time', async () => {
    open({ processes: 2 })
    const first = run({ kind: 'wait', diary: diary() })
    const second = await pid()
    writeFileSync(diary(), 'x')
    expect(await first).not.toBe(second)
  })

  test('are not started while one that is there may soon be free', async () => {
    open({ processes: 4, growsAfter: ample })
    const pids = await Promise.all([pid(), pid(), pid()])
    expect(new Set(pids).size).toBe(1)
    // One that ends is no hope.
    const dies = run(dying(9)).catch(() => undefined)
    const other = await pid()
    await dies
    expect(other).not.toBe(pids[0])
  })

  test('are started when that takes long', async () => {
    open({ processes: 2, growsAfter: 1 })
    const busy = run({ kind: 'spin' }).catch(() => undefined)
    expect(await pid()).toBeGreaterThan(0)
    await pool.close()
    await busy
  })

  test('take the orders that wait in their turn', async () => {
    const answered: unknown[] = []
    const orders = [1, 2, 3, 4].map((value) =>
      run({ kind: 'say', value }).then((answer) => answered.push(answer)),
    )
    await Promise.all(orders)
    expect(answered).toEqual([1, 2, 3, 4])
  })

  test('leave an order to the next one after as many as they may take', async () => {
    open({ mostOrders: 2 })
    const [first, second, third] = [await pid(), await pid(), await pid()]
    expect(second).toBe(first)
    expect(third).not.toBe(first)
    await until(() => !isAlive(first))
  })

  test('without work end after their rest', async () => {
    open({ longestRest: 50 })
    const here = await pid()
    await until(() => !isAlive(here))
    expect(await pid()).not.toBe(here)
  })

  test('do not keep alive the program that forgot them', async () => {
    const program = join(import.meta.dirname, 'forgets-to-close.ts')
    const { stdout } = await promisify(execFile)(process.execPath, ['--no-warnings', program])
    await until(() => !isAlive(Number(stdout)))
  })
})

describe('processes of keys that are kept apart', () => {
  const pidFor = async (key: string) => Number(await pool.run({ kind: 'pid' }, ample, undefined, key))

  test('work for one key each, and again for the same', async () => {
    open({ isForOneKey: true, processes: 2 })
    const [one, other] = [await pidFor('one'), await pidFor('other')]
    expect(other).not.toBe(one)
    expect([await pidFor('other'), await pidFor('one')]).toEqual([other, one])
  })

  test('rest in no greater number than may work', async () => {
    open({ isForOneKey: true, processes: 1 })
    const one = await pidFor('one')
    await pidFor('other')
    await until(() => !isAlive(one))
    expect(await pidFor('one')).not.toBe(one)
  })

  test('end after an answer with which they are not fit for another order', async () => {
    open({ staysFit: (answer, milliseconds) => answer !== 'bad' && milliseconds < ample })
    const here = await pid()
    expect(await run({ kind: 'say', value: 'good' })).toBe('good')
    expect(await pid()).toBe(here)
    expect(await run({ kind: 'say', value: 'bad' })).toBe('bad')
    expect(await pid()).not.toBe(here)
  })
})

describe('the queue', () => {
  test('refuses what comes when too many wait, and keeps those that do', async () => {
    open({ mostWaiting: 2 })
    const orders = [1, 2, 3, 4].map((value) => run({ kind: 'say', value }))
    const outcomes = await Promise.allSettled(orders)
    expect(outcomes.slice(0, 3).map((one) => one.status === 'fulfilled' && one.value)).toEqual([1, 2, 3])
    expect(outcomes[3]).toMatchObject({ status: 'rejected', reason: refusal('crowded') })
    expect(await run({ kind: 'say', value: 5 })).toBe(5)
  })

  test('does not count against an order’s time', async () => {
    const first = run({ kind: 'wait', diary: diary() })
    const second = run({ kind: 'say', value: 'second' }, 2000)
    await new Promise((resolve) => setTimeout(resolve, 2200))
    writeFileSync(diary(), 'x')
    await first
    expect(await second).toBe('second')
  })

  test('is empty and all processes are gone when the pool is closed', async () => {
    const here = await pid()
    const orders = Promise.allSettled([run({ kind: 'wait', diary: diary() }), pid()])
    await pool.close()
    expect(isAlive(here)).toBe(false)
    for (const outcome of await orders) expect(outcome).toMatchObject({ reason: refusal('closed') })
    await expect(pid()).rejects.toMatchObject(refusal('closed'))
  })
})

describe('others that wait', () => {
  test('make what works for long give way, and only then', async () => {
    open({ displacedAfter: 100 })
    const long = run({ kind: 'spin' }).catch((error: unknown) => error)
    expect(await run({ kind: 'say', value: 'quick' })).toBe('quick')
    expect(await long).toMatchObject({ code: 'displaced' })
  })
})
