// A database for a story: the tables are made in one, and every story gets a copy of it. One server for all files of a worker.
// An embedded database takes some four seconds of the processor for each story, this a hundredth of that.
import { openStore } from '../../src/store/store.ts'
import { startPostgres, type PostgresServer } from './postgres-server.ts'
import { clock } from './sample-records.ts'

interface Kept {
  readonly server: PostgresServer
  readonly made: string
}

let kept: Promise<Kept | undefined> | undefined

/** The address of a database that nobody has used, its tables made. Undefined: there is no Postgres here. */
export async function storyDatabase(): Promise<string | undefined> {
  kept ??= start()
  const { server, made } = (await kept) ?? {}
  return made === undefined ? undefined : server?.database(made)
}

async function start(): Promise<Kept | undefined> {
  const server = await startPostgres()
  if (server === undefined) return undefined
  const made = await server.database()
  await (await openStore({ databaseUrl: made, clock })).close()
  return { server, made }
}
