// Jobs on pg-boss, which supplies tables, fetching and retries. This module adds:
//
//   coalescing      at most one waiting row per key. A new job joins it: newer data, earlier time, shorter back-off.
//   one per key     the key is also pg-boss' group, and fetching allows one active job per group in the database. The
//                   'stately' policy does not fit: an active key at the head of the queue fails the whole fetch, and
//                   its cache of active keys is a minute old.
//   after a crash   active rows get heartbeats; a silent row belongs to a dead process and waits again. The embedded
//                   database has one process, so every row that is active at its start is such a row.
//   fairness        repositories take turns: see createFairJobPrioritizer.
//
// Enqueueing and putting back lock the key, so that there is never more than one waiting row.
import { PgBoss } from 'pg-boss'
import type { Job, JobKindStatistics } from '../../ports/jobs.ts'
import {
  toPgBossDatabase,
  type Database,
  type Transaction,
  type SqlQueryExecutor,
  toStoreError,
  toStorableText,
} from './database.ts'
import { toRepositoryKey } from '../../pull-request/snapshot.ts'

/** Scans go after all pull requests, because they are not urgent and come in many small jobs. */
const imageScanJobPriority = -1_000_000_000

/** Milliseconds to cache a repository's last place, because one sweep can enqueue thousands. */
const queuePositionCacheTtlMs = 1000

interface JobQueuePosition {
  readonly priority: number
  readonly at: number
}

const jobSchemaName = 'catalog_bot_jobs'
// The shared table behind the view `job`: planning a query on it directly takes half the time.
const jobTableName = `${jobSchemaName}.job_common`
const jobQueueName = 'job'

/** One run of a job: `run` differs if the row is taken again. */
export interface ClaimedJob {
  readonly id: string
  readonly key: string
  readonly run: number
  readonly job: Job
}

export interface PersistentJobQueue {
  enqueue(sql: Transaction, job: Job, afterSeconds: number): Promise<void>
  take(limit: number): Promise<readonly ClaimedJob[]>
  complete(taken: ClaimedJob): Promise<void>
  /** Waits again after a back-off, or joins an equal job that already waits. */
  fail(taken: ClaimedJob, error: unknown): Promise<void>
  /** Records that this process still works on these jobs. */
  touch(taken: readonly ClaimedJob[]): Promise<void>
  /** Makes jobs wait again if their process was silent for so long. Resolves with their number. */
  recover(silentSeconds: number): Promise<number>
  /** Counts running and runnable jobs by kind. */
  waiting(): Promise<readonly JobKindStatistics[]>
  stop(): Promise<void>
}

export function toJobKey(job: Job): string {
  const repository = toRepositoryKey(job.repository)
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

export async function createJobQueue(
  database: Database,
  problem: (error: unknown) => void,
): Promise<PersistentJobQueue> {
  const boss = await startPgBoss(database, problem)
  return new PgBossJobQueue(database, boss)
}

async function startPgBoss(database: Database, problem: (error: unknown) => void): Promise<PgBoss> {
  const boss = new PgBoss({
    db: database.jobDatabase,
    schema: jobSchemaName,
    backend: database.kind === 'embedded' ? 'pglite' : 'postgres',
    schedule: false,
    supervise: true,
    // Removes finished jobs every ten minutes; nothing here reads them.
    maintenanceIntervalSeconds: 600,
  })
  boss.on('error', problem)
  try {
    // Otherwise two instances that start on an empty database would both create the schema.
    await database.runExclusively('start jobs', async () => {
      await boss.start()
      await boss.createQueue(jobQueueName, {
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
    throw toStoreError(error)
  }
  // pg-boss reads a queue's settings once, outside the given transaction. Do it now: on the embedded database's only
  // connection that read would deadlock inside a transaction.
  await boss.touch(jobQueueName, '00000000-0000-0000-0000-000000000000')
  return boss
}

class PgBossJobQueue implements PersistentJobQueue {
  readonly #database: Database
  readonly #boss: PgBoss
  readonly #priorityOf = createFairJobPrioritizer()

  constructor(database: Database, boss: PgBoss) {
    this.#database = database
    this.#boss = boss
  }

  readonly enqueue: PersistentJobQueue['enqueue'] = async (sql, job, afterSeconds) => {
    const key = toJobKey(job)
    await sql.lock(`job ${key}`)
    const joined = await sql.query(
      `UPDATE ${jobTableName} SET data = $2::jsonb,
           start_after = least(start_after, clock_timestamp() + $3::float8 * interval '1 second')
         WHERE name = '${jobQueueName}' AND singleton_key = $1 AND state IN ('created', 'retry') RETURNING id`,
      [key, JSON.stringify(job), afterSeconds],
    )
    if (joined.length > 0) return
    await this.#boss.send(jobQueueName, job, {
      singletonKey: key,
      group: { id: key },
      priority: await this.#priorityOf(sql, job),
      ...(afterSeconds > 0 ? { startAfter: afterSeconds } : {}),
      db: toPgBossDatabase(sql),
    })
  }

  readonly take: PersistentJobQueue['take'] = async (limit) => {
    const rows = await this.#boss.fetch<Job>(jobQueueName, {
      batchSize: limit,
      groupConcurrency: 1,
      includeMetadata: true,
    })
    return rows.map(({ id, data, retryCount }) => ({ id, key: toJobKey(data), run: retryCount, job: data }))
  }

  // One statement, without pg-boss' dependencies between jobs. Another run of the job has another count.
  readonly complete: PersistentJobQueue['complete'] = async ({ id, run }) => {
    await this.#database.query(
      `UPDATE ${jobTableName} SET state = 'completed', completed_on = clock_timestamp()
         WHERE name = '${jobQueueName}' AND id = $1 AND state = 'active' AND retry_count = $2`,
      [id, run],
    )
  }

  readonly fail: PersistentJobQueue['fail'] = ({ id, key, run }, error) =>
    this.#database.transaction(async (sql) => {
      await sql.lock(`job ${key}`)
      const stillOurs = await sql.query(
        `SELECT id FROM ${jobTableName} WHERE name = '${jobQueueName}' AND id = $1 AND state = 'active' AND retry_count = $2 FOR UPDATE`,
        [id, run],
      )
      if (stillOurs.length > 0) await this.#putBack(sql, { id, key }, error)
    })

  readonly touch: PersistentJobQueue['touch'] = async (taken) => {
    if (taken.length > 0)
      await this.#boss.touch(
        jobQueueName,
        taken.map(({ id }) => id),
      )
  }

  readonly recover: PersistentJobQueue['recover'] = async (silentSeconds) => {
    const silent = await this.#database.query<{ id: string; key: string; run: number }>(
      `SELECT id, singleton_key AS key, retry_count AS run FROM ${jobTableName}
         WHERE name = '${jobQueueName}' AND state = 'active'
           AND coalesce(heartbeat_on, started_on) <= clock_timestamp() - $1::float8 * interval '1 second'`,
      [silentSeconds],
    )
    for (const { id, key, run } of silent)
      await this.#database.transaction(async (sql) => {
        await sql.lock(`job ${key}`)
        // Checked again under the lock: the process may have reported, or another may have returned the row.
        const rows = await sql.query(
          `SELECT id FROM ${jobTableName} WHERE name = '${jobQueueName}' AND id = $1 AND state = 'active' AND retry_count = $2
               AND coalesce(heartbeat_on, started_on) <= clock_timestamp() - $3::float8 * interval '1 second' FOR UPDATE`,
          [id, run, silentSeconds],
        )
        if (rows.length === 0) return
        await this.#putBack(sql, { id, key }, new Error('the process that ran this job died'))
        await sql.query(
          `UPDATE ${jobTableName} SET start_after = clock_timestamp() WHERE name = '${jobQueueName}' AND id = $1 AND state = 'retry'`,
          [id],
        )
      })
    return silent.length
  }

  readonly waiting: PersistentJobQueue['waiting'] = () =>
    this.#database.query<JobKindStatistics>(
      `SELECT data->>'kind' AS kind, count(*) FILTER (WHERE state <> 'active')::integer AS waiting,
           count(*) FILTER (WHERE state = 'active')::integer AS running,
           coalesce(extract(epoch FROM max(clock_timestamp() - start_after) FILTER (WHERE state <> 'active')), 0)::float8
             AS "oldestSeconds"
         FROM ${jobTableName} WHERE name = '${jobQueueName}' AND (state = 'active'
           OR (state IN ('created', 'retry') AND start_after <= clock_timestamp()))
         GROUP BY data->>'kind' ORDER BY 1`,
    )

  readonly stop: PersistentJobQueue['stop'] = () => this.#boss.stop({ graceful: false, close: false })

  async #putBack(sql: Transaction, { id, key }: Pick<ClaimedJob, 'id' | 'key'>, error: unknown) {
    const db = toPgBossDatabase(sql)
    const waiting = await sql.query(
      `SELECT id FROM ${jobTableName} WHERE name = '${jobQueueName}' AND singleton_key = $1 AND state IN ('created', 'retry') LIMIT 1`,
      [key],
    )
    if (waiting.length > 0) await this.#boss.complete(jobQueueName, id, null, { db })
    else await this.#boss.fail(jobQueueName, id, { message: toStorableErrorText(error) }, { db })
  }
}

function toStorableErrorText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return toStorableText(text).slice(0, 2000)
}

function createFairJobPrioritizer() {
  const last = new Map<string, JobQueuePosition>()

  /** Finds the next place to be served and this repository's last one. */
  async function positionAfter(sql: SqlQueryExecutor, repository: string): Promise<number> {
    const [row] = await sql.query<{ head: number | null; own: number | null }>(
      `SELECT max(priority) AS head, min(priority) FILTER (WHERE starts_with(singleton_key, $1)) AS own
       FROM ${jobTableName}
       WHERE name = '${jobQueueName}' AND state IN ('created', 'retry') AND starts_with(singleton_key, 'pull ')
         AND start_after <= clock_timestamp()`,
      [`pull ${repository}#`],
    )
    const head = row?.head ?? 0
    return row?.own === null || row?.own === undefined ? head : Math.min(head, row.own - 1)
  }

  return async (sql: SqlQueryExecutor, job: Job): Promise<number> => {
    if (job.kind === 'scan') return imageScanJobPriority
    if (job.kind !== 'pull') return 0
    const repository = toRepositoryKey(job.repository)
    const now = performance.now()
    const known = last.get(repository)
    const isKnown = known !== undefined && now - known.at < queuePositionCacheTtlMs
    const priority = isKnown ? known.priority - 1 : await positionAfter(sql, repository)
    for (const [name, { at }] of last) if (now - at >= queuePositionCacheTtlMs) last.delete(name)
    // Keeps the time of the last query, so that a long burst queries again.
    last.set(repository, { priority, at: isKnown ? known.at : now })
    return priority
  }
}
