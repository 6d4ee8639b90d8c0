// Opens the persistent store, in an embedded or a shared Postgres.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Clock } from '../../ports/clock.ts'
import type { Job } from '../../ports/jobs.ts'
import type { Store } from '../../ports/store.ts'
import { openCache } from './cache.ts'
import type { Database } from './database.ts'
import { openEmbeddedDatabase } from './embedded-database.ts'
import { openJobQueue } from './jobs.ts'
import { openMergeFreezes } from './merge-freezes.ts'
import { openMergeRecords } from './merge-records.ts'
import { releaseAllLeases, openLeases } from './leases.ts'
import { migrate, schemaName } from './migrations.ts'
import { openPageRecords } from './page-records.ts'
import { pruneStore } from './prune.ts'
import { openPullMemory, recordPush } from './pull-memory.ts'
import { openReadyPulls } from './ready-pulls.ts'
import { openServerDatabase } from './server-database.ts'
import { openState } from './state.ts'
import { StoreError } from './store-error.ts'
import { openVerdicts } from './verdicts.ts'
import { startJobWorker, type JobWorker } from './worker.ts'

const gzipAsync = promisify(gzip)

export interface StoreOptions {
  /** A Postgres server's address. If set, several instances may share it, and `dataDirectory` is ignored. */
  readonly databaseUrl?: string
  /** The embedded database's folder. If neither is set, data is in memory only. */
  readonly dataDirectory?: string
  /** Milliseconds to wait for another process to release the folder; default 10,000. */
  readonly lockTimeoutMs?: number
  /** For polling pauses. Leases and expiry use the database's time. */
  readonly clock: Clock
  /** Receives errors without a caller: rejecting handlers, queue errors, lost idle connections. */
  readonly problem?: (error: unknown, job?: Job) => void
  /** Seconds of silence after which another process takes over a process's jobs; default 15. */
  readonly silence?: number
}

const defaultJobTakeoverSeconds = 15

/** A stopping App finishes its jobs first, while its successor may already start. */
const defaultLockTimeoutMs = 10_000

const pruneIntervalMs = 3600_000

/**
 * Opens the store and migrates its tables. Rejects with StoreError `in-use` (another process has the folder),
 * `unreachable` (no server) or `too-new`.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { clock, problem = () => undefined } = options
  const database = options.databaseUrl
    ? openServerDatabase(options.databaseUrl, problem)
    : await openEmbeddedDatabase(options.dataDirectory, {
        timeoutMs: options.lockTimeoutMs ?? defaultLockTimeoutMs,
        problem,
      })
  try {
    return await buildStore(database, clock, problem, options.silence ?? defaultJobTakeoverSeconds)
  } catch (error) {
    await database.close()
    throw error
  }
}

async function buildStore(
  database: Database,
  clock: Clock,
  problem: NonNullable<StoreOptions['problem']>,
  silence: number,
): Promise<Store> {
  await migrate(database)
  const jobs = await openJobQueue(database, problem)
  const embedded = database.kind === 'embedded'
  // Only this process has the folder, so all holders of leases and jobs are dead.
  if (embedded)
    try {
      await releaseAllLeases(database)
      await jobs.recover(0)
    } catch (error) {
      await jobs.stop()
      throw error
    }
  const closing = new AbortController()
  let worker: JobWorker | undefined
  const pruning = pruneRegularly(database, clock, closing.signal, problem)

  return {
    ...openLeases(database),
    ...openMergeRecords(database),
    ...openMergeFreezes(database),
    ...openReadyPulls(database),
    ...openState(database),
    ...openCache(database),
    ...openVerdicts(database),
    ...openPullMemory(database),
    ...openPageRecords(database),

    accept: async ({ guid, event, body }, wanted, push) => {
      const packed = await gzipAsync(body, { level: 1 })
      const answer = await database.transaction(async (sql) => {
        const added = await sql.query(
          `INSERT INTO ${schemaName}.delivery (guid, event, body) VALUES ($1, $2, $3)
           ON CONFLICT (guid) DO NOTHING RETURNING guid`,
          [guid, event, packed],
        )
        if (added.length === 0) return 'duplicate'
        if (push) await recordPush(sql, push)
        for (const job of wanted) await jobs.enqueue(sql, job, 0)
        return 'new'
      }, true)
      if (answer === 'new' && wanted.length > 0) worker?.wake()
      return answer
    },

    enqueue: async (job, afterSeconds = 0) => {
      await database.transaction((sql) => jobs.enqueue(sql, job, afterSeconds))
      worker?.wake()
    },

    work: async (handler, concurrency, waiting) => {
      if (worker) throw new StoreError('failed', 'a job worker is already running')
      const started = startJobWorker({ jobs, clock, handler, concurrency, waiting, problem, silence })
      worker = started
      return {
        stop: async () => {
          await started.stop()
          if (worker === started) worker = undefined
        },
      }
    },

    waitingJobs: () => jobs.waiting(),

    ping: async () => {
      await database.query('SELECT 1')
    },

    close: async () => {
      closing.abort()
      await worker?.stop()
      await pruning
      await jobs.stop()
      await database.close()
    },
  }
}

async function pruneRegularly(
  database: Database,
  clock: Clock,
  signal: AbortSignal,
  problem: (error: unknown) => void,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(pruneIntervalMs, signal)
    if (signal.aborted) return
    await pruneStore(database).catch(problem)
  }
}
