// What the store needs of a database, whichever it is: queries, transactions, a lock inside a transaction.
import type { PgBoss } from 'pg-boss'

export interface Sql {
  /** One statement. */
  query<Row extends object>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>
  /** Any number of statements, without values. */
  run(text: string): Promise<void>
}

export interface Transaction extends Sql {
  /**
   * Waits until no other transaction holds `name`, then holds it until this one ends. Nothing to do where
   * transactions come one after the other anyway.
   */
  lock(name: string): Promise<void>
}

export interface Database extends Sql {
  readonly kind: 'embedded' | 'server'
  /**
   * Runs `work` in one transaction; what it throws rolls all of it back. Rejects with a StoreError. An urgent one goes
   * first where transactions wait for each other: somebody outside waits for its answer.
   */
  transaction<T>(work: (sql: Transaction) => Promise<T>, isUrgent?: boolean): Promise<T>
  /** Runs `work`, which uses no transaction, while no other instance runs anything under the same name. */
  alone<T>(name: string, work: () => Promise<T>): Promise<T>
  /** The same database for pg-boss, outside of any transaction; throws the driver's own errors, as pg-boss expects. */
  readonly forJobs: JobDatabase
  close(): Promise<void>
}

/** pg-boss' view of a database. */
export type JobDatabase = NonNullable<NonNullable<Parameters<PgBoss['send']>[2]>['db']>

/** A transaction for pg-boss: its statements become part of it. */
export function jobsInside(sql: Transaction): JobDatabase {
  return { executeSql: async (text, values) => ({ rows: [...(await sql.query(text, values ?? []))] }) }
}
