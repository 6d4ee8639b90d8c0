// The machine's own Postgres for a test. A missing Postgres is counted as skipped.
import { reportSkippedTest } from '../../left-out.ts'
import { startLocalPostgres, type PostgresServer } from './local-postgres.ts'

export { runSqlQuery, type PostgresServer } from './local-postgres.ts'

/** Undefined without an installed Postgres, which is counted as skipped. */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  const server = await startLocalPostgres()
  if (server === undefined) reportSkippedTest('Postgres')
  return server
}
