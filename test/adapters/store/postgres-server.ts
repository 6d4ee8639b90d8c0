// The machine's own Postgres for a test: where there is none, that is counted as left out.
import { reportSkipped } from '../../left-out.ts'
import { startLocalPostgres, type PostgresServer } from './local-postgres.ts'

export { runQuery, type PostgresServer } from './local-postgres.ts'

/** Undefined where there is no Postgres, which is counted as left out. */
export async function startPostgres(): Promise<PostgresServer | undefined> {
  const server = await startLocalPostgres()
  if (server === undefined) reportSkipped('Postgres')
  return server
}
