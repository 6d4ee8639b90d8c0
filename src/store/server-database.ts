// A Postgres server, reached through a pool of connections; several instances may share it.
import { Pool, type PoolClient } from 'pg'
import type { Database, Sql, Transaction } from './database.ts'
import { asStoreError, sqlState } from './store-error.ts'

/** `problem` hears of idle connections that broke; the next query opens another. */
export function openServer(url: string, problem: (error: unknown) => void): Database {
  const pool = new Pool({
    connectionString: url,
    application_name: 'catalog-bot',
    max: 10,
    connectionTimeoutMillis: 10_000,
    // A paused instance must not hold the others' rows and locks for longer than that.
    idle_in_transaction_session_timeout: 60_000,
    keepAlive: true,
  })
  pool.on('error', problem)
  // The pool listens to idle connections alone. One that breaks between two statements of a transaction is told by the
  // next statement; without a listener it would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  const transaction: Database['transaction'] = async (work) => {
    const client = await connect(pool)
    let broken: Error | undefined
    try {
      await client.query('BEGIN')
      const value = await work(inside(client))
      await client.query('COMMIT')
      return value
    } catch (error) {
      await client.query('ROLLBACK').catch((fault: unknown) => {
        broken = fault instanceof Error ? fault : new Error(String(fault))
      })
      throw sqlState(error) === '' ? error : asStoreError(error)
    } finally {
      client.release(broken)
    }
  }
  return {
    kind: 'server',
    ...statements(pool),
    transaction,
    alone: (name, work) =>
      transaction(async (sql) => {
        await sql.lock(name)
        return work()
      }),
    forJobs: {
      executeSql: async (text, values) => {
        if (values !== undefined && values.length > 0) return pool.query(text, [...values])
        // Several statements at once, BEGIN and COMMIT among them: one that fails must not leave its connection
        // inside an open transaction for whoever gets it next.
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

async function connect(pool: Pool): Promise<PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw asStoreError(error)
  }
}

function inside(client: PoolClient): Transaction {
  return {
    ...statements(client),
    lock: async (name) => {
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`catalog-bot ${name}`])
    },
  }
}

function statements(client: Pick<PoolClient, 'query'> | Pool): Sql {
  return {
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) => {
      try {
        return (await client.query<Row>(text, [...values])).rows
      } catch (error) {
        throw asStoreError(error)
      }
    },
    run: async (text) => {
      try {
        await client.query(text)
      } catch (error) {
        throw asStoreError(error)
      }
    },
  }
}
