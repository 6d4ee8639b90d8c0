// The App's credentials as the setup page stores them: variables in a file that only this account can read.
import { randomUUID } from 'node:crypto'
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface SavedAppCredentials {
  readonly id: number
  readonly pem: string
  readonly webhookSecret: string
  /** The App's OAuth client; absent if GitHub returns none. */
  readonly client?: { readonly id: string; readonly secret: string }
}

const getAppCredentialsPath = (dataDirectory: string): string => join(dataDirectory, 'credentials.env')

/**
 * Writes the credentials readable by this account only, in a form that shells, systemd, and `--env-file` read alike: the key is
 * in base64, so no value needs quotes. Returns the file's path.
 */
export function saveAppCredentials(app: SavedAppCredentials, dataDirectory: string): string {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 })
  const file = getAppCredentialsPath(dataDirectory)
  const values = {
    APP_ID: String(app.id),
    PRIVATE_KEY: Buffer.from(app.pem).toString('base64'),
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
  rejectSymlink(file)
  const draft = `${file}.${randomUUID()}`
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx', flush: true })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Throws if the credentials could not be stored safely. GitHub returns an App's key only once. */
export function assertSafeCredentialsFile(dataDirectory: string): void {
  rejectSymlink(getAppCredentialsPath(dataDirectory))
}

function rejectSymlink(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new Error(
      `${file} is a symbolic link. Remove it, because catalog-bot writes credentials only to a regular file`,
    )
}

/** Returns the credentials of an earlier setup as variables. */
export function readSavedAppCredentials(dataDirectory: string): Record<string, string> {
  const file = getAppCredentialsPath(dataDirectory)
  if (!existsSync(file)) return {}
  return Object.fromEntries(
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => /^([A-Z_]+)=(.*)$/.exec(line))
      .flatMap((match) => (match?.[1] !== undefined && match[2] !== undefined ? [[match[1], match[2]]] : [])),
  )
}
