// `catalog-bot serve`: reads the settings, shows the setup page where there are no credentials yet, and serves.
import pino from 'pino'
import { serve, type RunningApp } from './serve.ts'
import { readSettings } from './settings.ts'
import { readKeptCredentials, setUp } from './setup/set-up.ts'

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
  const kept = readKeptCredentials(environment.DATA_DIR ?? 'data')
  const settings = readSettings({ ...kept, ...environment })
  const log = pino({ level: settings.logLevel, redact: { paths: secret, censor: '[secret]' } })
  const serving = (app: RunningApp) =>
    say(
      `catalog-bot listens at ${app.address} and checks all open pull requests every ${settings.sweepSeconds} s.`,
    )
  if (settings.credentials === undefined) return setUp({ settings, log, say, onServing: serving })
  const app = await serve(settings, settings.credentials, log)
  serving(app)
  return app
}
