import { Pool, type PoolClient } from 'pg'
import {
  type Database,
  createSqlQueryExecutor,
  type Transaction,
  toStoreError,
  getSqlState,
} from './database.ts'

/** `problem` receives broken idle connections; the next query opens another. */
export function openServerDatabase(url: string, problem: (error: unknown) => void): Database {
  const pool = new Pool({
    connectionString: url,
    application_name: 'catalog-bot',
    max: 10,
    connectionTimeoutMillis: 10_000,
    // Limits how long a paused instance can hold rows and locks.
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
  })
  pool.on('error', problem)
  // The pool only listens to idle connections. Without a listener, a connection that breaks inside a transaction would
  // crash the process; the next statement reports the error.
  pool.on('connect', (client) => client.on('error', () => undefined))
  const transaction: Database['transaction'] = async (work) => {
    const client = await acquirePoolClient(pool)
    let broken: Error | undefined
    try {
      await client.query('BEGIN')
      const value = await work(createDatabaseTransaction(client))
      await client.query('COMMIT')
      return value
    } catch (error) {
      await client.query('ROLLBACK').catch((fault: unknown) => {
        broken = fault instanceof Error ? fault : new Error(String(fault))
      })
      throw getSqlState(error) === '' ? error : toStoreError(error)
    } finally {
      client.release(broken)
    }
  }
  return {
    kind: 'server',
    ...createSqlQueryExecutor(sendWith(pool)),
    transaction,
    runExclusively: (name, work) =>
      transaction(async (sql) => {
        await sql.lock(name)
        return work()
      }),
    jobDatabase: {
      executeSql: async (text, values) => {
        if (values !== undefined && values.length > 0) return pool.query(text, [...values])
        // A failed script with BEGIN and COMMIT must not return its connection to the pool inside an open transaction.
        const client = await pool.connect()
        try {
          const result: unknown = await client.query(text)
          const parts = (Array.isArray(result) ? result : [result]) as { rows?: unknown[] }[]
          return { rows: parts.flatMap(({ rows }) => rows ?? []) }
        } catch (error) {
          await client.query('ROLLBACK').catch(() => undefined)
          throw error
        } finally {
          client.release()
        }
      },
    },
    close: async () => {
      await pool.end()
    },
  }
}

async function acquirePoolClient(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw toStoreError(error)
  }
}

function createDatabaseTransaction(client: PoolClient): Transaction {
  return {
    ...createSqlQueryExecutor(sendWith(client)),
    lock: async (name) => {
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`catalog-bot ${name}`])
    },
  }
}

function sendWith(client: Pick<PoolClient, 'query'> | Pool) {
  return async (text: string, values?: readonly unknown[]): Promise<readonly object[]> =>
    (await client.query<object>(text, values && [...values])).rows
}
