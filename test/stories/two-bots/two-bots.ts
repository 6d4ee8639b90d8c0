// Two processes of the bot on one Postgres, and the sandbox's GitHub and registry as servers: the production entry point,
// as an operator with several instances runs it. Knows nothing of what happens to them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBot, type BotProcess } from '../../../sandbox/demo/bot-process.ts'
import { openBotWorld, type BotWorld } from '../../../sandbox/demo/bot-world.ts'
import { publishImages, readFixture, repositoryName } from '../../../sandbox/demo/demo-world.ts'
import { configPath, furnishPublishing } from '../../../sandbox/demo/furnish-publishing.ts'
import type { Repo } from '../../../sandbox/github/world.ts'
import { keptCompiled } from '../../kept-compiled.ts'
import { withDescendants } from './processes.ts'
import { openWebhookDoor } from './webhook-door.ts'

/** Where one instance runs, again and again. */
export interface Seat {
  readonly name: string
  readonly dataDirectory: string
  /** Undefined while none runs. */
  running: BotProcess | undefined
  /** The last lines that its processes logged. */
  readonly log: string[]
}

export interface TwoBots extends Pick<BotWorld, 'github' | 'registry'> {
  readonly repository: Repo
  readonly database: string
  readonly seats: readonly Seat[]
  /** The text of a package's catalog as it began. */
  readonly textOf: (packageName: string) => string
  start(seat: Seat): Promise<void>
  /** Ends what runs there and says which processes that were. */
  end(seat: Seat, signal: 'SIGKILL' | 'SIGTERM'): Promise<readonly number[]>
  close(): Promise<void>
}

export interface TwoBotsOptions {
  /** Each has an owner: see ownerOf(). */
  readonly packages: readonly string[]
  readonly databaseUrl: string
  readonly publishes: boolean
  readonly environment?: Readonly<Record<string, string>>
  readonly sweepSeconds: number
}

export const ownerOf = (packageName: string): string => `owner-of-${packageName}`
export const pathOf = (packageName: string): string => `catalogs/v4.20/${packageName}/catalog.yaml`

const mostLines = 3000

export async function openTwoBots(options: TwoBotsOptions): Promise<TwoBots> {
  const { packages, databaseUrl: database, sweepSeconds } = options
  const directory = await mkdtemp(join(tmpdir(), 'two-bots-'))
  // How much is asked is told in the end; what happens without an hour's worth left is another story.
  const world = await openBotWorld({ directory, sweepSeconds, hourlyLimit: 10_000_000 })
  const { github, registry } = world
  const seats: Seat[] = ['first', 'second'].map((name) => ({
    name,
    dataDirectory: join(directory, name),
    running: undefined,
    log: [],
  }))
  const door = await openWebhookDoor(() => seats.flatMap(({ running }) => running?.address ?? []))
  // However the command ends, they end with it.
  const endAll = () => seats.forEach(({ running }) => running?.process.kill('SIGKILL'))
  process.once('exit', endAll)
  const close = async () => {
    process.off('exit', endAll)
    for (const { running } of seats) await running?.kill('SIGKILL')
    await door.stop()
    await world.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    const fixture = readFixture(registry.host)
    const textOf = (name: string) =>
      (fixture['catalogs/v4.20/lighthouse/catalog.yaml'] ?? '').replaceAll('lighthouse', name)
    const publishing = options.publishes ? furnishPublishing(registry, directory) : undefined
    const files: Record<string, string> = {
      [configPath]: `${fixture[configPath] ?? ''}${publishing?.config ?? ''}`,
      // A second catalog, which no pull request touches.
      'catalogs/v4.19/steady/catalog.yaml': textOf('steady'),
    }
    for (const login of ['harbormaster', 'mallory']) github.createUser(login)
    for (const name of packages) {
      github.createUser(ownerOf(name))
      files[pathOf(name)] = textOf(name)
      files[`operators/${name}/ci.yaml`] = `reviewers:\n  - ${ownerOf(name)}\n`
    }
    for (const [path, text] of Object.entries(files))
      if (path.startsWith('catalogs/')) publishImages(registry, text)
    github.createOrganization('coast', ['harbormaster'])
    const repository = await github.createRepository('coast', 'operators', { files })
    github.createWorkflow(repositoryName, 'build-catalogs.yml', {
      dispatchTypes: ['catalog-changed'],
      milliseconds: 300,
    })
    const environment = {
      ...world.installBot(repositoryName),
      ...publishing?.environment,
      DATABASE_URL: database,
      CATALOG_BOT_CACHE: keptCompiled,
      ...options.environment,
    }
    github.sendWebhooksTo(door.url)
    return {
      github,
      registry,
      repository,
      database,
      seats,
      textOf,
      async start(seat) {
        seat.running = await startBot({
          environment: { ...environment, DATA_DIR: seat.dataDirectory },
          onLog: (line) => {
            seat.log.push(line)
            if (seat.log.length > mostLines) seat.log.splice(0, mostLines / 10)
          },
        })
      },
      async end(seat, signal) {
        const { running } = seat
        seat.running = undefined
        const processes = running?.process.pid === undefined ? [] : withDescendants(running.process.pid)
        await running?.kill(signal)
        return processes
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
