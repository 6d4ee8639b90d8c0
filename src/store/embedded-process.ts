// The embedded database's own process: PGlite, a Postgres in WebAssembly, which takes hundreds of megabytes and stands
// still while a statement runs. The App's process starts it, sends statements over the channel between the two and gets
// rows back. It has the folder's lock, so the folder is free exactly when nobody writes there any more.
// It decides nothing: statements are run in the order they come, and whose turn it is the App's side says.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { lockFolder } from './folder-lock.ts'
import { StoreError, type StoreErrorCode } from './store-error.ts'

export type Request = { readonly id: number } & Order

export type Order =
  /** The first one. Without a directory: in memory. `patience` in milliseconds, for the folder's lock. */
  | { readonly kind: 'open'; readonly directory: string | undefined; readonly patience: number }
  /** One statement with values, or without any (then any number of statements). `begins`: a transaction before it. */
  | {
      readonly kind: 'sql'
      readonly text: string
      readonly values?: readonly unknown[]
      readonly begins?: boolean
    }
  /** The last one: the process ends after its answer. */
  | { readonly kind: 'close' }

export type Reply =
  { readonly id: number; readonly rows: readonly object[] } | { readonly id: number; readonly fault: Fault }

/** An error as the channel carries it: `fields` are what Postgres says besides (`code`, `detail`, ...). */
export interface Fault {
  readonly message: string
  readonly storeCode?: StoreErrorCode
  readonly fields: Readonly<Record<string, string | number>>
}

let database: PGlite | undefined
let unlock: () => void = () => undefined
/** A BEGIN of ours is open. */
let inTransaction = false

async function perform(order: Order): Promise<readonly object[]> {
  if (order.kind === 'open') {
    await open(order.directory, order.patience)
    return []
  }
  if (!database) throw new StoreError('failed', 'the database is not open')
  if (order.kind === 'close') {
    await database.close()
    unlock()
    return []
  }
  if (order.begins) {
    await database.exec('BEGIN')
    inTransaction = true
  }
  if (order.values) return (await database.query<object>(order.text, [...order.values])).rows
  return script(database, order.text)
}

async function open(directory: string | undefined, patience: number): Promise<void> {
  if (directory === undefined) {
    database = await PGlite.create()
    return
  }
  await mkdir(directory, { recursive: true, mode: 0o700 })
  unlock = await lockFolder(directory, patience)
  database = await PGlite.create(join(directory, 'postgres'))
}

async function script(on: PGlite, text: string): Promise<readonly object[]> {
  if (text === 'COMMIT' || text === 'ROLLBACK') inTransaction = false
  try {
    return (await on.exec(text)).flatMap(({ rows }) => rows as object[])
  } catch (error) {
    // Several statements, BEGIN and COMMIT among them: one that fails leaves its transaction open on the only
    // connection there is.
    if (!inTransaction) await on.exec('ROLLBACK').catch(() => undefined)
    throw error
  }
}

function asFault(error: unknown): Fault {
  const fields: Record<string, string | number> = {}
  if (typeof error === 'object' && error !== null)
    for (const [name, value] of Object.entries(error))
      // PGlite adds the statement and its values to the error; those stay here.
      if (!['message', 'stack', 'query'].includes(name))
        if (typeof value === 'string' || typeof value === 'number') fields[name] = value
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof StoreError ? { message, storeCode: error.code, fields: {} } : { message, fields }
}

// Nothing may go on once the App is gone: another one waits for the folder. What was not committed is rolled back when
// the folder is opened again, as after any crash.
process.on('disconnect', () => process.exit())
// A terminal's Ctrl-C and a service manager's stop reach every process of the group. The App ends in order and needs its
// database for that.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

let last: Promise<void> = Promise.resolve()
process.on('message', (request: Request) => {
  last = last.then(async () => {
    let reply: Reply
    try {
      reply = { id: request.id, rows: await perform(request) }
    } catch (error) {
      reply = { id: request.id, fault: asFault(error) }
    }
    process.send?.(reply, undefined, undefined, () => {
      if (request.kind === 'close') process.disconnect()
    })
  })
})
