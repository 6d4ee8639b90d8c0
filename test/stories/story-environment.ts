// The demo's environment with a bot process, for stories.
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { buildCatalogBotCli } from '../../bench/built-command.ts'
import { getStoreFolder } from '../../src/jobs/settings.ts'
import { startBotProcess, type BotProcessOptions, type BotProcess } from '../../sandbox/demo/bot-process.ts'
import {
  startDemoEnvironment,
  type DemoEnvironment,
  type DemoEnvironmentOptions,
} from '../../sandbox/demo/demo-environment.ts'
import { copyPreparedStore } from '../adapters/store/prepared-store.ts'
import { createStoryDatabase } from '../adapters/store/story-database.ts'
import { compileCacheDirectory } from '../compile-cache.ts'
import { getTrafficValidator } from '../sandbox/github/traffic-validator.ts'

export interface StoryEnvironment {
  readonly demo: DemoEnvironment
  /** The running bot. */
  readonly bot: () => BotProcess
  /** Starts a bot, with these variables on top; webhooks go to it. */
  start(environment?: Readonly<Record<string, string>>): Promise<BotProcess>
  /** The bot's log so far. */
  readonly log: string[]
  /** Waits until `holds` is true. Fails with `what` and the end of the log after this many seconds, 90 by default. */
  waitUntil(what: string, holds: () => boolean | Promise<boolean>, seconds?: number): Promise<void>
  close(): Promise<void>
}

export interface StoryOptions extends Partial<DemoEnvironmentOptions> {
  readonly environment?: Record<string, string>
  /** Keeps the store in the bot's data folder even if Postgres is installed. */
  readonly embedded?: boolean
  /** Compares all traffic with GitHub's OpenAPI document. */
  readonly validateTraffic?: boolean
}

export async function startStoryEnvironment({
  validateTraffic,
  embedded = false,
  ...options
}: StoryOptions = {}): Promise<StoryEnvironment> {
  const directory = await mkdtemp(join(tmpdir(), 'story-'))
  const validator = validateTraffic === true ? getTrafficValidator() : undefined
  const demo = await startDemoEnvironment({ directory, ...(validator && { validator }), ...options })
  const log: string[] = []
  let running: BotProcess | undefined
  return {
    demo,
    log,
    waitUntil: (what, holds, seconds = 90) => waitUntil(what, holds, seconds, log),
    bot: () => {
      if (running === undefined) throw new Error('no bot was started')
      return running
    },
    async start(environment = {}) {
      running = await startStoryBot({
        embedded,
        environment: { ...demo.environment, ...options.environment, ...environment },
        onLog: (line) => log.push(line),
      })
      demo.github.sendWebhooksTo(`${running.url}/api/github/webhooks`)
      return running
    },
    async close() {
      await running?.kill('SIGKILL')
      await demo.stop()
      await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

/** Built before the tests start, because a hook would time out on a busy machine. */
export const builtCommand = await buildCatalogBotCli()

/** Databases by the bot's data folder, so that a restarted bot continues with its database. */
const databaseUrlByDataFolder = new Map<string, Promise<string | undefined>>()

/** Starts a bot. A new one gets a prepared store: in Postgres if it is installed, unless `embedded`, else in its data folder. */
export async function startStoryBot(
  options: BotProcessOptions & { readonly embedded?: boolean },
): Promise<BotProcess> {
  const folder = options.environment['DATA_DIR'] ?? ''
  const store = getStoreFolder(folder)
  let database: string | undefined
  if (options.embedded !== true && !existsSync(store)) {
    if (!databaseUrlByDataFolder.has(folder)) databaseUrlByDataFolder.set(folder, createStoryDatabase())
    database = await databaseUrlByDataFolder.get(folder)
  }
  if (database === undefined && !existsSync(store)) await copyPreparedStore(store)
  const environment = {
    CATALOG_BOT_CACHE: compileCacheDirectory,
    ...(database && { DATABASE_URL: database }),
  }
  return startBotProcess({
    command: builtCommand,
    ...options,
    environment: { ...environment, ...options.environment },
  })
}

/** Waits until `holds` is true. Fails with `what` and the end of the log after this many seconds. */
export async function waitUntil(
  what: string,
  holds: () => boolean | Promise<boolean>,
  seconds: number,
  log: readonly string[] = [],
): Promise<void> {
  const end = performance.now() + seconds * 1000
  while (!(await holds())) {
    if (performance.now() > end)
      throw new Error(`not within ${seconds} s: ${what}\n${log.slice(-15).join('\n')}`)
    await pause(50)
  }
}
