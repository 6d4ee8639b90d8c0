import { join } from 'node:path'
import pino from 'pino'
import { startBotServer, type RunningBotServer } from './serve.ts'
import { readSavedAppCredentials } from '../jobs/saved-credentials.ts'
import { readSettings } from '../jobs/settings.ts'
import { startSetup } from './setup/set-up.ts'
import { readPackageVersion } from '../adapters/package-metadata.ts'

const npmPackageFolder = join(import.meta.dirname, '..', '..')

/** Redacted wherever they appear in a log. */
const redactedLogPaths = [
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

export interface StartBotOptions {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Prints for the person at the terminal. */
  readonly say: (line: string) => void
}

/** Rejects with a SettingsError. Resolves when it serves the bot or the setup page. */
export async function startBotFromEnvironment({
  environment,
  say,
}: StartBotOptions): Promise<{ close(): Promise<void> }> {
  const savedCredentials = readSavedAppCredentials(environment.DATA_DIR ?? 'data')
  const settings = readSettings({ ...savedCredentials, ...environment })
  const log = pino({ level: settings.logLevel, redact: { paths: redactedLogPaths, censor: '[secret]' } })
  log.info(
    {
      version: readPackageVersion(npmPackageFolder),
      node: process.version,
      data: settings.databaseUrl === undefined ? settings.dataDirectory : 'a Postgres server',
      github: settings.gitUrl,
      pages: settings.pages,
      address: settings.publicUrl,
      credentials: settings.credentials === undefined ? 'none yet' : 'there',
    },
    'starting',
  )
  if (settings.pages !== 'off' && settings.publicUrl !== undefined && settings.signIn === undefined)
    log.warn(
      'no one can sign in or view pages of private repositories, because CLIENT_ID or CLIENT_SECRET is not set, or PUBLIC_URL does not start with https://',
    )
  const reportServing = ({ address, metricsUrl }: RunningBotServer) => {
    say(
      `catalog-bot is listening on ${address} and checks all open pull requests every ${settings.sweepSeconds} s.`,
    )
    if (metricsUrl !== undefined) say(`Metrics are available at ${metricsUrl}.`)
  }
  if (settings.credentials === undefined) return startSetup({ settings, log, say, onServing: reportServing })
  const app = await startBotServer(settings, settings.credentials, log)
  reportServing(app)
  return app
}
