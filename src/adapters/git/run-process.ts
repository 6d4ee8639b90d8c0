// Runs one program to its end: without a shell, with a time limit and an output limit.
import { spawn, type ChildProcess } from 'node:child_process'

/** Serializable, so it can be sent to another process. */
export interface ProcessSpec {
  readonly program: string
  readonly args: readonly string[]
  readonly directory: string
  /** Exactly this environment, without inherited variables. */
  readonly environment: Readonly<Record<string, string>>
  readonly input: string | Uint8Array
  /** The data that it can read from descriptors 3, 4, and so on. Undefined means no data. */
  readonly pipes?: readonly (string | undefined)[]
  /** Milliseconds. */
  readonly timeout: number
  /** Maximum bytes of standard output. */
  readonly limit: number
  /** Maximum records of standard output, each ended by NUL. Absent: as many as fit into the bytes. */
  readonly records?: number | undefined
  /** Whether it leads a separate process group, which is stopped with it. */
  readonly hasGroup: boolean
}

export interface ProcessResult {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: Buffer
  readonly stderr: string
  readonly stopped: 'timeout' | 'too-large' | 'too-many' | 'aborted' | undefined
}

export type ProcessRunner = (order: ProcessSpec, signal?: AbortSignal) => Promise<ProcessResult>

/** The end of the output matters most, and a server may send any amount. */
const maxStderrBytes = 64 * 1024
/** Milliseconds after SIGTERM for git to remove its lock files. */
const sigkillDelayMs = 2000

/** Resolves however it ends. Rejects when it can't be started. */
export const runProcess: ProcessRunner = async (order, signal) => {
  const { program, args, directory, environment, input, pipes = [], timeout, limit, hasGroup } = order
  const { records = Infinity } = order
  const ended = Promise.withResolvers<ProcessResult>()
  const send = (name: NodeJS.Signals) => {
    if (hasGroup) signalProcessGroup(child.pid, name)
    else child.kill(name)
  }
  // Most failures to start come as an event; a folder that is a file is thrown.
  const child: ChildProcess = spawn(program, args, {
    cwd: directory,
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe', ...pipes.map((text) => (text === undefined ? 'ignore' : 'pipe'))],
    detached: hasGroup,
  })
  let stopped: ProcessResult['stopped']
  let kill: NodeJS.Timeout | undefined
  const stop = (why: NonNullable<ProcessResult['stopped']>) => {
    if (stopped) return
    stopped = why
    send('SIGTERM')
    kill = setTimeout(() => send('SIGKILL'), sigkillDelayMs)
  }
  const abort = () => stop('aborted')
  const timer = setTimeout(() => stop('timeout'), timeout)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  const cleanUp = () => {
    clearTimeout(timer)
    clearTimeout(kill)
    signal?.removeEventListener('abort', abort)
  }

  const out: Buffer[] = []
  let outBytes = 0
  let outRecords = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    if (stopped) return
    outBytes += chunk.length
    if (records < Infinity) outRecords += countNulBytes(chunk)
    if (outBytes > limit) stop('too-large')
    else if (outRecords > records) stop('too-many')
    else out.push(chunk)
  })
  const readStderr = collectStderr(child)
  // The program might end without reading its input (EPIPE). Its exit code shows why.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  writeTextToPipes(child, pipes)

  child.once('error', (cause) => {
    cleanUp()
    ended.reject(cause)
  })
  child.once('close', (code, name) => {
    cleanUp()
    ended.resolve({ code, signal: name, stdout: Buffer.concat(out), stderr: readStderr(), stopped })
  })
  return ended.promise
}

function collectStderr({ stderr }: ChildProcess): () => string {
  let end = Buffer.alloc(0)
  stderr?.on('data', (chunk: Buffer) => {
    end = Buffer.concat([end, chunk])
    if (end.length > maxStderrBytes) end = Buffer.from(end.subarray(end.length - maxStderrBytes))
  })
  return () => end.toString('utf8')
}

function writeTextToPipes({ stdio }: ChildProcess, pipes: readonly (string | undefined)[]): void {
  for (const [at, text] of pipes.entries()) {
    const pipe = stdio[at + 3]
    if (text === undefined || !pipe || !('end' in pipe)) continue
    pipe.on('error', () => undefined)
    pipe.end(text)
  }
}

function countNulBytes(chunk: Buffer): number {
  let count = 0
  for (let at = chunk.indexOf(0); at >= 0; at = chunk.indexOf(0, at + 1)) count += 1
  return count
}

/** Signals a child's entire process group. Ignores a group that has ended. */
export function signalProcessGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // ESRCH: gone.
  }
}
