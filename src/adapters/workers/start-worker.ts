// Starts a process for work on untrusted input, because the work might never end or might use too much memory. A thread
// is not sufficient: V8 aborts the whole process when a large allocation in a thread fails.
import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { setPriority } from 'node:os'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ParentProcessRequestSender, MessageToWorker, MessageFromWorker } from './answer-orders.ts'

type WorkerFaultCode =
  | 'too-slow'
  /** V8's heap is full. */
  | 'too-much-memory'
  /** The work threw, or the process crashed or exited. */
  | 'failed'
  /** Something outside ended the process: an administrator, or a machine out of memory. */
  | 'ended'
  | 'not-started'
  /** Others wait, and the order used up its time for that case. */
  | 'displaced'
  /** Too many orders already wait. */
  | 'crowded'
  | 'closed'

export class WorkerFault extends Error {
  override readonly name = 'WorkerFault'
  readonly code: WorkerFaultCode

  constructor(code: WorkerFaultCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}

/** The script `name` beside the module at `url`, with the same extension: sources start sources, and compiled code compiled code. */
export const findWorkerScript = (name: string, url: string): URL => new URL(`./${name}${extname(url)}`, url)

/** The variables among these that are not empty. */
export const pickVariables = (
  environment: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])))

/** Faults that the order caused. */
const resourceLimitFaultCodes: readonly WorkerFaultCode[] = ['too-slow', 'too-much-memory', 'displaced']

export function isResourceLimitFault(error: unknown): error is WorkerFault {
  return error instanceof WorkerFault && resourceLimitFaultCodes.includes(error.code)
}

/** V8 aborts when it is out of memory. */
const outOfMemorySignal = 'SIGABRT'

/** Signals caused by the process's own actions. */
const crashSignals: readonly string[] = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGSYS']

export interface WorkerProcessOptions {
  /** Calls serveWorkerRequests(). */
  readonly script: URL
  /** Heap limit in megabytes; the script must limit other memory itself. */
  readonly heap: number
  /** As in `nice`; higher values yield the CPU to other processes. Default 0. */
  readonly niceness?: number
  /** Whether its child processes end with it. Default: it starts none. */
  readonly hasChildren?: boolean
  /** Environment variables besides those that find programs. Default: none. */
  readonly environment?: Readonly<Record<string, string>>
}

/** Starts at once. */
export class WorkerProcess<Order, Answer> {
  readonly #kind: WorkerProcessOptions
  readonly #child
  readonly #exited = Promise.withResolvers<void>()
  #waiting: PromiseWithResolvers<MessageFromWorker<Answer>> | undefined
  #fault: WorkerFault | undefined
  #open = 0
  #callBack: ParentProcessRequestSender | undefined
  #callBackFailure: { readonly error: unknown } | undefined
  #stopwatch: Stopwatch | undefined

  constructor(kind: WorkerProcessOptions) {
    this.#kind = kind
    this.#child = forkWorker(kind)
    if (kind.niceness !== undefined && this.#child.pid !== undefined)
      setNiceness(this.#child.pid, kind.niceness)
    this.#child.on('message', (reply: MessageFromWorker<Answer>) => {
      if ('call' in reply) this.#answerCall(reply)
      else this.#waiting?.resolve(reply)
    })
    this.#child.on('exit', (code, signal) => {
      this.stop(toWorkerFault(code, signal))
      this.#exited.resolve()
    })
    this.#child.on('error', (cause) => {
      if (this.#child.pid === undefined) {
        this.stop(new WorkerFault('not-started', 'the worker process could not be started', cause))
        this.#exited.resolve()
      }
      // The channel may break before the exit event gives the reason.
      else this.#kill()
    })
    unrefChildProcess(this.#child)
  }

  /**
   * One order at a time. Rejects with a WorkerFault and ends the process if no answer comes within `milliseconds`; with
   * another error for an order that cannot be sent, or the error of `callBack` if the order failed after it. Time in
   * `callBack` does not count.
   */
  async execute(order: Order, milliseconds: number, callBack?: ParentProcessRequestSender): Promise<Answer> {
    if (this.#fault) throw this.#fault
    this.#waiting = Promise.withResolvers()
    this.#callBack = callBack
    this.#open = 0
    const slow = new WorkerFault('too-slow', `the task took longer than ${milliseconds} milliseconds`)
    this.#stopwatch = startStopwatch(milliseconds, () => this.stop(slow))
    this.#child.ref()
    this.#child.channel?.ref()
    try {
      this.#send({ order })
      const reply = await this.#waiting.promise
      if ('answer' in reply) return reply.answer
      throw this.stop(
        new WorkerFault(
          'failed',
          'failure' in reply ? reply.failure : 'the worker process did not respond to the request',
        ),
      )
    } catch (error) {
      // The process has only the message of that error.
      if (this.#callBackFailure && !isResourceLimitFault(error)) throw this.#callBackFailure.error
      throw error
    } finally {
      this.#stopwatch.pause()
      this.#waiting = undefined
      this.#callBack = undefined
      this.#callBackFailure = undefined
      unrefChildProcess(this.#child)
    }
  }

  /** CPU time used so far, in milliseconds; undefined if the system does not report it. */
  used(): number | undefined {
    return this.#child.pid === undefined ? undefined : readProcessCpuTimeMs(this.#child.pid)
  }

  /** How many times longer than on an idle machine it takes, because it waits for a CPU; 1 if the system does not report it. */
  slowdown(): number {
    return this.#child.pid === undefined ? 1 : readSlowdown(this.#child.pid)
  }

  /** Resolves when the process has ended. Rejects its current order as `closed`. */
  async end(): Promise<void> {
    this.stop(
      new WorkerFault('closed', 'the worker process was stopped because its result is no longer needed'),
    )
    this.#child.ref()
    await this.#exited.promise
  }

  /** True if it takes no more orders. */
  get isGone(): boolean {
    return this.#fault !== undefined
  }

  /** Rejects its current order. Returns `why`, or why it was stopped before. */
  stop(why: WorkerFault): WorkerFault {
    this.#fault ??= why
    this.#waiting?.reject(this.#fault)
    this.#kill()
    return this.#fault
  }

  #kill(): void {
    if (this.#kind.hasChildren === true && this.#child.pid !== undefined && this.#child.exitCode === null)
      try {
        // The process group that the child leads.
        process.kill(-this.#child.pid, 'SIGKILL')
        return
      } catch {
        // The process has ended, or its group does not exist yet.
      }
    this.#child.kill('SIGKILL')
  }

  #send(message: MessageToWorker<Order>) {
    return this.#child.send(message)
  }

  #answerCall({ call, request }: { call: number; request: unknown }): void {
    const asked = this.#callBack
    if (!asked)
      return void this.stop(new WorkerFault('failed', 'the worker process sent an unsupported request'))
    if (++this.#open === 1) this.#stopwatch?.pause()
    const settle = (message: MessageToWorker<Order>) => {
      // The order may have ended, and another one may be running.
      if (this.#callBack !== asked || this.#fault) return
      if (--this.#open === 0) this.#stopwatch?.resume()
      this.#send(message)
    }
    asked(request).then(
      (response) => settle({ call, response }),
      (error: unknown) => {
        if (this.#callBack === asked) this.#callBackFailure ??= { error }
        settle({ call, rejection: String(error) })
      },
    )
  }
}

interface Stopwatch {
  pause(): void
  resume(): void
}

/** Calls `over` once after `milliseconds` of unpaused time. */
function startStopwatch(milliseconds: number, over: () => void): Stopwatch {
  let left = milliseconds
  let since = performance.now()
  let clock: NodeJS.Timeout | undefined = setTimeout(over, left)
  return {
    pause() {
      if (!clock) return
      clearTimeout(clock)
      clock = undefined
      left -= performance.now() - since
    },
    resume() {
      if (clock) return
      since = performance.now()
      clock = setTimeout(over, Math.max(0, left))
    },
  }
}

/** Linux counts in hundredths of a second. */
const cpuTimeTickMs = 10

function readProcessCpuTimeMs(pid: number): number | undefined {
  try {
    // After the name, which may hold anything, fields 12 and 13 are user and system time.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * cpuTimeTickMs
  } catch {
    return undefined
  }
}

function readSlowdown(pid: number): number {
  try {
    // Nanoseconds of the main thread on a CPU, and waiting for one.
    const [running = 0, waiting = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number)
    return running > 0 ? 1 + waiting / running : 1
  } catch {
    return 1
  }
}

function setNiceness(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness)
  } catch {
    // The system does not allow it; the process then has normal priority.
  }
}

/** V8's defaults take a fifth more CPU time, and 100 MB more for new objects of an evaluation process. */
const gcFlags = ['--single-threaded-gc', '--min-semi-space-size=8', '--max-semi-space-size=8']

function forkWorker(options: WorkerProcessOptions): ChildProcess {
  const { script, heap, hasChildren = false, environment = {} } = options
  const compiled = getCompileCacheDir()
  try {
    return fork(fileURLToPath(script), [], {
      execPath: process.execPath,
      execArgv: ['--no-warnings', ...gcFlags, '--initial-old-space-size=64', `--max-old-space-size=${heap}`],
      // Passes no secrets of this process except those given on purpose.
      env: {
        ...environment,
        ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
        ...(hasChildren && process.env['PATH'] !== undefined && { PATH: process.env['PATH'] }),
      },
      detached: hasChildren,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
  } catch (cause) {
    // Some system errors (no memory) are thrown, others arrive as an event.
    throw new WorkerFault('not-started', 'the worker process could not be started', cause)
  }
}

/** An idle worker must not keep this process alive. */
function unrefChildProcess(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}

/** Why an order has no answer. The caller decides whether the input is at fault. */
function toWorkerFault(code: number | null, signal: string | null): WorkerFault {
  if (signal === outOfMemorySignal)
    return new WorkerFault('too-much-memory', 'the task exceeded its memory limit')
  if (signal === null)
    return new WorkerFault('failed', `the worker process exited with code ${code ?? 'none'}`)
  if (crashSignals.includes(signal)) return new WorkerFault('failed', `the worker process crashed: ${signal}`)
  return new WorkerFault('ended', `the worker process was terminated externally: ${signal}`)
}
