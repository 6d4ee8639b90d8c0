// A database for a story. One database contains the tables, and every story gets a copy of it. All files of a worker
// share one server. An embedded database takes some four seconds of processor time for each story; a copy takes a
// hundredth of that.
import { openStore } from '../../../src/adapters/store/store.ts'
import { startPostgres, type PostgresServer } from './postgres-server.ts'
import { realTimeClock } from './sample-records.ts'

interface DatabaseTemplate {
  readonly server: PostgresServer
  readonly templateUrl: string
}

let sharedDatabaseTemplate: Promise<DatabaseTemplate | undefined> | undefined

/** The address of an unused database with its tables created. Undefined without an installed Postgres. */
export async function createStoryDatabase(): Promise<string | undefined> {
  sharedDatabaseTemplate ??= startTemplateDatabaseServer()
  const { server, templateUrl } = (await sharedDatabaseTemplate) ?? {}
  return templateUrl === undefined ? undefined : server?.database(templateUrl)
}

async function startTemplateDatabaseServer(): Promise<DatabaseTemplate | undefined> {
  const server = await startPostgres()
  if (server === undefined) return undefined
  const templateUrl = await server.database()
  await (await openStore({ databaseUrl: templateUrl, clock: realTimeClock })).close()
  return { server, templateUrl }
}
