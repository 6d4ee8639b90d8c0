// Opens the persistent store, in an embedded or a shared Postgres.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Clock } from '../../ports/clock.ts'
import type { Job, LeaseStore } from '../../ports/jobs.ts'
import type { Store, ReadyPull, ReadyPullStore } from '../../ports/store.ts'
import {
  type Database,
  StoreError,
  splitIntoBatches,
  encodeDatabaseKey,
  encodeDatabaseRows,
  toStorableJson,
} from './database.ts'
import { openEmbeddedDatabase } from './embedded-database.ts'
import { createJobQueue } from './jobs.ts'
import { createMergeFreezeStore } from './merge-freezes.ts'
import { createMergeRecordStore } from './merge-records.ts'
import { migrateDatabase, databaseSchemaName } from './migrations.ts'
import { createStatusPageStore } from './status-page-store.ts'
import { pruneStore } from './prune.ts'
import { createDatabasePullRequestHistoryStore, recordHeadPush, createVerdictStore } from './pull-history.ts'
import { openServerDatabase } from './server-database.ts'
import { JobWorker } from './worker.ts'
import { LruMap } from '../lru-map.ts'
import type { Cache, CacheNamespace } from '../../ports/cache.ts'
import { toRepositoryKey } from '../../pull-request/snapshot.ts'
import type { StateStore } from '../../ports/state.ts'

const gzipAsync = promisify(gzip)

export interface StoreOptions {
  /** A Postgres server's address. If set, several instances may share it, and `dataDirectory` is ignored. */
  readonly databaseUrl?: string
  /** The embedded database's folder. If neither is set, data is in memory only. */
  readonly dataDirectory?: string
  /** An embedded database that the caller began to open, which replaces `dataDirectory`. The store closes it. */
  readonly opening?: Promise<Database>
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

const pruneIntervalMs = 3600_000

/**
 * Opens the store and migrates its tables. Rejects with StoreError `in-use` (another process has the folder),
 * `unreachable` (no server) or `too-new`.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { clock, problem = () => undefined } = options
  const database = options.databaseUrl
    ? openServerDatabase(options.databaseUrl, problem)
    : await (options.opening ??
        openEmbeddedDatabase(options.dataDirectory, { timeoutMs: options.lockTimeoutMs, problem }))
  try {
    return await createStoreFromDatabase(
      database,
      clock,
      problem,
      options.silence ?? defaultJobTakeoverSeconds,
    )
  } catch (error) {
    await database.close()
    throw error
  }
}

async function createStoreFromDatabase(
  database: Database,
  clock: Clock,
  problem: NonNullable<StoreOptions['problem']>,
  silence: number,
): Promise<Store> {
  await migrateDatabase(database)
  const jobs = await createJobQueue(database, problem)
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
  const pruning = pruneStorePeriodically(database, clock, closing.signal, problem)

  return {
    ...createLeaseStore(database),
    ...createMergeRecordStore(database),
    ...createMergeFreezeStore(database),
    ...createReadyPullStore(database),
    ...createNamespacedStateStore(database),
    ...createDatabaseCache(database),
    ...createVerdictStore(database),
    ...createDatabasePullRequestHistoryStore(database),
    ...createStatusPageStore(database),

    accept: async ({ guid, event, body }, requestedJobs, push) => {
      const packed = await gzipAsync(body, { level: 1 })
      const answer = await database.transaction(async (sql) => {
        const added = await sql.query(
          `INSERT INTO ${databaseSchemaName}.delivery (guid, event, body) VALUES ($1, $2, $3)
           ON CONFLICT (guid) DO NOTHING RETURNING guid`,
          [guid, event, packed],
        )
        if (added.length === 0) return 'duplicate'
        if (push) await recordHeadPush(sql, push)
        for (const job of requestedJobs) await jobs.enqueue(sql, job, 0)
        return 'new'
      }, true)
      if (answer === 'new') for (const job of requestedJobs) worker?.expect(job)
      return answer
    },

    enqueue: async (job, afterSeconds = 0) => {
      await database.transaction((sql) => jobs.enqueue(sql, job, afterSeconds))
      worker?.expect(job, afterSeconds)
    },

    work: async (handler, concurrency, idle) => {
      if (worker) throw new StoreError('failed', 'a job worker is already running')
      const started = new JobWorker({ jobs, clock, handler, concurrency, idle, problem, silence })
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

async function pruneStorePeriodically(
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

interface CacheRow {
  readonly key: string
  /** Absent if no row has the key. */
  readonly value?: string
  /** Milliseconds since the epoch. */
  readonly until: number
}

/** Characters of the cache's rows in memory. */
const maxRecentCacheLength = 4 * 1024 * 1024

/** Facts by content key. A lost or unreadable value only costs another request. */
function createDatabaseCache(database: Database): Cache {
  // Only this process uses the embedded database, so it knows the rows that it read or wrote last.
  const recent = new LruMap<string, CacheRow>(
    database.kind === 'embedded' ? maxRecentCacheLength : 0,
    ({ key, value = '' }) => key.length + value.length,
    ({ until }) => until <= Date.now(),
  )
  const readRows = async (space: string, keys: readonly string[]): Promise<readonly CacheRow[]> => {
    const known = keys.flatMap((key) => recent.get(`${space} ${key}`) ?? [])
    if (known.length === keys.length) return known
    const rows = await database.query<Required<CacheRow>>(
      `SELECT key, value, coalesce(extract(epoch FROM expires_at) * 1000, 'infinity')::float8 AS until
       FROM ${databaseSchemaName}.cache
       WHERE space = $1 AND key = ANY(ARRAY(SELECT json_array_elements_text($2::json)))
         AND (expires_at IS NULL OR expires_at > clock_timestamp())`,
      [space, JSON.stringify(keys)],
    )
    const found = new Map(rows.map((row) => [row.key, row]))
    for (const key of keys) recent.set(`${space} ${key}`, found.get(key) ?? { key, until: Infinity })
    return rows
  }
  return {
    getCached: async <Value>(space: CacheNamespace<Value>, keys: readonly string[]) => {
      const found = new Map<string, Value>()
      for (const part of splitIntoBatches([...new Set(keys)])) {
        const keysByDatabaseKey = new Map(part.map((key) => [encodeDatabaseKey(key), key]))
        for (const row of await readRows(space.name, [...keysByDatabaseKey.keys()])) {
          const key = keysByDatabaseKey.get(row.key)
          const value = row.value === undefined ? undefined : space.read(JSON.parse(row.value))
          if (key !== undefined && value !== undefined) found.set(key, value)
        }
      }
      return found
    },

    putCached: createCacheWriter(database, recent),
  }
}

/** Stores what came since the previous statement began with the next one, so that many jobs share a statement. */
function createCacheWriter(database: Database, recent: LruMap<string, CacheRow>): Cache['putCached'] {
  let waiting = new Map<string, Required<CacheRow> & { readonly space: string; readonly seconds: number }>()
  let last = Promise.resolve()
  let next: Promise<void> | undefined
  const storeWaiting = async (): Promise<void> => {
    // Sorted, so that two instances that write the same keys cannot deadlock.
    const rows = [...waiting].sort(([a], [b]) => (a < b ? -1 : 1))
    waiting = new Map()
    next = undefined
    for (const part of splitIntoBatches(rows, ([, { value }]) => value.length)) {
      await database.query(
        `INSERT INTO ${databaseSchemaName}.cache (space, key, value, expires_at)
         SELECT space, key, value, clock_timestamp() + seconds * interval '1 second'
         FROM json_to_recordset($1::json) AS row (space text, key text, value text, seconds float8)
         ON CONFLICT (space, key) DO UPDATE SET value = excluded.value, expires_at = excluded.expires_at`,
        [JSON.stringify(part.map(([, { until: _, ...row }]) => row))],
      )
      for (const [name, { key, value, until }] of part)
        if (!waiting.has(name)) recent.set(name, { key, value, until })
    }
  }
  return (space, values, seconds) => {
    const until = Date.now() + seconds * 1000
    for (const row of encodeDatabaseRows(values)) {
      recent.delete(`${space.name} ${row.key}`)
      waiting.set(`${space.name} ${row.key}`, { ...row, space: space.name, seconds, until })
    }
    return (next ??= last = last.catch(() => undefined).then(storeWaiting))
  }
}

/** Leases with fencing tokens. Uses the database's time, so that instances with different clocks agree. */
function createLeaseStore(database: Database): LeaseStore {
  return {
    acquireLease: async (name, seconds) => {
      const [row] = await database.query<{ fence: number }>(
        `INSERT INTO ${databaseSchemaName}.lease AS lease (name, fence, expires_at)
         VALUES ($1, 1, clock_timestamp() + $2::float8 * interval '1 second')
         ON CONFLICT (name) DO UPDATE SET fence = lease.fence + 1, expires_at = excluded.expires_at
         WHERE lease.expires_at IS NULL OR lease.expires_at <= clock_timestamp()
         RETURNING fence`,
        [name, seconds],
      )
      return row && { name, fence: row.fence }
    },
    // An expired lease that no other instance took is still ours: its fence is the newest.
    renewLease: async ({ name, fence }, seconds) => {
      const rows = await database.query(
        `UPDATE ${databaseSchemaName}.lease SET expires_at = clock_timestamp() + $3::float8 * interval '1 second'
         WHERE name = $1 AND fence = $2 AND expires_at IS NOT NULL RETURNING name`,
        [name, fence, seconds],
      )
      return rows.length === 1
    },
    releaseLease: async ({ name, fence }) => {
      await database.query(
        `UPDATE ${databaseSchemaName}.lease SET expires_at = NULL WHERE name = $1 AND fence = $2`,
        [name, fence],
      )
    },
  }
}

/** Releases all leases when the only process starts, because their holders are dead. Fences keep growing. */
async function releaseAllLeases(database: Database): Promise<void> {
  await database.query(
    `UPDATE ${databaseSchemaName}.lease SET expires_at = NULL WHERE expires_at IS NOT NULL`,
  )
}

function createReadyPullStore(database: Database): ReadyPullStore {
  return {
    putReady: async (snapshot) => {
      const { repository, baseRef, pull } = snapshot
      // A waiting pull request keeps its place unless its target branch changed.
      await database.query(
        `INSERT INTO ${databaseSchemaName}.ready_pull AS ready (repository, branch, pull, snapshot)
         VALUES ($1, $2, $3, $4::jsonb)
         ON CONFLICT (repository, pull) DO UPDATE SET branch = excluded.branch, snapshot = excluded.snapshot,
           ready_at = CASE WHEN ready.branch = excluded.branch THEN ready.ready_at ELSE excluded.ready_at END`,
        [toRepositoryKey(repository), baseRef, pull, toStorableJson(snapshot)],
      )
    },

    readyPulls: (repository, branch) =>
      database.query<ReadyPull>(
        `SELECT pull, snapshot, extract(epoch FROM ready_at)::float8 * 1000 AS "readyAt"
         FROM ${databaseSchemaName}.ready_pull WHERE repository = $1 AND branch = $2 ORDER BY ready_at, pull`,
        [toRepositoryKey(repository), branch],
      ),

    dropReady: async (repository, pulls) => {
      await database.query(
        `DELETE FROM ${databaseSchemaName}.ready_pull
         WHERE repository = $1 AND pull IN (SELECT json_array_elements_text($2::json)::integer)`,
        [toRepositoryKey(repository), JSON.stringify(pulls)],
      )
    },
  }
}

/** Persistent values without a dedicated table. An unreadable value is an error, never treated as absent. */
export function createNamespacedStateStore(database: Database): StateStore {
  return {
    readState: async (space, repository, key) => {
      const [row] = await database.query<{ version: number; value: string }>(
        `SELECT version, value FROM ${databaseSchemaName}.state WHERE space = $1 AND repository = $2 AND key = $3`,
        [space.name, toRepositoryKey(repository), encodeDatabaseKey(key)],
      )
      if (!row) return undefined
      const description = `the state "${space.name}" of ${toRepositoryKey(repository)}`
      if (row.version > space.version)
        throw new StoreError(
          'too-new',
          `${description} has version ${row.version}, but this version of catalog-bot supports only version ${space.version}`,
        )
      const value = space.read(JSON.parse(row.value), row.version)
      if (value === undefined)
        throw new StoreError(
          'unreadable',
          `${description} is not valid for version ${row.version}: ${truncateTextForErrorMessage(row.value)}`,
        )
      return value
    },

    writeState: (space, repository, values) =>
      database.transaction(async (sql) => {
        for (const part of splitIntoBatches(encodeDatabaseRows(values)))
          await sql.query(
            `INSERT INTO ${databaseSchemaName}.state (space, repository, key, version, value)
             SELECT $1, $2, key, $3::integer, value FROM json_to_recordset($4::json) AS row (key text, value text)
             ON CONFLICT (space, repository, key) DO UPDATE SET version = excluded.version, value = excluded.value`,
            [space.name, toRepositoryKey(repository), space.version, JSON.stringify(part)],
          )
      }),

    retainState: async (space, repository, keys) => {
      await database.query(
        `DELETE FROM ${databaseSchemaName}.state WHERE space = $1 AND repository = $2
           AND key NOT IN (SELECT json_array_elements_text($3::json))`,
        [space.name, toRepositoryKey(repository), JSON.stringify(keys.map(encodeDatabaseKey))],
      )
    },
  }
}

function truncateTextForErrorMessage(value: string): string {
  return value.length <= 200 ? value : `${value.slice(0, 200)}…`
}
