// The machine's own Postgres for a test. A missing Postgres is counted as skipped.
import { reportSkipped } from '../../left-out.ts'
import { startLocalPostgres, type PostgresServer } from './local-postgres.ts'

export { runSqlQuery, type PostgresServer } from './local-postgres.ts'

/** Undefined without an installed Postgres, which is counted as skipped. */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  const server = await startLocalPostgres()
  if (server === undefined) reportSkipped('Postgres')
  return server
}
