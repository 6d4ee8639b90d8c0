// Jobs on pg-boss, which supplies tables, fetching and retries. This module adds:
//
//   coalescing      at most one waiting row per key. A new job joins it: newer data, earlier time, shorter back-off.
//   one per key     the key is also pg-boss' group, and fetching allows one active job per group in the database. The
//                   'stately' policy does not fit: an active key at the head of the queue fails the whole fetch, and
//                   its cache of active keys is a minute old.
//   after a crash   active rows get heartbeats; a silent row belongs to a dead process and waits again. The embedded
//                   database has one process, so every row that is active at its start is such a row.
//   fairness        repositories take turns: see fair-priority.ts.
//
// Enqueueing and settling lock the key, so that there is never more than one waiting row.
import { PgBoss } from 'pg-boss'
import type { Job, WaitingJobs } from '../ports/jobs.ts'
import { jobsInside, type Database, type Transaction } from './database.ts'
import { fairPriority } from './fair-priority.ts'
import { repositoryKey } from '../change/repository-key.ts'
import { storableText } from './storable-text.ts'
import { asStoreError } from './store-error.ts'

const jobSchema = 'catalog_bot_jobs'
// The shared table behind the view `job`: planning a query on it directly takes half the time.
const table = `${jobSchema}.job_common`
const queue = 'job'

/** One run of a job: `run` differs if the row is taken again. */
export interface Taken {
  readonly id: string
  readonly key: string
  readonly run: number
  readonly job: Job
}

export interface Jobs {
  enqueue(sql: Transaction, job: Job, afterSeconds: number): Promise<void>
  take(most: number): Promise<readonly Taken[]>
  complete(taken: Taken): Promise<void>
  /** Waits again after a back-off, or joins an equal job that already waits. */
  fail(taken: Taken, error: unknown): Promise<void>
  /** Records that this process still works on these jobs. */
  touch(taken: readonly Taken[]): Promise<void>
  /** Makes jobs wait again if their process was silent for so long. Resolves with their number. */
  recover(silentSeconds: number): Promise<number>
  /** Counts running and runnable jobs by kind. */
  waiting(): Promise<readonly WaitingJobs[]>
  stop(): Promise<void>
}

export function jobKey(job: Job): string {
  const repository = repositoryKey(job.repository)
  switch (job.kind) {
    case 'pull':
    case 'preview':
    case 'trial':
      return `${job.kind} ${repository}#${job.pull}`
    case 'branch':
    case 'group':
    case 'train':
    case 'release':
      return `${job.kind} ${repository} ${job.branch}`
    case 'sweep':
    case 'scan':
    case 'publish':
      return `${job.kind} ${repository}`
  }
}

export async function openJobs(database: Database, problem: (error: unknown) => void): Promise<Jobs> {
  const boss = new PgBoss({
    db: database.forJobs,
    schema: jobSchema,
    backend: database.kind === 'embedded' ? 'pglite' : 'postgres',
    schedule: false,
    supervise: true,
    // Removes finished jobs every ten minutes; nothing here reads them.
    maintenanceIntervalSeconds: 600,
  })
  boss.on('error', problem)
  try {
    // Otherwise two instances that start on an empty database would both create the schema.
    await database.alone('start jobs', async () => {
      await boss.start()
      await boss.createQueue(queue, {
        policy: 'short',
        // Jobs retry without limit: after 2, 4, 8 ... seconds, then every five minutes.
        retryLimit: 1_000_000,
        retryDelay: 2,
        retryBackoff: true,
        retryDelayMax: 300,
        // pg-boss' maximum. touch() detects dead processes much faster, and a live handler must not run twice.
        expireInSeconds: 24 * 3600 - 1,
        deleteAfterSeconds: 600,
      })
    })
  } catch (error) {
    await boss.stop({ graceful: false, close: false })
    throw asStoreError(error)
  }
  // pg-boss reads a queue's settings once, outside the given transaction. Do it now: on the embedded database's only
  // connection that read would deadlock inside a transaction.
  await boss.touch(queue, '00000000-0000-0000-0000-000000000000')

  const priorityOf = fairPriority(table, queue)
  const waiting = (sql: Transaction, key: string) =>
    sql.query<{ id: string }>(
      `SELECT id FROM ${table} WHERE name = '${queue}' AND singleton_key = $1 AND state IN ('created', 'retry') LIMIT 1`,
      [key],
    )
  /** Locks the key and returns whether this run is still the active one. */
  const stillOurs = async (sql: Transaction, { id, key, run }: Taken): Promise<boolean> => {
    await sql.lock(`job ${key}`)
    const rows = await sql.query(
      `SELECT id FROM ${table} WHERE name = '${queue}' AND id = $1 AND state = 'active' AND retry_count = $2 FOR UPDATE`,
      [id, run],
    )
    return rows.length === 1
  }
  const putBack = async (sql: Transaction, { id, key }: Pick<Taken, 'id' | 'key'>, error: unknown) => {
    const db = jobsInside(sql)
    if ((await waiting(sql, key)).length > 0) await boss.complete(queue, id, null, { db })
    else await boss.fail(queue, id, { message: words(error) }, { db })
  }

  return {
    enqueue: async (sql, job, afterSeconds) => {
      const key = jobKey(job)
      await sql.lock(`job ${key}`)
      const joined = await sql.query(
        `UPDATE ${table} SET data = $2::jsonb,
           start_after = least(start_after, clock_timestamp() + $3::float8 * interval '1 second')
         WHERE name = '${queue}' AND singleton_key = $1 AND state IN ('created', 'retry') RETURNING id`,
        [key, JSON.stringify(job), afterSeconds],
      )
      if (joined.length > 0) return
      await boss.send(queue, job, {
        singletonKey: key,
        group: { id: key },
        priority: await priorityOf(sql, job),
        ...(afterSeconds > 0 ? { startAfter: afterSeconds } : {}),
        db: jobsInside(sql),
      })
    },

    take: async (most) => {
      const rows = await boss.fetch<Job>(queue, {
        batchSize: most,
        groupConcurrency: 1,
        includeMetadata: true,
      })
      return rows.map(({ id, data, retryCount }) => ({ id, key: jobKey(data), run: retryCount, job: data }))
    },

    complete: (taken) =>
      database.transaction(async (sql) => {
        if (await stillOurs(sql, taken)) await boss.complete(queue, taken.id, null, { db: jobsInside(sql) })
      }),

    fail: (taken, error) =>
      database.transaction(async (sql) => {
        if (await stillOurs(sql, taken)) await putBack(sql, taken, error)
      }),

    touch: async (taken) => {
      if (taken.length > 0)
        await boss.touch(
          queue,
          taken.map(({ id }) => id),
        )
    },

    recover: async (silentSeconds) => {
      const silent = await database.query<{ id: string; key: string; run: number }>(
        `SELECT id, singleton_key AS key, retry_count AS run FROM ${table}
         WHERE name = '${queue}' AND state = 'active'
           AND coalesce(heartbeat_on, started_on) <= clock_timestamp() - $1::float8 * interval '1 second'`,
        [silentSeconds],
      )
      for (const { id, key, run } of silent)
        await database.transaction(async (sql) => {
          await sql.lock(`job ${key}`)
          // Checked again under the lock: the process may have reported, or another may have returned the row.
          const rows = await sql.query(
            `SELECT id FROM ${table} WHERE name = '${queue}' AND id = $1 AND state = 'active' AND retry_count = $2
               AND coalesce(heartbeat_on, started_on) <= clock_timestamp() - $3::float8 * interval '1 second' FOR UPDATE`,
            [id, run, silentSeconds],
          )
          if (rows.length === 0) return
          await putBack(sql, { id, key }, new Error('the process that worked on it died'))
          await sql.query(
            `UPDATE ${table} SET start_after = clock_timestamp() WHERE name = '${queue}' AND id = $1 AND state = 'retry'`,
            [id],
          )
        })
      return silent.length
    },

    waiting: () =>
      database.query<WaitingJobs>(
        `SELECT data->>'kind' AS kind, count(*) FILTER (WHERE state <> 'active')::integer AS waiting,
           count(*) FILTER (WHERE state = 'active')::integer AS running,
           coalesce(extract(epoch FROM max(clock_timestamp() - start_after) FILTER (WHERE state <> 'active')), 0)::float8
             AS "oldestSeconds"
         FROM ${table} WHERE name = '${queue}' AND (state = 'active'
           OR (state IN ('created', 'retry') AND start_after <= clock_timestamp()))
         GROUP BY data->>'kind' ORDER BY 1`,
      ),

    stop: () => boss.stop({ graceful: false, close: false }),
  }
}

function words(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return storableText(text).slice(0, 2000)
}
