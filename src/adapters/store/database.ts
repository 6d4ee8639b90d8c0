// What the store requires of its database.
import type { PgBoss } from 'pg-boss'
import { createHash } from 'node:crypto'

/** Removes NUL and lone surrogates, which Postgres rejects, also in JSON. */
export const toStorableText = (text: string): string => text.replaceAll('\0', '').toWellFormed()

/** Prepares a value for jsonb. Replaces NUL instead of removing it, so that the text cannot become another word. */
export const toStorableJson = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'string' ? part.replaceAll('\0', '\uFFFD').toWellFormed() : part,
  )

const maxRowsPerDatabaseBatch = 1000
const maxCharactersPerDatabaseBatch = 1_000_000

/** An index entry is limited to about 2700 bytes; longer keys are stored as their digest. */
const maxDatabaseKeyLength = 500

export type StoreErrorCode =
  /** The database is unreachable or disconnected: the request may or may not have taken effect. */
  | 'unreachable'
  | 'in-use'
  /** A newer version of this program wrote the database. */
  | 'too-new'
  | 'unreadable'
  /** The pull request already has a recorded merge; it merges only once. */
  | 'already-landed'
  /** The intent was settled with another outcome, or does not exist. */
  | 'already-settled'
  /** Two transactions conflicted; nothing was changed. */
  | 'conflict'
  /** Out of disk, memory or connections. */
  | 'full'
  | 'closed'
  | 'failed'

const retryableStoreErrorCodes: readonly StoreErrorCode[] = ['unreachable', 'conflict', 'full', 'in-use']

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** Whether the same call may succeed later. */
  readonly retryable: boolean

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.retryable = retryableStoreErrorCodes.includes(code)
  }
}

export interface SqlQueryExecutor {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Any number of statements, without values. */
  run(text: string): Promise<void>
}

/** Reads rows whose columns have the names of the record's fields. A NULL column becomes an absent field. */
export async function queryRecords<Fields extends object>(
  sql: SqlQueryExecutor,
  text: string,
  values: readonly unknown[],
): Promise<readonly Fields[]> {
  const rows = await sql.query<Fields>(text, values)
  return rows.map(
    (row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as Fields,
  )
}

export interface Transaction extends SqlQueryExecutor {
  /**
   * Waits until no other transaction holds `name`, then holds it until this one ends. Does nothing if transactions are
   * serialized anyway.
   */
  lock(name: string): Promise<void>
}

export interface Database extends SqlQueryExecutor {
  readonly kind: 'embedded' | 'server'
  /**
   * Runs `work` in one transaction and rolls back if it throws. Rejects with a StoreError. Urgent transactions go
   * first, because an external caller waits for the answer.
   */
  transaction<T>(work: (sql: Transaction) => Promise<T>, isUrgent?: boolean): Promise<T>
  /** Runs `work`, which uses no transaction, while no other instance runs work under the same name. */
  runExclusively<T>(name: string, work: () => Promise<T>): Promise<T>
  /** For pg-boss, outside of any transaction; throws the driver's own errors, as pg-boss expects. */
  readonly jobDatabase: PgBossDatabase
  close(): Promise<void>
}

export type PgBossDatabase = NonNullable<NonNullable<Parameters<PgBoss['send']>[2]>['db']>

/** Makes pg-boss run its statements inside this transaction. */
export function toPgBossDatabase(sql: Transaction): PgBossDatabase {
  return { executeSql: async (text, values) => ({ rows: [...(await sql.query(text, values ?? []))] }) }
}

/** `send` rejects with the driver's errors, which become StoreErrors. */
export function createSqlQueryExecutor(
  send: (text: string, values?: readonly unknown[]) => Promise<readonly object[]>,
): SqlQueryExecutor {
  const trySending = async (text: string, values?: readonly unknown[]) => {
    try {
      return await send(text, values)
    } catch (error) {
      throw toStoreError(error)
    }
  }
  return {
    query: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await trySending(text, values)) as readonly Row[],
    run: async (text) => void (await trySending(text)),
  }
}

/** Classifies a driver's error by SQLSTATE class or by the system's error code. */
export function toStoreError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  const state = getSqlState(cause)
  const message = cause instanceof Error ? cause.message : String(cause)
  return new StoreError(classifySqlState(state, message), `the database returned an error: ${message}`, cause)
}

/** Returns the five-character SQLSTATE or the system's code (ECONNREFUSED) of a driver's error; '' if it has none. */
export function getSqlState(error: unknown): string {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

function classifySqlState(state: string, message: string): StoreErrorCode {
  if (/^(?:08|57P)/.test(state) || /^E[A-Z]+$/.test(state)) return 'unreachable'
  if (state === '40001' || state === '40P01') return 'conflict'
  if (state.startsWith('53')) return 'full'
  // node-postgres has only messages for these.
  if (/Connection terminated|timeout exceeded when trying to connect|not queryable/.test(message))
    return 'unreachable'
  return 'failed'
}

/**
 * Stores keys and values of state and cache as JSON text, with many rows per statement. JSON text, because untrusted
 * image references may hold characters that Postgres rejects (NUL).
 */
export function encodeDatabaseKey(key: string): string {
  const text = JSON.stringify(key)
  return text.length <= maxDatabaseKeyLength
    ? text
    : `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** Sorted, so that two instances that write the same keys cannot deadlock. */
export function encodeDatabaseRows(values: ReadonlyMap<string, unknown>) {
  return [...values]
    .map(([key, value]) => ({ key: encodeDatabaseKey(key), value: JSON.stringify(value ?? null) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}

/** `measureLength`: the characters of an item, if items can be long. */
export function* splitIntoBatches<T>(
  items: Iterable<T>,
  measureLength: (item: T) => number = () => 0,
): Generator<readonly T[]> {
  let batch: T[] = []
  let length = 0
  for (const item of items) {
    batch.push(item)
    length += measureLength(item)
    if (batch.length < maxRowsPerDatabaseBatch && length < maxCharactersPerDatabaseBatch) continue
    yield batch
    batch = []
    length = 0
  }
  if (batch.length > 0) yield batch
}
