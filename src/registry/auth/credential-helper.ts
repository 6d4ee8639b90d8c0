// Runs a docker-credential-<name> program that the operator's own config names. Never with a shell, never with a
// name from anywhere else, with little time and little output.
import { spawn } from 'node:child_process'
import { anonymous, type Credential } from './credentials.ts'
import { RegistryError } from '../registry-error.ts'

export interface HelperOptions {
  /** Milliseconds, default 10,000. */
  readonly helperTimeout?: number
  /** Where programs are looked for; default the process's own. */
  readonly helperPath?: string
  /** Milliseconds of a clock that never goes back; default the process's. */
  readonly now?: () => number
}

/** Asks a helper by name for a server's credential, or remembers what it said. */
export type AskHelper = (name: string, server: string) => Promise<Credential>

// A program is started for each question otherwise, and cloud helpers ask their cloud. Tokens of clouds live for 12 h.
const answerLife = 3_600_000
// Long enough that a catalog's references do not all wait for the same broken program.
const failureLife = 5_000

/** Helpers that are asked once an hour for a server, once in five seconds when they fail. */
export function rememberedHelpers(options: HelperOptions = {}): AskHelper {
  const now = options.now ?? (() => performance.now())
  const known = new Map<string, { readonly answer: Promise<Credential>; until: number }>()
  return (name, server) => {
    const key = JSON.stringify([name, server])
    const found = known.get(key)
    if (found && found.until > now()) return found.answer
    const entry = { answer: askCredentialHelper(name, server, options), until: now() + answerLife }
    known.set(key, entry)
    // Whoever waits for the answer hears of the failure; this only shortens how long it is believed.
    entry.answer.catch(() => (entry.until = now() + failureLife))
    return entry.answer
  }
}

const outputLimit = 65_536

/**
 * Asks a helper for the credential of a server. Anonymous when the helper has none.
 * Rejects with a RegistryError `credentials` when it fails, takes too long or says something else.
 */
async function askCredentialHelper(
  name: string,
  server: string,
  options: HelperOptions = {},
): Promise<Credential> {
  if (!/^[A-Za-z0-9._-]+$/.test(name) || name.startsWith('.'))
    throw new RegistryError('credentials', `"${name.slice(0, 40)}" is not a credential helper's name`)
  const { code, output } = await run(`docker-credential-${name}`, server, options)
  if (code !== 0) {
    if (/credentials not found/i.test(output)) return anonymous
    throw new RegistryError('credentials', `docker-credential-${name} ended with code ${code}`)
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
    // Its output may hold a password: nothing of it is repeated.
  }
  throw new RegistryError('credentials', `docker-credential-${name} did not answer with a user and a secret`)
}

function run(
  program: string,
  input: string,
  options: HelperOptions,
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
      if (length > outputLimit) child.kill('SIGKILL')
      else pieces.push(piece)
    })
    child.on('error', (cause) =>
      reject(new RegistryError('credentials', `${program} cannot be run`, { cause })),
    )
    child.on('close', (code, signal) => {
      if (signal !== null || length > outputLimit)
        reject(new RegistryError('credentials', `${program} took too long or said too much`))
      else resolve({ code: code ?? 1, output: Buffer.concat(pieces).toString('utf8') })
    })
    // A helper that ends without reading its input is no reason to fall over.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}
