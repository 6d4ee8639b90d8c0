// A database for a story: the tables are made in one, and every story gets a copy of it. One server for all files of a worker.
// An embedded database takes some four seconds of the processor for each story, this a hundredth of that.
import { openStore } from '../../../src/adapters/store/store.ts'
import { startPostgres, type PostgresServer } from './postgres-server.ts'
import { systemTestClock } from './sample-records.ts'

interface DatabaseTemplate {
  readonly server: PostgresServer
  readonly templateUrl: string
}

let sharedTemplate: Promise<DatabaseTemplate | undefined> | undefined

/** The address of a database that nobody has used, its tables made. Undefined: there is no Postgres here. */
export async function createStoryDatabase(): Promise<string | undefined> {
  sharedTemplate ??= startTemplateServer()
  const { server, templateUrl } = (await sharedTemplate) ?? {}
  return templateUrl === undefined ? undefined : server?.database(templateUrl)
}

async function startTemplateServer(): Promise<DatabaseTemplate | undefined> {
  const server = await startPostgres()
  if (server === undefined) return undefined
  const templateUrl = await server.database()
  await (await openStore({ databaseUrl: templateUrl, clock: systemTestClock })).close()
  return { server, templateUrl }
}
