// The embedded database's process. PGlite uses hundreds of megabytes and blocks while a statement runs, so it runs in a
// separate process. The process holds the folder's lock, so the folder is free exactly when no process writes to it. It
// runs statements in the order received; the App's side decides that order.
import { execFile } from 'node:child_process'
import { existsSync, openAsBlob } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PGlite, parse, protocol } from '@electric-sql/pglite'
import { StoreError, type StoreErrorCode } from './database.ts'
import { lockDatabaseFolder } from './folder-lock.ts'

const startParams = [
  ...PGlite.defaultStartParams,
  // PGlite zeroes all of it at startup, and the default is 128 MB. The system caches the files, too.
  ...['-c', 'shared_buffers=16MB'],
]

/** Statements after which Postgres plans each of them again, because a plan for a small table stays in use when the table grows. */
const maxStatementsPerPlan = 1000

export type EmbeddedDatabaseRequest = { readonly id: number } & EmbeddedDatabaseCommand

export type EmbeddedDatabaseCommand =
  /** The first order. Without a directory: in memory. `timeoutMs`: the time to wait for the folder's lock. */
  | { readonly kind: 'open'; readonly directory: string | undefined; readonly timeoutMs: number }
  /** One statement with values, or any number without. `beginsTransaction`: starts a transaction first. */
  | {
      readonly kind: 'sql'
      readonly text: string
      readonly values?: readonly unknown[]
      readonly beginsTransaction?: boolean
    }
  /** The last order: the process ends after its answer. */
  | { readonly kind: 'close' }

export type EmbeddedDatabaseResponse =
  | { readonly id: number; readonly rows: readonly object[] }
  | { readonly id: number; readonly fault: SerializedError }

/** An error for the channel: `fields` holds Postgres details (`code`, `detail`, ...). */
export interface SerializedError {
  readonly message: string
  readonly storeCode?: StoreErrorCode
  readonly fields: Readonly<Record<string, string | number>>
}

let embeddedDatabase: PGlite | undefined
let releaseDatabaseFolderLock: () => void = () => undefined
let isInTransaction = false

async function executeDatabaseCommand(order: EmbeddedDatabaseCommand): Promise<readonly object[]> {
  if (order.kind === 'open') {
    await openDatabase(order.directory, order.timeoutMs)
    return []
  }
  if (!embeddedDatabase) throw new StoreError('failed', 'the database is not open')
  if (order.kind === 'close') {
    await embeddedDatabase.close()
    releaseDatabaseFolderLock()
    return []
  }
  if (order.beginsTransaction) {
    await embeddedDatabase.exec('BEGIN')
    isInTransaction = true
  }
  if (order.values) return runPreparedStatement(embeddedDatabase, order.text, order.values)
  return runSqlScript(embeddedDatabase, order.text)
}

async function openDatabase(directory: string | undefined, timeoutMs: number): Promise<void> {
  if (directory === undefined) {
    const archive = findInitializedDatabase()
    embeddedDatabase = await PGlite.create({
      startParams,
      ...(archive && { loadDataDir: await openAsBlob(archive) }),
    })
    return
  }
  await mkdir(directory, { recursive: true, mode: 0o700 })
  releaseDatabaseFolderLock = await lockDatabaseFolder(directory, timeoutMs)
  const folder = join(directory, 'postgres')
  if (!existsSync(folder)) await unpackInitializedDatabase(folder)
  embeddedDatabase = await PGlite.create(folder, { startParams })
}

/** The archive of a new database by PGlite's authors, which saves three seconds. Undefined where only dependencies of production are installed. */
function findInitializedDatabase(): string | undefined {
  const built = join(import.meta.dirname, 'postgres.tar.gz')
  if (existsSync(built)) return built
  try {
    const library = fileURLToPath(import.meta.resolve('@electric-sql/pglite-prepopulatedfs'))
    return join(dirname(library), 'prepopulatedfs.tgz')
  } catch {
    return undefined
  }
}

/** Renames the folder into place when it is complete, so that an interrupted start leaves no broken database. */
async function unpackInitializedDatabase(folder: string): Promise<void> {
  const archive = findInitializedDatabase()
  if (archive === undefined) return
  const draft = `${folder}.new`
  await rm(draft, { recursive: true, force: true })
  await mkdir(draft, { mode: 0o700 })
  try {
    await promisify(execFile)('tar', ['-xzf', archive, '-C', draft, '--no-same-owner'])
    await rename(draft, folder)
  } catch {
    // Without tar, PGlite makes the database.
    await rm(draft, { recursive: true, force: true })
  }
}

const preparedStatements = new Map<string, { name: string; parameterTypes: readonly number[] }>()
let lastStatementNumber = 0
let statementsSincePlanning = 0
const { serialize } = protocol

/**
 * Parses each text once, and plans it rarely. PGlite's `query` parses and plans it each time, in five more calls, and
 * takes twice as long.
 */
async function runPreparedStatement(
  on: PGlite,
  text: string,
  values: readonly unknown[],
): Promise<readonly object[]> {
  // A failed transaction accepts no statement.
  if ((statementsSincePlanning += 1) > maxStatementsPerPlan && !isInTransaction) {
    await on.exec('DISCARD PLANS')
    statementsSincePlanning = 0
  }
  const { name, parameterTypes } = preparedStatements.get(text) ?? (await prepareStatement(on, text))
  const parameters = values.map((value, index) =>
    value === null || value === undefined
      ? null
      : (on.serializers[parameterTypes[index] ?? 0] ?? String)(value),
  )
  const bound = [serialize.bind({ statement: name, values: parameters }), serialize.describe({ type: 'P' })]
  const messages = Buffer.concat([...bound, serialize.execute({}), serialize.sync()])
  return parse.parseResults(await on.execProtocolStream(messages), on.parsers)[0]?.rows ?? []
}

async function prepareStatement(on: PGlite, text: string) {
  const name = `s${(lastStatementNumber += 1)}`
  const parsed = [serialize.parse({ name, text }), serialize.describe({ type: 'S', name }), serialize.sync()]
  const described = await on.execProtocolStream(Buffer.concat(parsed))
  const statement = { name, parameterTypes: parse.parseDescribeStatementResults(described) }
  preparedStatements.set(text, statement)
  return statement
}

async function runSqlScript(on: PGlite, text: string): Promise<readonly object[]> {
  if (text === 'COMMIT' || text === 'ROLLBACK') isInTransaction = false
  try {
    return (await on.exec(text)).flatMap(({ rows }) => rows as object[])
  } catch (error) {
    // A failed script with BEGIN and COMMIT leaves its transaction open on the only connection.
    if (!isInTransaction) await on.exec('ROLLBACK').catch(() => undefined)
    throw error
  }
}

function serializeError(error: unknown): SerializedError {
  const fields: Record<string, string | number> = {}
  if (typeof error === 'object' && error !== null)
    for (const [name, value] of Object.entries(error))
      // PGlite adds the statement and its values to the error; they must not leave this process.
      if (!['message', 'stack', 'query'].includes(name))
        if (typeof value === 'string' || typeof value === 'number') fields[name] = value
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof StoreError ? { message, storeCode: error.code, fields: {} } : { message, fields }
}

// Without the App the process must end, because another App may wait for the folder. Postgres rolls back uncommitted
// work at the next start, as after any crash.
process.on('disconnect', () => process.exit())
// Ctrl-C and service managers signal the whole process group, but the App needs its database for an orderly shutdown.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

let lastDatabaseCommandPromise: Promise<void> = Promise.resolve()
process.on('message', (request: EmbeddedDatabaseRequest) => {
  lastDatabaseCommandPromise = lastDatabaseCommandPromise.then(async () => {
    let reply: EmbeddedDatabaseResponse
    try {
      reply = { id: request.id, rows: await executeDatabaseCommand(request) }
    } catch (error) {
      reply = { id: request.id, fault: serializeError(error) }
    }
    process.send?.(reply, undefined, undefined, () => {
      if (request.kind === 'close') process.disconnect()
    })
  })
})
