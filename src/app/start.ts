// `catalog-bot serve`: reads the settings, shows the setup page where there are no credentials yet, and serves.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { parse } from 'yaml'
import { showSetupPage, type CreatedApp } from '../web/setup-page.ts'
import { serve, type RunningApp } from './serve.ts'
import { readSettings, type Credentials, type Settings } from './settings.ts'

/** Fields that must never reach a log, wherever they stand. */
const secret = [
  '*.privateKey',
  '*.webhookSecret',
  '*.token',
  '*.password',
  '*.headers.authorization',
  'err.request.headers',
  'err.response.headers',
  'err.cause.request',
  'err.cause.response',
]

export interface StartOptions {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Tells the person at the terminal; the log is for machines. */
  readonly say: (line: string) => void
}

/** Rejects with a SettingsError when the environment cannot be used. Resolves once it serves or shows the setup page. */
export async function start({ environment, say }: StartOptions): Promise<{ close(): Promise<void> }> {
  const settings = readSettings({ ...readEnvironmentFile(environment.DATA_DIR ?? 'data'), ...environment })
  const log = pino({ level: settings.logLevel, redact: { paths: secret, censor: '[secret]' } })
  const run = async (credentials: Credentials): Promise<RunningApp> => {
    const app = await serve(settings, credentials, log)
    say(
      `catalog-bot listens at ${app.address} and checks all open pull requests every ${settings.sweepSeconds} s.`,
    )
    return app
  }
  if (settings.credentials !== undefined) return run(settings.credentials)
  return setUp(settings, run, say)
}

async function setUp(
  settings: Settings,
  run: (credentials: Credentials) => Promise<RunningApp>,
  say: (line: string) => void,
) {
  let running: RunningApp | undefined
  const page = await showSetupPage({
    host: '127.0.0.1',
    port: settings.port,
    gitUrl: settings.gitUrl,
    apiUrl: settings.apiUrl,
    manifest: parse(readFileSync(join(import.meta.dirname, '..', '..', 'app.yml'), 'utf8')) as Record<
      string,
      unknown
    >,
    onCreated: async (app) => {
      const file = keepCredentials(app, settings.dataDirectory)
      say(`The App ${app.slug} (${app.id}) was created; its credentials are in ${file}.`)
      setTimeout(() => {
        page
          .close()
          .then(() => run({ appId: app.id, privateKey: app.pem, webhookSecret: app.webhookSecret }))
          .then((started) => (running = started))
          .catch((error: unknown) =>
            say(`The bot could not start: ${error instanceof Error ? error.message : String(error)}`),
          )
      }, 500)
    },
  })
  say('The bot has no credentials yet (APP_ID, PRIVATE_KEY, WEBHOOK_SECRET).')
  say(`Open this address on this machine to create the GitHub App: ${page.address}`)
  return {
    async close() {
      await page.close().catch(() => undefined)
      await running?.close()
    },
  }
}

const environmentFile = 'credentials.env'

/** Writes the new App's credentials where only this account can read them. Returns the file's path. */
function keepCredentials(app: CreatedApp, dataDirectory: string): string {
  mkdirSync(dataDirectory, { recursive: true })
  const file = join(dataDirectory, environmentFile)
  const values = {
    APP_ID: String(app.id),
    PRIVATE_KEY: app.pem.replaceAll('\n', '\\n'),
    WEBHOOK_SECRET: app.webhookSecret,
  }
  writeFileSync(
    file,
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
    { mode: 0o600 },
  )
  chmodSync(file, 0o600)
  return file
}

function readEnvironmentFile(dataDirectory: string): Record<string, string> {
  const file = join(dataDirectory, environmentFile)
  if (!existsSync(file)) return {}
  return Object.fromEntries(
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => /^([A-Z_]+)=(.*)$/.exec(line))
      .flatMap((match) => (match?.[1] !== undefined && match[2] !== undefined ? [[match[1], match[2]]] : [])),
  )
}
