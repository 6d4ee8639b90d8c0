// A real Postgres server from the machine's own package, on a random port, for as long as its parent process runs.
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { findFreePort } from '../../../scripts/free-port.ts'

export interface PostgresServer {
  /** Address of a new database: empty, or a copy of another one without connections. */
  database(copyOf?: string): Promise<string>
  /** Ends all sessions at once, as a crash does. */
  stop(): Promise<void>
  start(): Promise<void>
  remove(): Promise<void>
}

const postgresPackagesDirectory = '/usr/lib/postgresql'

/** Undefined without an installed Postgres. */
export async function startLocalPostgres(): Promise<PostgresServer | undefined> {
  const bin = existsSync(postgresPackagesDirectory)
    ? readdirSync(postgresPackagesDirectory)
        .map((version) => join(postgresPackagesDirectory, version, 'bin'))
        .filter((path) => existsSync(join(path, 'initdb')))
        .at(-1)
    : undefined
  if (bin === undefined) return undefined
  // Postgres rejects running as root.
  const asRoot = process.getuid?.() === 0
  const as = ['setpriv', ...(asRoot ? ['--reuid=postgres', '--regid=postgres', '--clear-groups'] : [])]
  const folder = mkdtempSync(join(findAccessibleTempDirectory(as), 'catalog-bot-postgres-'))
  if (asRoot) {
    const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
    chownSync(folder, id('-u'), id('-g'))
  }
  const data = join(folder, 'data')
  const [program = '', ...args] = [
    ...as,
    join(bin, 'initdb'),
    '-D',
    data,
    '-U',
    'test',
    '-A',
    'trust',
    '--no-sync',
  ]
  execFileSync(program, args, { stdio: 'ignore', cwd: folder })
  const port = await findFreePort()
  const address = (database: string) => `postgres://test@127.0.0.1:${port}/${database}`
  let server: ChildProcess | undefined
  let made = 0

  const start = async () => {
    const options = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'fsync=off']
    const [program = '', ...args] = [
      ...as,
      // It ends with the tests, even if they crash.
      '--pdeathsig=QUIT',
      join(bin, 'postgres'),
      '-D',
      data,
      ...options.flatMap((option) => ['-c', option]),
    ]
    server = spawn(program, args, { stdio: 'ignore', cwd: folder })
    server.unref()
    for (let attempt = 0; attempt < 300; attempt++) {
      try {
        await runSqlQuery(address('postgres'), 'SELECT 1')
        return
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    throw new Error('Postgres does not answer')
  }
  const stop = async () => {
    const child = server
    if (!child || child.exitCode !== null) return
    const [program = '', ...args] = [...as, join(bin, 'pg_ctl'), '-D', data, '-m', 'immediate', '-w', 'stop']
    // Nothing waits for the server process except this promise.
    child.ref()
    const ended = new Promise((resolve) => child.once('exit', resolve))
    execFileSync(program, args, { stdio: 'ignore', cwd: folder })
    await ended
  }
  await start()
  return {
    start,
    stop,
    database: async (copyOf) => {
      const name = `store_${++made}`
      const template = copyOf === undefined ? '' : ` TEMPLATE ${new URL(copyOf).pathname.slice(1)}`
      await runSqlQuery(address('postgres'), `CREATE DATABASE ${name}${template}`)
      return address(name)
    },
    remove: async () => {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** A temporary directory that the account can access, because root owns the directory that mktemp creates for root. */
function findAccessibleTempDirectory(as: readonly string[]): string {
  const reaches = (location: string) => {
    const [program = 'test', ...args] = [...as, 'test', '-x', location]
    return spawnSync(program, args, { cwd: '/' }).status === 0
  }
  return [tmpdir(), '/var/tmp', '/tmp'].find(reaches) ?? tmpdir()
}

export async function runSqlQuery(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text)).rows
  } finally {
    await client.end()
  }
}
