import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { defineCacheNamespace } from '../../../src/ports/cache.ts'
import type { Job, Store } from '../../../src/ports/store.ts'
import { type Database, StoreError } from '../../../src/adapters/store/database.ts'
import { openEmbeddedDatabase } from '../../../src/adapters/store/embedded-database.ts'
import { createJobQueue } from '../../../src/adapters/store/jobs.ts'
import { openStore } from '../../../src/adapters/store/store.ts'
import { startStoreProcess } from './child.ts'
import { testStoreContract } from './store-contract.ts'
import { copyPreparedStore } from './prepared-store.ts'
import { realTimeClock, createPushDelivery, createPullJob, waitUntil } from './sample-records.ts'
import { listChildProcesses, isProcessAlive } from '../../processes.ts'
import { createSelfRemovingDirectory } from '../../temporary-directory.ts'

const storeRootDirectory = createSelfRemovingDirectory('catalog-bot-store')
const preparedStoreDirectory = join(storeRootDirectory, 'made')
let storeDirectoryCount = 0
const createStoreDirectory = (...deep: string[]) => {
  const path = join(storeRootDirectory, `folder-${++storeDirectoryCount}`, ...deep)
  cpSync(preparedStoreDirectory, path, { recursive: true })
  return path
}
beforeAll(() => copyPreparedStore(preparedStoreDirectory))

const listDatabaseProcesses = (parent?: number) => listChildProcesses('embedded-process', parent)
const killDatabaseProcessesExcept = (others: readonly number[]) => {
  for (const id of listDatabaseProcesses()) if (!others.includes(id)) process.kill(id, 'SIGKILL')
}

const throwError = (error: unknown) => {
  throw error
}

testStoreContract('embedded, in a folder', {
  createLocation: async () => ({ dataDirectory: createStoreDirectory() }),
  shared: false,
  isDurable: true,
})

describe('a data folder', () => {
  test('belongs to one store at a time, even with a long path', async () => {
    const dataDirectory = createStoreDirectory('deep/'.repeat(30))
    const first = await openStore({ dataDirectory, clock: realTimeClock })
    await expect(
      openStore({ dataDirectory, clock: realTimeClock, lockTimeoutMs: 300 }),
    ).rejects.toMatchObject({ code: 'in-use', retryable: true })
    // A store that waits long enough gets it.
    const second = openStore({ dataDirectory, clock: realTimeClock })
    await first.close()
    await expect(first.acquireLease('x', 1)).rejects.toMatchObject({ code: 'closed' })
    await (await second).close()
  })

  test('that cannot be created or written is a StoreError, and leaves no process', async () => {
    const before = listDatabaseProcesses()
    const file = join(storeRootDirectory, 'file')
    writeFileSync(file, '')
    await expect(
      openStore({ dataDirectory: join(file, 'below'), clock: realTimeClock }),
    ).rejects.toBeInstanceOf(StoreError)
    expect(listDatabaseProcesses()).toEqual(before)
  })
})

describe('a process that is killed', () => {
  test('loses no accepted delivery and no job, twice in a row', async () => {
    const dataDirectory = createStoreDirectory()
    const accepted: string[] = []
    for (let round = 1; round <= 2; round++) {
      const child = startStoreProcess('accept', { dataDirectory }, `round-${round}`)
      await waitUntil(() => child.outputLines.length > 10, 60)
      await child.kill()
      accepted.push(...child.outputLines)
    }
    const store = await openStore({ dataDirectory, clock: realTimeClock })
    for (const guid of accepted)
      expect(await store.accept({ guid, event: 'push', body: Buffer.alloc(0) }, [])).toBe('duplicate')
    const run = new Set<string>()
    await store.work(async (job) => {
      if (job.kind === 'pull') run.add(`${job.repository.name} ${job.pull}`)
    }, 50)
    await waitUntil(() => accepted.every((guid) => run.has(guid)), 60)
    await store.close()
  })

  test('leaves its folder to one of many concurrent openers, and its running jobs and leases at once', async () => {
    const dataDirectory = createStoreDirectory()
    const of = { owner: 'owner', name: 'held' }
    const before = await openStore({ dataDirectory, clock: realTimeClock })
    await before.enqueue(createPullJob(1, of))
    await before.enqueue(createPullJob(2, of), 3600)
    await before.close()
    const child = startStoreProcess('hold', { dataDirectory }, 'held')
    await waitUntil(() => child.outputLines.includes('begun 1'), 60)
    await expect(openStore({ dataDirectory, clock: realTimeClock, lockTimeoutMs: 0 })).rejects.toMatchObject({
      code: 'in-use',
    })
    const [database = 0] = listDatabaseProcesses(child.id)
    expect(database).toBeGreaterThan(0)
    await child.kill()
    const open = () => openEmbeddedDatabase(dataDirectory, { timeoutMs: 5000, problem: () => undefined })
    const wanted = await Promise.allSettled([open(), open(), open(), open()])
    const got = wanted.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(got).toHaveLength(1)
    await waitUntil(() => !isProcessAlive(database), 30)
    for (const one of wanted)
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'in-use' })
    for (const one of got) await one.close()
    const store = await openStore({ dataDirectory, clock: realTimeClock })
    const opened = performance.now()
    const seen: Job[] = []
    await store.work(async (job) => void seen.push(job), 4)
    await waitUntil(() => seen.length > 0, 30)
    // A job of a process that may still be alive would be left alone for fifteen seconds.
    expect(performance.now() - opened).toBeLessThan(10_000)
    expect(seen).toEqual([createPullJob(1, of)])
    const lease = await store.acquireLease('lease held', 5)
    expect(`fence ${(lease?.fence ?? 0) - 1}`).toBe(child.outputLines[0])
    await store.close()
  })
})

describe("the database's process", () => {
  const problem = () => undefined
  const table = 'CREATE TABLE IF NOT EXISTS word (word text PRIMARY KEY)'

  const problems: unknown[] = []
  let others: readonly number[]
  let store: Store
  beforeAll(async () => {
    others = listDatabaseProcesses()
    store = await openStore({
      dataDirectory: createStoreDirectory(),
      clock: realTimeClock,
      problem: (error) => problems.push(error),
    })
  })
  afterAll(() => store.close())
  beforeEach(() => void (problems.length = 0))

  test('fails pending queries when it is killed, restarts, and loses nothing acknowledged', async () => {
    const lease = await store.acquireLease('mine', 600)
    const guids = Array.from({ length: 40 }, (_, at) => `killed ${at}`)
    let answered = 0
    const asked = guids.map((guid) =>
      store.accept(createPushDelivery(guid), [createPullJob(1)]).finally(() => answered++),
    )
    for (const one of asked) one.catch(() => undefined)
    await waitUntil(() => answered >= 10)
    killDatabaseProcessesExcept(others)
    const outcomes = await Promise.allSettled(asked)
    for (const [at, outcome] of outcomes.entries())
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({ code: 'unreachable', retryable: true })
      else expect(await store.accept(createPushDelivery(guids[at] ?? ''), [])).toBe('duplicate')
    expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true)
    // The App is alive, so its lease remains valid.
    expect(lease && (await store.renewLease(lease, 600))).toBe(true)
    expect(problems).toEqual([expect.objectContaining({ code: 'unreachable' })])
  })

  test('never leaves a job active forever if it is killed while the job is settled', async () => {
    let runs = 0
    await store.work(async (job) => {
      if (job.kind !== 'pull' || job.pull !== 2) return
      runs += 1
      // The response to the next statement cannot arrive.
      if (runs === 1) killDatabaseProcessesExcept(others)
    }, 1)
    await store.enqueue(createPullJob(2))
    await waitUntil(() => runs === 2, 40)
    expect(problems).not.toEqual([])
  })

  test('does not continue the transaction of another process', async () => {
    const others = listDatabaseProcesses()
    const database = await openEmbeddedDatabase(createStoreDirectory(), { timeoutMs: 0, problem })
    await database.run(table)
    const half = database.transaction(async (sql) => {
      await sql.query('INSERT INTO word VALUES ($1)', ['first'])
      killDatabaseProcessesExcept(others)
      await sleep(300)
      await sql.query('INSERT INTO word VALUES ($1)', ['second'])
    })
    await expect(half).rejects.toMatchObject({ code: 'unreachable' })
    expect(await database.query('SELECT * FROM word')).toEqual([])
    await database.close()
  })

  describe('open', () => {
    let database: Database
    let mine: readonly number[]
    beforeAll(async () => {
      const before = listDatabaseProcesses()
      database = await openEmbeddedDatabase(createStoreDirectory(), { timeoutMs: 0, problem: throwError })
      mine = listDatabaseProcesses().filter((id) => !before.includes(id))
    })
    afterAll(() => database.close())
    /** Stays open when the store is closed. */
    const openSharedStore = (query: Database['query'] = (text, values) => database.query(text, values)) =>
      openStore({
        opening: Promise.resolve({ ...database, query, close: () => Promise.resolve() }),
        clock: realTimeClock,
      })

    test('receives no secrets, only the environment variables that Node.js needs', async () => {
      const names = readFileSync(`/proc/${mine[0]}/environ`, 'utf8')
        .split('\0')
        .flatMap((entry) => entry.split('=')[0] || [])
      const allowed = ['PATH', 'LD_LIBRARY_PATH', 'TZ', 'NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE']
      expect(names.filter((name) => !allowed.includes(name))).toEqual([])
    })

    test('passes bytes, times, and errors through unchanged', async () => {
      await database.run(table)
      const values: unknown[] = [
        Buffer.from([0, 255, 10]),
        new Date(1_700_000_000_123),
        null,
        ['a', 'b'],
        4_000_000_000_123,
      ]
      const [row] = await database.query<Record<string, unknown>>(
        'SELECT $1::bytea AS bytes, $2::timestamptz AS time, $3::text AS nothing, $4::text[] AS list, $5::int8 AS big',
        values,
      )
      expect(Buffer.from(row?.['bytes'] as Uint8Array)).toEqual(values[0])
      expect(row).toMatchObject({ nothing: null, list: ['a', 'b'], big: 4_000_000_000_123 })
      expect(Number(row?.['time'])).toBe(1_700_000_000_123)
      const twice = database.transaction(async (sql) => {
        await sql.query("INSERT INTO word VALUES ('once')")
        await sql.query("INSERT INTO word VALUES ('once')")
      })
      await expect(twice).rejects.toMatchObject({
        code: 'failed',
        cause: { code: '23505', detail: 'Key (word)=(once) already exists.', table: 'word' },
      })
      await expect(database.jobDatabase.executeSql('BEGIN; SELECT nonsense; COMMIT')).rejects.toMatchObject({
        code: '42703',
      })
      // Neither left its transaction open.
      await database.run("BEGIN; INSERT INTO word VALUES ('kept'); COMMIT")
      expect(await database.query('SELECT * FROM word')).toEqual([{ word: 'kept' }])
      await expect(database.query('SELECT $1::text', [() => 1])).rejects.toMatchObject({ code: 'failed' })
    })

    test('reuses the plan of a statement, and plans it again after its table has grown', async () => {
      await database.run(`CREATE TABLE grown (id integer PRIMARY KEY);
        INSERT INTO grown VALUES (1);
        ANALYZE grown`)
      const statement = 'SELECT id FROM grown WHERE id = $1'
      const runOften = async (text: string, times: number) => {
        for (let run = 0; run < times; run++) await database.query(text, text === statement ? [1] : [])
      }
      await runOften(statement, 10)
      const [prepared] = await database.query<{ name: string; plans: number }>(
        `SELECT name, generic_plans::integer AS plans FROM pg_prepared_statements WHERE statement = $1`,
        [statement],
      )
      expect(prepared?.plans).toBeGreaterThan(0)
      const explain = `EXPLAIN (FORMAT JSON) EXECUTE ${prepared?.name ?? ''}(1)`
      await database.run('INSERT INTO grown SELECT generate_series(2, 20000)')
      expect(JSON.stringify(await database.query(explain, []))).toContain('Seq Scan')
      await runOften('SELECT 1', 1000)
      expect(JSON.stringify(await database.query(explain, []))).toContain('Index Only Scan')
    }, 180_000)

    test('runs one transaction at a time, urgent ones first', async () => {
      const order: string[] = []
      const transaction = (name: string, isUrgent: boolean) =>
        database.transaction(async (sql) => {
          order.push(`${name} begins`)
          await sql.query('SELECT 1')
          await sql.query('SELECT 2')
          order.push(`${name} ends`)
        }, isUrgent)
      await Promise.all([
        transaction('first', false),
        transaction('second', false),
        transaction('urgent', true),
      ])
      expect(order).toEqual(
        ['first', 'urgent', 'second'].flatMap((name) => [`${name} begins`, `${name} ends`]),
      )
      let leaked: Promise<unknown> = Promise.resolve()
      await database.transaction(async (sql) => {
        await sql.query('SELECT 1')
        leaked = sleep(50).then(() => sql.query('SELECT 2'))
        leaked.catch(() => undefined)
      })
      await expect(leaked).rejects.toMatchObject({ code: 'failed' })
    })

    test('values that several jobs cache at once are stored by one statement', async () => {
      const statements: string[] = []
      const query: Database['query'] = (text, values) => {
        statements.push(text)
        return database.query(text, values)
      }
      const store = await openSharedStore(query)
      const spaces = ['one', 'other'].map((name) => defineCacheNamespace(name, 1, z.number()))
      await Promise.all(
        spaces.flatMap((space) =>
          [1, 2, 3].map((value) => store.putCached(space, new Map([['key', value]]), 60)),
        ),
      )
      expect(statements.filter((text) => /INSERT INTO \S*cache\b/.test(text))).toHaveLength(1)
      for (const space of spaces) expect(await store.getCached(space, ['key'])).toEqual(new Map([['key', 3]]))
      await store.close()
    })

    test('a job that was taken again is not settled by its lost run', async () => {
      const jobs = await createJobQueue(database, throwError)
      await database.transaction((sql) => jobs.enqueue(sql, createPullJob(1), 0))
      const [lost] = await jobs.take(1)
      await jobs.recover(0)
      const [taken] = await jobs.take(1)
      if (lost === undefined || taken === undefined) throw new Error('the job was not taken twice')
      await jobs.complete(lost)
      await jobs.fail(lost, new Error('too late'))
      expect(await jobs.waiting()).toMatchObject([{ running: 1, waiting: 0 }])
      await jobs.complete(taken)
      expect(await jobs.waiting()).toEqual([])
      await jobs.stop()
    })

    test('without a folder a store has separate data, which is gone after it is closed', async () => {
      const others = listDatabaseProcesses()
      const [memory, other] = await Promise.all([openStore({ clock: realTimeClock }), openSharedStore()])
      expect(await memory.accept(createPushDelivery('memory'), [])).toBe('new')
      expect(await memory.accept(createPushDelivery('memory'), [])).toBe('duplicate')
      expect(await other.accept(createPushDelivery('memory'), [])).toBe('new')
      await other.close()
      // Its data is lost with its process, so nothing may continue with an empty database.
      const last = listDatabaseProcesses().filter((id) => !others.includes(id))
      expect(last).toHaveLength(1)
      for (const id of last) process.kill(id, 'SIGKILL')
      for (const _ of [1, 2])
        await expect(memory.acquireLease('x', 1)).rejects.toMatchObject({ code: 'unreachable' })
      await memory.close()
    })

    test('starts as the database that PGlite ships, also after an interrupted start', async () => {
      const directory = mkdtempSync(join(storeRootDirectory, 'new-'))
      const draft = join(directory, 'postgres.new')
      mkdirSync(draft)
      writeFileSync(join(draft, 'PG_VERSION'), '')
      const interrupted = await openEmbeddedDatabase(directory, { timeoutMs: 1000, problem: throwError })
      // Each database that Postgres initializes has another identifier.
      const [identifier, other] = await Promise.all(
        [interrupted, database].map((one) =>
          one.query('SELECT system_identifier::text AS id FROM pg_control_system()', []),
        ),
      )
      expect(identifier).toEqual(other)
      expect(existsSync(draft)).toBe(false)
      await interrupted.close()
    })

    test('stays as long as the App, and ignores Ctrl-C and stop signals', async () => {
      expect(mine).toHaveLength(1)
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) for (const id of mine) process.kill(id, signal)
      await sleep(100)
      expect(await database.query('SELECT 1 AS one')).toEqual([{ one: 1 }])
      await database.close()
      expect(mine.filter(isProcessAlive)).toEqual([])
    })
  })
})
