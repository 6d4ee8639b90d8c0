import { createHash } from 'node:crypto'
import { spawn } from 'node:child_process'
import { RegistryError } from '../registry-error.ts'

export interface CredentialHelperOptions {
  /** Milliseconds, default 10,000. */
  readonly helperTimeout?: number
  readonly helperPath?: string
  /** A monotonic clock, in milliseconds. Default: the process's. */
  readonly now?: () => number
}

/** Asks a helper by name for a server's credential, or returns the cached answer. */
export type CredentialHelperQuery = (name: string, server: string) => Promise<RegistryCredential>

// Cloud helpers call their cloud for each query. Cloud tokens are valid for 12 hours.
const credentialHelperSuccessTtlMs = 3_600_000

// Long enough that a catalog's references do not each wait for the same broken program.
const credentialHelperFailureTtlMs = 5_000

const maxCredentialHelperOutputBytes = 65_536

// Credentials go from a source only to the token service or the registry, never into logs or answers.

export type RegistryCredential =
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'identity'; readonly token: string }
  | { readonly kind: 'bearer'; readonly token: string }

const anonymousCredential: RegistryCredential = { kind: 'anonymous' }

export interface CredentialSource {
  /**
   * Undefined if this source has none for the host. Rejects with a RegistryError `credentials` if an entry cannot be
   * read, because falling back to anonymous would turn a configuration error into "image not found".
   */
  find(host: string, repository: string): Promise<RegistryCredential | undefined>
}

/** Returns the first source's match, or anonymous. */
export async function findCredential(
  sources: readonly CredentialSource[],
  host: string,
  repository: string,
): Promise<RegistryCredential> {
  for (const source of sources) {
    const credential = await source.find(host, repository)
    if (credential) return credential
  }
  return anonymousCredential
}

/**
 * Identifies a credential in cache keys without revealing it, because credentials differ in what they can access.
 * `anonymous`, or 32 hex digits of a digest over the credential.
 */
export function computeCredentialFingerprint(credential: RegistryCredential): string {
  if (credential.kind === 'anonymous') return 'anonymous'
  return createHash('sha256').update(JSON.stringify(credential)).digest('hex').slice(0, 32)
}

/**
 * Runs a docker-credential-<name> program that the operator's config names: without a shell, with limits on time and
 * output. Caches each server's answer for an hour, and a failure for five seconds.
 */
export function createCachedCredentialHelperQuery(
  options: CredentialHelperOptions = {},
): CredentialHelperQuery {
  const now = options.now ?? (() => performance.now())
  const known = new Map<string, { readonly answer: Promise<RegistryCredential>; until: number }>()
  return (name, server) => {
    const key = JSON.stringify([name, server])
    const found = known.get(key)
    if (found && found.until > now()) return found.answer
    const entry = {
      answer: queryCredentialHelper(name, server, options),
      until: now() + credentialHelperSuccessTtlMs,
    }
    known.set(key, entry)
    // The caller handles the failure; this only shortens how long it is cached.
    entry.answer.catch(() => (entry.until = now() + credentialHelperFailureTtlMs))
    return entry.answer
  }
}

/**
 * Anonymous if the helper has no credential. Rejects with a RegistryError `credentials` if the helper fails, times out
 * or returns something unreadable.
 */
async function queryCredentialHelper(
  name: string,
  server: string,
  options: CredentialHelperOptions,
): Promise<RegistryCredential> {
  if (!/^[A-Za-z0-9._-]+$/.test(name) || name.startsWith('.'))
    throw new RegistryError('credentials', `"${name.slice(0, 40)}" is not a valid credential helper name`)
  const { code, output } = await runCredentialHelper(`docker-credential-${name}`, server, options)
  if (code !== 0) {
    if (/credentials not found/i.test(output)) return anonymousCredential
    throw new RegistryError('credentials', `docker-credential-${name} exited with code ${code}`)
  }
  try {
    const { Username: username, Secret: secret } = JSON.parse(output) as {
      Username?: unknown
      Secret?: unknown
    }
    if (typeof username === 'string' && typeof secret === 'string')
      return username === '<token>'
        ? { kind: 'identity', token: secret }
        : { kind: 'basic', username, password: secret }
  } catch {
    // The output may hold a password, so no message quotes it.
  }
  throw new RegistryError('credentials', `docker-credential-${name} did not return a user name and a secret`)
}

function runCredentialHelper(
  program: string,
  input: string,
  options: CredentialHelperOptions,
): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ['get'], {
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: options.helperTimeout ?? 10_000,
      killSignal: 'SIGKILL',
      ...(options.helperPath !== undefined && { env: { ...process.env, PATH: options.helperPath } }),
    })
    const pieces: Buffer[] = []
    let length = 0
    child.stdout.on('data', (piece: Buffer) => {
      length += piece.length
      if (length > maxCredentialHelperOutputBytes) child.kill('SIGKILL')
      else pieces.push(piece)
    })
    child.on('error', (cause) => reject(new RegistryError('credentials', `cannot run ${program}`, { cause })))
    child.on('close', (code, signal) => {
      if (signal !== null || length > maxCredentialHelperOutputBytes)
        reject(new RegistryError('credentials', `${program} timed out or produced too much output`))
      else resolve({ code: code ?? 1, output: Buffer.concat(pieces).toString('utf8') })
    })
    // A helper may exit without reading its input.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}
