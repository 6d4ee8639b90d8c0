// What the store requires of its database.
import type { PgBoss } from 'pg-boss'

export interface SqlQueryExecutor {
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Any number of statements, without values. */
  run(text: string): Promise<void>
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
