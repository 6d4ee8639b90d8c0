// Shows the setup page until an App exists, then starts the bot with a page that lists its installations.
import { randomUUID } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { parse } from 'yaml'
import { systemClock } from '../../examine/system-clock.ts'
import { installedPage } from '../../web/setup/installed-page.ts'
import { makeWord } from '../../web/setup/one-time-word.ts'
import { showSetupPage, type CreatedApp } from '../../web/setup/setup-page.ts'
import { serve, type RunningApp } from '../serve.ts'
import type { Credentials, Settings } from '../settings.ts'
import { describeInstalled } from './describe-installed.ts'

/** Milliseconds after the App's creation for which the token shows its installations. */
const setupTime = 60 * 60_000

export interface SetUpOptions {
  readonly settings: Settings
  readonly log: Logger
  readonly say: (line: string) => void
  readonly onServing: (app: RunningApp) => void
}

/** Resolves when the page is served. Rejects if the port is taken. */
export async function setUp({
  settings,
  log,
  say,
  onServing,
}: SetUpOptions): Promise<{ close(): Promise<void> }> {
  // Checked first, because GitHub returns the App's key only once.
  rejectLink(join(settings.dataDirectory, environmentFile))
  const word = makeWord()
  let running: RunningApp | undefined
  const page = await showSetupPage({
    host: settings.setupHost,
    port: settings.port,
    word,
    gitUrl: settings.gitUrl,
    apiUrl: settings.apiUrl,
    publicUrl: settings.publicUrl,
    sweepSeconds: settings.sweepSeconds,
    manifest: readManifest(),
    onCreated: async (app) => {
      const file = keepCredentials(app, settings.dataDirectory)
      say(`The App ${app.slug} (${app.id}) was created; its credentials are in ${file}.`)
      // Send this response first.
      setTimeout(() => {
        goOn(app).catch((error: unknown) =>
          say(`The bot could not start: ${error instanceof Error ? error.message : String(error)}`),
        )
      }, 500)
    },
  })

  async function goOn(app: CreatedApp): Promise<void> {
    await page.close()
    const credentials: Credentials = { appId: app.id, privateKey: app.pem, webhookSecret: app.webhookSecret }
    running = await serve({ ...settings, credentials, port: page.port }, credentials, log, {
      page: (github) =>
        installedPage({
          word,
          appUrl: app.url,
          gitUrl: settings.gitUrl,
          now: () => systemClock.now(),
          until: systemClock.now() + setupTime,
          describe: () => describeInstalled(github),
        }),
    })
    onServing(running)
  }

  say('The bot has no credentials yet (APP_ID, PRIVATE_KEY, WEBHOOK_SECRET).')
  for (const line of whereToGo(settings, page.port, word)) say(line)
  return {
    async close() {
      await page.close().catch(() => undefined)
      await running?.close()
    },
  }
}

function whereToGo({ setupHost }: Settings, port: number, word: string): readonly string[] {
  const path = `/setup?word=${word}`
  const local = `http://localhost:${port}${path}`
  return setupHost === '127.0.0.1'
    ? [
        `Open this address on this machine to create the GitHub App: ${local}`,
        'In a container, or on another machine: start it with SETUP=1, and the page can be reached from outside.',
      ]
    : [
        `Open this address to create the GitHub App: ${local}`,
        'From elsewhere: the same with the name and port by which this machine is reached. Whoever has the whole address can create the App: keep it to yourself.',
      ]
}

function readManifest(): Readonly<Record<string, unknown>> {
  const file = join(import.meta.dirname, '..', '..', '..', 'app.yml')
  return parse(readFileSync(file, 'utf8')) as Record<string, unknown>
}

const environmentFile = 'credentials.env'

/** Writes the credentials readable by this account only. Returns the file's path. */
export function keepCredentials(app: CreatedApp, dataDirectory: string): string {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 })
  const file = join(dataDirectory, environmentFile)
  const values = {
    APP_ID: String(app.id),
    PRIVATE_KEY: app.pem.replaceAll('\n', '\\n'),
    WEBHOOK_SECRET: app.webhookSecret,
    ...(app.client && { CLIENT_ID: app.client.id, CLIENT_SECRET: app.client.secret }),
  }
  writePrivateFile(
    file,
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )
  return file
}

/** Creates a new file, so that old permissions and open handles do not expose the content. */
function writePrivateFile(file: string, text: string): void {
  rejectLink(file)
  const draft = `${file}.${randomUUID()}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}

function rejectLink(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(
      `${file} is a symbolic link; remove it: catalog-bot writes credentials only to a regular file`,
    )
}

/** Returns the credentials of an earlier setup as variables. */
export function readKeptCredentials(dataDirectory: string): Record<string, string> {
  const file = join(dataDirectory, environmentFile)
  if (!existsSync(file)) return {}
  return Object.fromEntries(
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => /^([A-Z_]+)=(.*)$/.exec(line))
      .flatMap((match) => (match?.[1] !== undefined && match[2] !== undefined ? [[match[1], match[2]]] : [])),
  )
}
