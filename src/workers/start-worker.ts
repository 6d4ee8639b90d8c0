// One process for work that the bytes of strangers may make endless: what it uses up is taken from it, not from ours.
// Never a thread: V8 gives up the whole process when a thread asks for much memory at once that it may not have.
import { fork, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { fileURLToPath } from 'node:url'
import { setPriority } from 'node:os'
import type { CallBack, WorkerOrder, WorkerReply } from './answer-orders.ts'
import { faultOfEnd, WorkerFault } from './worker-fault.ts'

export interface Worker<Order, Answer> {
  /**
   * One order at a time. Rejects with a WorkerFault, and the process is ended, when there is no answer within
   * `milliseconds` or can be none; with another error for an order that cannot be sent. The clock stands still while the
   * process waits for what it asked of `callBack`.
   */
  ask(order: Order, milliseconds: number, callBack?: CallBack): Promise<Answer>
  /** Milliseconds of the processor that it has used so far; undefined where the system does not tell. */
  used(): number | undefined
  /** Ends the process with this as the reason. */
  stop(why: WorkerFault): void
  /** Resolves when the process is gone. What it works on is rejected as `closed`. */
  end(): Promise<void>
  /** True when it takes no orders any more. */
  readonly isGone: boolean
}

export interface WorkerKind {
  /** Calls answerOrders(). */
  readonly script: URL
  /** Megabytes of heap; what lies outside it must bound itself. */
  readonly heap: number
  /** As `nice` counts it: a process that is not urgent leaves the processor to the others. Default 0. */
  readonly niceness?: number
  /** Whether the processes that it starts end with it. Default: it starts none. */
  readonly hasChildren?: boolean
  /** All that it gets of an environment, besides what finds programs. Default: nothing. */
  readonly environment?: Readonly<Record<string, string>>
}

export function startWorker<Order, Answer>(kind: WorkerKind): Worker<Order, Answer> {
  const child = forked(kind)
  if (kind.niceness !== undefined && child.pid !== undefined) beNice(child.pid, kind.niceness)
  const exited = Promise.withResolvers<void>()
  let waiting: PromiseWithResolvers<WorkerReply<Answer>> | undefined
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
        // The group that it leads, itself included.
        process.kill(-child.pid, 'SIGKILL')
        return
      } catch {
        // Gone, or its group is not made yet.
      }
    child.kill('SIGKILL')
  }

  child.on('message', (reply: WorkerReply<Answer>) => {
    if ('call' in reply) called(reply)
    else waiting?.resolve(reply)
  })
  child.on('exit', (code, signal) => {
    stop(faultOfEnd(code, signal))
    exited.resolve()
  })
  child.on('error', (cause) => {
    if (child.pid === undefined) {
      stop(new WorkerFault('not-started', 'the process could not be started', cause))
      exited.resolve()
    }
    // The channel to a dying process may break before the process's end says why.
    else end()
  })
  letRest(child)

  const send = (message: WorkerOrder<Order>) => child.send(message)
  let open = 0
  let callBack: CallBack | undefined
  let stopwatch: Stopwatch | undefined

  function called({ call, request }: { call: number; request: unknown }): void {
    const asked = callBack
    if (!asked) return void stop(new WorkerFault('failed', 'the process asked what nobody answers'))
    if (++open === 1) stopwatch?.pause()
    const settle = (message: WorkerOrder<Order>) => {
      // The order may be over, and another one under way.
      if (callBack !== asked || fault) return
      if (--open === 0) stopwatch?.resume()
      send(message)
    }
    asked(request).then(
      (said) => settle({ call, said }),
      (error: unknown) => settle({ call, refused: String(error) }),
    )
  }

  return {
    async ask(order, milliseconds, answering) {
      if (fault) throw fault
      waiting = Promise.withResolvers()
      callBack = answering
      open = 0
      const slow = new WorkerFault('too-slow', `the work takes longer than ${milliseconds} milliseconds`)
      stopwatch = startStopwatch(milliseconds, () => stop(slow))
      child.ref()
      child.channel?.ref()
      try {
        send({ order })
        const reply = await waiting.promise
        if ('answer' in reply) return reply.answer
        throw stop(new WorkerFault('failed', 'failure' in reply ? reply.failure : 'no answer'))
      } finally {
        stopwatch.pause()
        waiting = undefined
        callBack = undefined
        letRest(child)
      }
    },
    used: () => (child.pid === undefined ? undefined : processorTime(child.pid)),
    stop: (why) => void stop(why),
    async end() {
      stop(new WorkerFault('closed', 'the process was ended: nobody waits for it any more'))
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

/** Calls once after so many milliseconds in which it was not paused. */
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
const tick = 10

function processorTime(pid: number): number | undefined {
  try {
    // After the name, which may hold anything, the 12th and 13th field: user and system time.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * tick
  } catch {
    return undefined
  }
}

function beNice(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness)
  } catch {
    // A system that does not let us: it is then as urgent as everything else.
  }
}

function forked({ script, heap, hasChildren = false, environment = {} }: WorkerKind): ChildProcess {
  const compiled = getCompileCacheDir()
  try {
    return fork(fileURLToPath(script), [], {
      execPath: process.execPath,
      execArgv: ['--no-warnings', `--max-old-space-size=${heap}`],
      // Nothing of this process's secrets but what is given on purpose.
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
    // Some of the system's refusals (no memory) come at once, the others as an event.
    throw new WorkerFault('not-started', 'the process could not be started', cause)
  }
}

/** Nothing waits for a process without work: neither our own end nor a test's. */
function letRest(child: ChildProcess): void {
  child.unref()
  child.channel?.unref()
}
