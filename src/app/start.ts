import { join } from 'node:path'
import pino from 'pino'
import { serve, type RunningApp } from './serve.ts'
import { readSettings } from './settings.ts'
import { readKeptCredentials, setUp } from './setup/set-up.ts'
import { versionIn } from './version.ts'

const packageFolder = join(import.meta.dirname, '..', '..')

/** Redacted wherever they appear in a log. */
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
  /** Prints for the person at the terminal. */
  readonly say: (line: string) => void
}

/** Rejects with a SettingsError. Resolves when it serves the bot or the setup page. */
export async function start({ environment, say }: StartOptions): Promise<{ close(): Promise<void> }> {
  const kept = readKeptCredentials(environment.DATA_DIR ?? 'data')
  const settings = readSettings({ ...kept, ...environment })
  const log = pino({ level: settings.logLevel, redact: { paths: secret, censor: '[secret]' } })
  log.info(
    {
      version: versionIn(packageFolder),
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
      'nobody can sign in (CLIENT_ID, CLIENT_SECRET): the pages of private repositories are shown to nobody',
    )
  const serving = (app: RunningApp) =>
    say(
      `catalog-bot listens at ${app.address} and checks all open pull requests every ${settings.sweepSeconds} s.`,
    )
  if (settings.credentials === undefined) return setUp({ settings, log, say, onServing: serving })
  const app = await serve(settings, settings.credentials, log)
  serving(app)
  return app
}
