import { readFile } from 'node:fs/promises'
import pino from 'pino'
import type { RunningBotServer } from './serve.ts'
import { openEmbeddedDatabase } from '../adapters/store/embedded-database.ts'
import { readSavedAppCredentials } from '../jobs/saved-credentials.ts'
import { getStoreFolder, readSettings, SettingsError } from '../jobs/settings.ts'
import { parseClusterTargets } from '../cluster-test/process/cluster-targets.ts'
import { parsePushTargets } from '../publish/process/push-targets.ts'
import { readPackageVersion } from '../adapters/package-metadata.ts'

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
  /** Prints for the user at the terminal. */
  readonly print: (line: string) => void
}

/** Rejects with a SettingsError. Resolves when it serves catalog-bot or the setup page. */
export async function startBotFromEnvironment({
  environment,
  print,
}: StartBotOptions): Promise<{ close(): Promise<void> }> {
  const savedCredentials = readSavedAppCredentials(environment.DATA_DIR ?? 'data')
  const settings = readSettings({ ...savedCredentials, ...environment })
  const log = pino({ level: settings.logLevel, redact: { paths: redactedLogPaths, censor: '[secret]' } })
  log.info(
    {
      version: readPackageVersion(),
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
    print(
      `catalog-bot is listening on ${address} and checks all open pull requests every ${settings.sweepSeconds} s.`,
    )
    if (metricsUrl !== undefined) print(`Metrics are available at ${metricsUrl}.`)
  }
  await verifyAdministratorLists(environment)
  if (settings.credentials === undefined) {
    const { readRegistryAccess } = await import('../adapters/registry/registry-access.ts')
    // Otherwise, the server would fail with them after the setup.
    await readRegistryAccess(environment, settings.insecureRegistries)
    const { startSetup } = await import('./setup/set-up.ts')
    return startSetup({ settings, log, print, onServing: reportServing })
  }
  // The database opens while the modules of the server load, which takes as long.
  const opening =
    settings.databaseUrl === undefined
      ? openEmbeddedDatabase(getStoreFolder(settings.dataDirectory), {
          problem: (error) => log.error({ err: error }, 'the store failed'),
        })
      : undefined
  opening?.catch(() => undefined)
  const { startBotServer } = await import('./serve.ts')
  const app = await startBotServer(settings, settings.credentials, log, { ...(opening && { opening }) })
  reportServing(app)
  return app
}

/** Finds mistakes before the first order. The processes that hold the credentials read the lists again. */
async function verifyAdministratorLists(environment: StartBotOptions['environment']): Promise<void> {
  const parsers = { PUBLISH_TARGETS: parsePushTargets, CLUSTER_TARGETS: parseClusterTargets }
  for (const [name, parse] of Object.entries(parsers)) {
    const path = environment[name]
    // A list instead of its path may contain secrets.
    const shown = path?.includes('github') ? 'its value, which must be a path' : path
    const fail = () => Promise.reject(new SettingsError(`${name}: cannot read ${shown}`))
    if (path) parse(await readFile(path, 'utf8').catch(fail))
  }
}
