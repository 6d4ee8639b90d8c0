// A process for work on untrusted input that may never end or use too much memory. Not a thread: V8 aborts the whole
// process when a thread fails a large allocation.
import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setPriority } from 'node:os'
import type { ParentRequestSender, MessageToWorker, MessageFromWorker } from './answer-orders.ts'
import { toWorkerFault, WorkerFault } from './worker-fault.ts'

export interface WorkerProcess<Order, Answer> {
  /**
   * One order at a time. Rejects with a WorkerFault and ends the process if no answer comes within `milliseconds`; with
   * another error for an order that cannot be sent. Time in `callBack` does not count.
   */
  execute(order: Order, milliseconds: number, callBack?: ParentRequestSender): Promise<Answer>
  /** CPU time used so far, in milliseconds; undefined if the system does not report it. */
  used(): number | undefined
  stop(why: WorkerFault): void
  /** Resolves when the process has ended. Rejects its current order as `closed`. */
  end(): Promise<void>
  /** True if it takes no more orders. */
  readonly isGone: boolean
}

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

export function startWorkerProcess<Order, Answer>(kind: WorkerProcessOptions): WorkerProcess<Order, Answer> {
  const child = forkWorker(kind)
  if (kind.niceness !== undefined && child.pid !== undefined) setNiceness(child.pid, kind.niceness)
  const exited = Promise.withResolvers<void>()
  let waiting: PromiseWithResolvers<MessageFromWorker<Answer>> | undefined
  let fault: WorkerFault | undefined

  function stop(why: WorkerFault): WorkerFault {
    fault ??= why
    waiting?.reject(fault)
    end()
    return fault
  }

  function end(): void {
    if (kind.hasChildren === true && child.pid !== undefined && child.exitCode === null)
      try {
        // The process group that the child leads.
        process.kill(-child.pid, 'SIGKILL')
        return
      } catch {
        // The process has ended, or its group does not exist yet.
      }
    child.kill('SIGKILL')
  }

  child.on('message', (reply: MessageFromWorker<Answer>) => {
    if ('call' in reply) called(reply)
    else waiting?.resolve(reply)
  })
  child.on('exit', (code, signal) => {
    stop(toWorkerFault(code, signal))
    exited.resolve()
  })
  child.on('error', (cause) => {
    if (child.pid === undefined) {
      stop(new WorkerFault('not-started', 'the worker process could not be started', cause))
      exited.resolve()
    }
    // The channel may break before the exit event gives the reason.
    else end()
  })
  unrefChildProcess(child)

  const send = (message: MessageToWorker<Order>) => child.send(message)
  let open = 0
  let callBack: ParentRequestSender | undefined
  let stopwatch: Stopwatch | undefined

  function called({ call, request }: { call: number; request: unknown }): void {
    const asked = callBack
    if (!asked) return void stop(new WorkerFault('failed', 'the worker process sent an unsupported request'))
    if (++open === 1) stopwatch?.pause()
    const settle = (message: MessageToWorker<Order>) => {
      // The order may have ended, and another one may be running.
      if (callBack !== asked || fault) return
      if (--open === 0) stopwatch?.resume()
      send(message)
    }
    asked(request).then(
      (response) => settle({ call, response }),
      (error: unknown) => settle({ call, rejection: String(error) }),
    )
  }

  return {
    async execute(order, milliseconds, answering) {
      if (fault) throw fault
      waiting = Promise.withResolvers()
      callBack = answering
      open = 0
      const slow = new WorkerFault('too-slow', `the work took longer than ${milliseconds} milliseconds`)
      stopwatch = startStopwatch(milliseconds, () => stop(slow))
      child.ref()
      child.channel?.ref()
      try {
        send({ order })
        const reply = await waiting.promise
        if ('answer' in reply) return reply.answer
        throw stop(
          new WorkerFault(
            'failed',
            'failure' in reply ? reply.failure : 'the worker process did not answer the request',
          ),
        )
      } finally {
        stopwatch.pause()
        waiting = undefined
        callBack = undefined
        unrefChildProcess(child)
      }
    },
    used: () => (child.pid === undefined ? undefined : readProcessCpuTimeMs(child.pid)),
    stop: (why) => void stop(why),
    async end() {
      stop(new WorkerFault('closed', 'the worker process was stopped because its result is no longer needed'))
      child.ref()
      await exited.promise
    },
    get isGone() {
      return fault !== undefined
    },
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

function setNiceness(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness)
  } catch {
    // The system does not allow it; the process then has normal priority.
  }
}

function forkWorker({
  script,
  heap,
  hasChildren = false,
  environment = {},
}: WorkerProcessOptions): ChildProcess {
  const compiled = getCompileCacheDir()
  try {
    return fork(fileURLToPath(script), [], {
      execPath: process.execPath,
      execArgv: ['--no-warnings', `--max-old-space-size=${heap}`],
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
