// Runs one git command: without a shell, in the closed environment, with a time limit and an output limit.
// A credential reaches git through an inherited pipe that the credential helper below reads: it is never in an
// argument, an address, an environment variable or a file. (`http.extraHeader` would need the environment, which
// every child and every process of the same user can read for as long as the command runs.) So does a proxy's password.
import { spawn, type ChildProcess } from 'node:child_process'
import { classify } from './classify.ts'
import { gitEnvironment } from './environment.ts'
import { GitError } from './git-error.ts'
import { plain, redact } from './redact.ts'
import { credentialOf, type Credential, type Remote } from './remote.ts'
import { waySettings } from './way-settings.ts'

export interface GitCall {
  /** The command and its arguments: fixed words, checked ids and checked refs. */
  readonly args: readonly string[]
  /** The mirror's folder; given as GIT_DIR, so that git looks for no other. */
  readonly directory?: string
  readonly input?: string | Uint8Array
  /** Milliseconds. */
  readonly timeout: number
  /** Most bytes of standard output. */
  readonly limit: number
  /** Most records of standard output, each ended by NUL. Absent: as many as fit into the bytes. */
  readonly records?: number | undefined
  /** Whether it belongs to the process group of ours, and ends with it. Not for what talks to a server. */
  readonly staysInGroup?: boolean | undefined
  /** Exit codes that are answers; every other is an error. Default: 0. */
  readonly answers?: readonly number[]
  readonly environment?: Readonly<Record<string, string>>
  /** Given for the commands that talk to the server, and only for those. */
  readonly remote?: Remote
  readonly signal?: AbortSignal
}

export interface GitOutput {
  readonly code: number
  readonly stdout: Buffer
  /** Redacted. */
  readonly stderr: string
}

/** The end of what git said matters most; a server may send any amount. */
const stderrLimit = 64 * 1024
/** After SIGTERM git removes its lock files; this many milliseconds it gets for that. */
const grace = 2000

/**
 * Resolves with the output when git ends with an exit code that is an answer.
 * Rejects with a GitError otherwise: `timeout`, `too-large`, `aborted`, `unsupported` (no git), or what classify.ts
 * makes of its words.
 */
export async function runGit(call: GitCall): Promise<GitOutput> {
  const command = `git ${call.args[0] ?? ''}`
  if (call.signal?.aborted) throw new GitError('aborted', `${command}: the mirror is closed`)
  const credential = call.remote && (await credentialOf(call.remote))
  const { code, signal, stdout, stderr, stopped } = await new Promise<Ended>((resolve, reject) => {
    start(call, credential, resolve, reject)
  })
  const words = redact(stderr, credential, call.remote?.proxy?.credential)
  switch (stopped) {
    case 'timeout':
      throw new GitError('timeout', `${command}: no end after ${call.timeout} ms`)
    case 'too-large':
      throw new GitError('too-large', `${command}: more than ${call.limit} bytes of output`)
    case 'too-many':
      throw new GitError('too-large', `${command}: more than ${call.records} records of output`)
    case 'aborted':
      throw new GitError('aborted', `${command}: the mirror was closed`)
    case undefined:
      break
  }
  if (code !== null && (call.answers ?? [0]).includes(code)) return { code, stdout, stderr: words }
  const ending = code === null ? `ended by ${signal ?? 'a signal'}` : `exit ${code}`
  throw new GitError(classify(words), `${command}: ${ending}: ${plain(words)}`)
}

interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: Buffer
  readonly stderr: string
  readonly stopped: 'timeout' | 'too-large' | 'too-many' | 'aborted' | undefined
}

function start(
  call: GitCall,
  credential: Credential | undefined,
  resolve: (ended: Ended) => void,
  reject: (error: GitError) => void,
): void {
  const environment = {
    ...gitEnvironment(call.remote?.protocol ?? 'none', waySettings(call.remote, credential !== undefined)),
    ...(call.directory === undefined ? {} : { GIT_DIR: call.directory }),
    ...call.environment,
  }
  const { staysInGroup = false, records = Infinity } = call
  const forProxy = call.remote?.proxy?.credential
  const send = (signal: NodeJS.Signals) => {
    if (staysInGroup) child.kill(signal)
    else signalGroup(child.pid, signal)
  }
  const failed = (cause: NodeJS.ErrnoException) => {
    const code = cause.code === 'ENOENT' || cause.code === 'EACCES' ? 'unsupported' : 'failed'
    reject(new GitError(code, `the git program cannot be started: ${cause.code ?? cause.message}`, { cause }))
  }
  let child: ChildProcess
  try {
    child = spawn('git', call.args, {
      cwd: call.directory ?? '/',
      env: environment,
      stdio: ['pipe', 'pipe', 'pipe', credential ? 'pipe' : 'ignore', forProxy ? 'pipe' : 'ignore'],
      // A group of its own, so that stopping it stops its transport helpers too.
      detached: !staysInGroup,
    })
  } catch (error) {
    // Most failures to start come as an event; a folder that is a file does not.
    failed(error as NodeJS.ErrnoException)
    return
  }
  let stopped: Ended['stopped']
  let kill: NodeJS.Timeout | undefined
  const stop = (why: NonNullable<Ended['stopped']>) => {
    if (stopped) return
    stopped = why
    send('SIGTERM')
    kill = setTimeout(() => send('SIGKILL'), grace)
  }
  const abort = () => stop('aborted')
  const timer = setTimeout(() => stop('timeout'), call.timeout)
  call.signal?.addEventListener('abort', abort, { once: true })
  const settle = () => {
    clearTimeout(timer)
    clearTimeout(kill)
    call.signal?.removeEventListener('abort', abort)
  }

  const out: Buffer[] = []
  let outBytes = 0
  let outRecords = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    if (stopped) return
    outBytes += chunk.length
    if (records < Infinity) outRecords += countNul(chunk)
    if (outBytes > call.limit) stop('too-large')
    else if (outRecords > records) stop('too-many')
    else out.push(chunk)
  })
  let err = Buffer.alloc(0)
  child.stderr?.on('data', (chunk: Buffer) => {
    err = Buffer.concat([err, chunk])
    if (err.length > stderrLimit) err = Buffer.from(err.subarray(err.length - stderrLimit))
  })
  // git may end without reading what it was given (EPIPE); its exit code says why.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(call.input ?? '')
  for (const [pipe, given] of [
    [child.stdio[3], credential],
    [child.stdio[4], forProxy],
  ] as const)
    if (given && pipe && 'end' in pipe) {
      pipe.on('error', () => undefined)
      pipe.end(`username=${given.username}\npassword=${given.password}\n`)
    }

  child.once('error', (cause: NodeJS.ErrnoException) => {
    settle()
    failed(cause)
  })
  child.once('close', (code, signal) => {
    settle()
    resolve({ code, signal, stdout: Buffer.concat(out), stderr: err.toString('utf8'), stopped })
  })
}

function countNul(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) count += 1
  return count
}

/** Signals a child's whole process group; one that has ended already is fine. */
export function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // ESRCH: gone.
  }
}
