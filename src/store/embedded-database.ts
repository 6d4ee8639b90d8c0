// The embedded database: PGlite, a Postgres inside this process, in a folder or in memory. It has a single connection,
// so everything takes its turn: a transaction, a statement outside of any, one of pg-boss' scripts.
import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite, type Transaction as Pglite } from '@electric-sql/pglite'
import type { Database, Sql, Transaction } from './database.ts'
import { lockFolder } from './folder-lock.ts'
import { asStoreError, sqlState, StoreError } from './store-error.ts'

/**
 * Opens the database in `directory`, made when it is not there; without one, in memory.
 * Rejects with StoreError `in-use` when another process has the folder.
 */
export async function openEmbedded(directory?: string): Promise<Database> {
  if (directory === undefined) return wrap(await PGlite.create(), async () => undefined)
  await mkdir(directory, { recursive: true })
  const unlock = await lockFolder(directory)
  try {
    return wrap(await PGlite.create(join(directory, 'postgres')), unlock)
  } catch (error) {
    await unlock()
    throw asStoreError(error)
  }
}

function wrap(pglite: PGlite, unlock: () => Promise<void>): Database {
  const { turn, end } = turns()
  const outside = statements(pglite)
  return {
    kind: 'embedded',
    query: (text, values) => turn(() => outside.query(text, values)),
    run: (text) => turn(() => outside.run(text)),
    transaction: (work, isUrgent) =>
      turn(async () => {
        try {
          return await pglite.transaction(async (inside) => {
            const sql: Transaction = { ...statements(inside), lock: async () => undefined }
            return await work(sql)
          })
        } catch (error) {
          throw sqlState(error) === '' ? error : asStoreError(error)
        }
      }, isUrgent),
    // There is no other instance.
    alone: (_name, work) => work(),
    forJobs: {
      executeSql: (text, values) =>
        turn(async () => {
          if (values !== undefined && values.length > 0) return pglite.query(text, [...values])
          try {
            return { rows: (await pglite.exec(text)).flatMap(({ rows }) => rows) }
          } catch (error) {
            // Several statements, BEGIN and COMMIT among them: one that fails leaves its transaction open on the
            // only connection there is.
            await pglite.exec('ROLLBACK').catch(() => undefined)
            throw error
          }
        }),
    },
    close: () =>
      end(async () => {
        await pglite.close()
        await unlock()
      }),
  }
}

/**
 * One after the other: the urgent ones first, otherwise in the order they came; after the end everything rejects with
 * `closed`. Asking for a turn during one's own would wait for ever, so that is an error.
 */
function turns() {
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
      if (mine.getStore()) throw new StoreError('failed', 'a query beside the transaction it was made in')
      return queue(isUrgent ? urgent : usual, work)
    },
    end: (work: () => Promise<void>): Promise<void> => (ended ??= queue(usual, work)),
  }
}

function statements(pglite: Pick<Pglite, 'query' | 'exec'>): Sql {
  return {
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) => {
      try {
        return (await pglite.query<Row>(text, [...values])).rows
      } catch (error) {
        throw asStoreError(error)
      }
    },
    run: async (text) => {
      try {
        await pglite.exec(text)
      } catch (error) {
        throw asStoreError(error)
      }
    },
  }
}
