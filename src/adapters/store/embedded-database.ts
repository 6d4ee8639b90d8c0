// The embedded database: PGlite in a separate process, in a folder or in memory. It has one connection, so
// transactions, single statements and pg-boss scripts take turns.
import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Database, createSqlQueryExecutor, toStoreError, getSqlState, StoreError } from './database.ts'
import { connectEmbeddedDatabase, type EmbeddedConnection } from './embedded-connection.ts'

/** Milliseconds before the first restart; the pause doubles after each quick failure. */
const minRestartDelayMs = 100

const maxRestartDelayMs = 30_000

/** Milliseconds after which a process counts as started successfully. */
const minStableDatabaseUptimeMs = 60_000

/** A stopping App finishes its jobs first, while its successor may already start. */
const defaultDatabaseLockTimeoutMs = 10_000

interface SupervisedDatabaseConnection {
  /** Waits for a start in progress. Rejects with a StoreError if it fails. */
  current(): Promise<EmbeddedConnection>
  close(): Promise<void>
}

export interface EmbeddedDatabaseOptions {
  /** Milliseconds to wait for another process to release the folder; default 10,000. */
  readonly timeoutMs?: number | undefined
  /** Receives the process's standard error and its unexpected end. */
  readonly problem: (error: unknown) => void
}

/**
 * Opens the database in `directory`, which is created if missing; without one, in memory. Rejects with StoreError
 * `in-use` if another process has the folder. If the database process dies, running requests reject with `unreachable`,
 * and later ones wait for the restart.
 */
export async function openEmbeddedDatabase(
  directory: string | undefined,
  { timeoutMs = defaultDatabaseLockTimeoutMs, problem }: EmbeddedDatabaseOptions,
): Promise<Database> {
  const reportOutput = (line: string) =>
    problem(new StoreError('failed', `output of the database process: ${line}`))
  const supervised = await superviseDatabaseConnection(
    () => connectEmbeddedDatabase(directory, timeoutMs, reportOutput),
    directory !== undefined,
    problem,
  )
  const { turn, end } = createSerialTaskQueue()
  const send: SqlQuerySender = async (text, values) =>
    (await supervised.current()).send(toSqlCommand(text, values))
  const outside = createSqlQueryExecutor(send)
  return {
    kind: 'embedded',
    query: (text, values) => turn(() => outside.query(text, values)),
    run: (text) => turn(() => outside.run(text)),
    transaction: async (work, isUrgent) => {
      try {
        const { value, committed } = await turn(async () => {
          const { inside, settle } = beginTransaction(await supervised.current())
          try {
            const value = await work({ ...createSqlQueryExecutor(inside), lock: async () => undefined })
            // The next turn need not wait for the answer, because the process runs orders in sequence.
            return { value, committed: settle('COMMIT') }
          } catch (error) {
            settle('ROLLBACK').catch(() => undefined)
            throw error
          }
        }, isUrgent)
        await committed
        return value
      } catch (error) {
        throw getSqlState(error) === '' ? error : toStoreError(error)
      }
    },
    // There is no other instance.
    runExclusively: (_name, work) => work(),
    jobDatabase: {
      executeSql: (text, values) =>
        turn(async () => ({ rows: [...(await send(text, values?.length ? values : undefined))] })),
    },
    close: () => end(() => supervised.close()),
  }
}

type SqlQuerySender = (text: string, values?: readonly unknown[] | null) => Promise<readonly object[]>

const toSqlCommand = (text: string, values?: readonly unknown[] | null) =>
  ({ kind: 'sql', text, ...(values && { values }) }) as const

/** Begins with the first change, because no other statement can come between reads on the only connection. */
function beginTransaction(connection: EmbeddedConnection) {
  let state: 'fresh' | 'begun' | 'over' = 'fresh'
  const sendInside: SqlQuerySender = async (text, values) => {
    if (state === 'over')
      throw new StoreError('failed', 'the transaction that this query belongs to has already ended')
    const beginsTransaction = state === 'fresh' && !/^\s*SELECT\b/.test(text)
    if (beginsTransaction) state = 'begun'
    return connection.send({ ...toSqlCommand(text, values), beginsTransaction })
  }
  const endTransaction = async (how: 'COMMIT' | 'ROLLBACK'): Promise<void> => {
    const begun = state === 'begun'
    state = 'over'
    if (begun) await connection.send(toSqlCommand(how))
  }
  return { inside: sendInside, settle: endTransaction }
}

/**
 * Runs turns one by one, urgent ones first; rejects with `closed` after the end. Asking for a turn inside a turn is an
 * error, because it would deadlock.
 */
function createSerialTaskQueue() {
  const mine = new AsyncLocalStorage<true>()
  const urgent: (() => Promise<void>)[] = []
  const usual: (() => Promise<void>)[] = []
  let busy = false
  let ended: Promise<void> | undefined
  const next = async (): Promise<void> => {
    if (busy) return
    busy = true
    for (let work = urgent.shift() ?? usual.shift(); work; work = urgent.shift() ?? usual.shift())
      await work()
    busy = false
  }
  const queue = <T>(line: (() => Promise<void>)[], work: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      line.push(() => mine.run(true, work).then(resolve, reject))
      void next()
    })
  return {
    turn: async <T>(work: () => Promise<T>, isUrgent = false): Promise<T> => {
      if (ended) throw new StoreError('closed', 'the store is closed')
      if (mine.getStore())
        throw new StoreError('failed', 'a query inside a transaction must use that transaction')
      return queue(isUrgent ? urgent : usual, work)
    },
    end: (work: () => Promise<void>): Promise<void> => (ended ??= queue(usual, work)),
  }
}

/**
 * Rejects like `connect` if the first start fails. `lasts`: the data outlive the process; otherwise all requests after
 * its end reject. `problem` receives unexpected ends and failed restarts.
 */
async function superviseDatabaseConnection(
  connect: () => Promise<EmbeddedConnection>,
  lasts: boolean,
  problem: (error: unknown) => void,
): Promise<SupervisedDatabaseConnection> {
  const closing = new AbortController()
  let pause = minRestartDelayMs
  let current: Promise<EmbeddedConnection>

  const watchAttempt = (attempt: Promise<EmbeddedConnection>): void => {
    current = attempt
    attempt.then(
      async (connection) => {
        const began = performance.now()
        const how = await connection.ended
        if (closing.signal.aborted) return
        if (performance.now() - began > minStableDatabaseUptimeMs) pause = minRestartDelayMs
        const lost = new StoreError('unreachable', how)
        problem(lost)
        if (lasts) watchAttempt(reconnect())
        else watchAttempt(Promise.reject(lost))
      },
      (error: unknown) => {
        if (closing.signal.aborted || !lasts) return
        problem(toStoreError(error))
        watchAttempt(reconnect())
      },
    )
  }
  const reconnect = async (): Promise<EmbeddedConnection> => {
    const wait = pause
    pause = Math.min(2 * pause, maxRestartDelayMs)
    try {
      await sleep(wait, undefined, { signal: closing.signal, ref: false })
    } catch {
      throw new StoreError('closed', 'the store is closed')
    }
    return connect()
  }

  const first = await connect()
  current = Promise.resolve(first)
  watchAttempt(current)
  return {
    current: () => current,
    close: async () => {
      closing.abort()
      const connection = await current.catch(() => undefined)
      await connection?.close()
    },
  }
}
