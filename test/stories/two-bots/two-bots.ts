// Two processes of the bot on one Postgres, with the sandbox's GitHub and registry as servers, using the production
// entry point as an operator with several instances does. The tests decide what happens to them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildCatalogBotCli } from '../../../bench/built-command.ts'
import { startBotProcess, type BotProcess } from '../../../sandbox/demo/bot-process.ts'
import { startBotEnvironment, type BotEnvironment } from '../../../sandbox/demo/bot-environment.ts'
import {
  pushCatalogImages,
  readDemoCatalogFiles,
  demoRepositoryName,
} from '../../../sandbox/demo/demo-environment.ts'
import { botConfigPath, setUpCatalogPublishing } from '../../../sandbox/demo/set-up-publishing.ts'
import type { MockRepository } from '../../../sandbox/github/github-data.ts'
import { compileCacheDirectory } from '../../compile-cache.ts'
import { listProcessTree } from '../../processes.ts'
import { startWebhookBalancer } from './webhook-balancer.ts'

const builtCommand = await buildCatalogBotCli()

/** A slot in which one instance runs at a time, and is restarted. */
export interface BotInstance {
  readonly name: string
  readonly dataDirectory: string
  /** Undefined while none runs. */
  running: BotProcess | undefined
  /** The last log lines of its processes. */
  readonly log: string[]
}

export interface TwoBotsEnvironment extends Pick<BotEnvironment, 'github' | 'registry'> {
  readonly repository: MockRepository
  readonly database: string
  readonly instances: readonly BotInstance[]
  /** The initial text of a package's catalog. */
  readonly textOf: (packageName: string) => string
  start(seat: BotInstance): Promise<void>
  /** Ends the running processes and returns which ones they were. */
  end(seat: BotInstance, signal: 'SIGKILL' | 'SIGTERM'): Promise<readonly number[]>
  close(): Promise<void>
}

export interface TwoBotsEnvironmentOptions {
  /** Each has an owner: see ownerOf(). */
  readonly packages: readonly string[]
  readonly databaseUrl: string
  readonly publishes: boolean
  readonly environment?: Readonly<Record<string, string>>
  readonly sweepSeconds: number
}

export const getPackageOwner = (packageName: string): string => `owner-of-${packageName}`
export const getCatalogPath = (packageName: string): string => `catalogs/v4.20/${packageName}/catalog.yaml`

const maxBufferedLogLines = 3000

export async function startTwoBotsEnvironment(
  options: TwoBotsEnvironmentOptions,
): Promise<TwoBotsEnvironment> {
  const { packages, databaseUrl: database, sweepSeconds } = options
  const directory = await mkdtemp(join(tmpdir(), 'two-bots-'))
  // The number of requests is reported at the end. Exhausting the hourly limit is another story.
  const servers = await startBotEnvironment({ directory, sweepSeconds, hourlyLimit: 10_000_000 })
  const { github, registry } = servers
  const instances: BotInstance[] = ['first', 'second'].map((name) => ({
    name,
    dataDirectory: join(directory, name),
    running: undefined,
    log: [],
  }))
  const balancer = await startWebhookBalancer(() => instances.flatMap(({ running }) => running?.url ?? []))
  // They end with the command, even if it crashes.
  const endAll = () => instances.forEach(({ running }) => running?.process.kill('SIGKILL'))
  process.once('exit', endAll)
  const close = async () => {
    process.off('exit', endAll)
    for (const { running } of instances) await running?.kill('SIGKILL')
    await balancer.stop()
    await servers.stop()
    await rm(directory, { recursive: true, force: true, maxRetries: 10 })
  }
  try {
    const fixture = readDemoCatalogFiles(registry.host)
    const textOf = (name: string) =>
      (fixture['catalogs/v4.20/lighthouse/catalog.yaml'] ?? '').replaceAll('lighthouse', name)
    const publishing = options.publishes ? setUpCatalogPublishing(registry, directory) : undefined
    const files: Record<string, string> = {
      [botConfigPath]: `${fixture[botConfigPath] ?? ''}${publishing?.config ?? ''}`,
      // A second catalog, which no pull request touches.
      'catalogs/v4.19/steady/catalog.yaml': textOf('steady'),
    }
    for (const login of ['harbormaster', 'mallory']) github.createUser(login)
    for (const name of packages) {
      github.createUser(getPackageOwner(name))
      files[getCatalogPath(name)] = textOf(name)
      files[`operators/${name}/ci.yaml`] = `reviewers:\n  - ${getPackageOwner(name)}\n`
    }
    for (const [path, text] of Object.entries(files))
      if (path.startsWith('catalogs/')) pushCatalogImages(registry, text)
    github.createOrganization('coast', ['harbormaster'])
    const repository = await github.createRepository('coast', 'operators', { files })
    github.createWorkflow(demoRepositoryName, 'build-catalogs.yml', {
      dispatchTypes: ['catalog-changed'],
      milliseconds: 300,
    })
    const environment = {
      ...servers.installBot(demoRepositoryName),
      ...publishing?.environment,
      DATABASE_URL: database,
      CATALOG_BOT_CACHE: compileCacheDirectory,
      ...options.environment,
    }
    github.sendWebhooksTo(balancer.url)
    return {
      github,
      registry,
      repository,
      database,
      instances,
      textOf,
      async start(seat) {
        seat.running = await startBotProcess({
          command: builtCommand,
          environment: { ...environment, DATA_DIR: seat.dataDirectory },
          onLog: (line) => {
            seat.log.push(line)
            if (seat.log.length > maxBufferedLogLines) seat.log.splice(0, maxBufferedLogLines / 10)
          },
        })
      },
      async end(seat, signal) {
        const { running } = seat
        seat.running = undefined
        const processes = running?.process.pid === undefined ? [] : listProcessTree(running.process.pid)
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
