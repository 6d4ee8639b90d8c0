// One process for work that the bytes of strangers may make endless: what it uses up is taken from it, not from ours.
// Never a thread: V8 gives up the whole process when a thread asks for much memory at once that it may not have.
import { fork, type ChildProcess } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { WorkerReply } from './answer-orders.ts'
import { faultOfEnd, WorkerFault } from './worker-fault.ts'

export interface Worker<Order, Answer> {
  /**
   * One order at a time. Rejects with a WorkerFault, and the process is ended, when there is no answer within
   * `milliseconds` or can be none; with another error for an order that cannot be sent.
   */
  ask(order: Order, milliseconds: number): Promise<Answer>
  /** Resolves when the process is gone. What it works on is rejected as `closed`. */
  end(): Promise<void>
  /** True when it takes no orders any more. */
  readonly isGone: boolean
}

/** `script` calls answerOrders(). Its heap may have so many megabytes; what lies outside it must bound itself. */
export function startWorker<Order, Answer>(script: URL, megabytes: number): Worker<Order, Answer> {
  const child = forked(script, megabytes)
  const exited = Promise.withResolvers<void>()
  let waiting: PromiseWithResolvers<WorkerReply<Answer>> | undefined
  let fault: WorkerFault | undefined

  function stop(why: WorkerFault): WorkerFault {
    fault ??= why
    waiting?.reject(fault)
    child.kill('SIGKILL')
    return fault
  }

  child.on('message', (reply: WorkerReply<Answer>) => waiting?.resolve(reply))
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
    else child.kill('SIGKILL')
  })
  letRest(child)

  return {
    async ask(order, milliseconds) {
      if (fault) throw fault
      waiting = Promise.withResolvers()
      const slow = new WorkerFault('too-slow', `the work takes longer than ${milliseconds} milliseconds`)
      const clock = setTimeout(() => stop(slow), milliseconds)
      child.ref()
      child.channel?.ref()
      try {
        child.send(order as object)
        const reply = await waiting.promise
        if ('answer' in reply) return reply.answer
        throw stop(new WorkerFault('failed', reply.failure))
      } finally {
        clearTimeout(clock)
        waiting = undefined
        letRest(child)
      }
    },
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

function forked(script: URL, megabytes: number): ChildProcess {
  const compiled = getCompileCacheDir()
  try {
    return fork(fileURLToPath(script), [], {
      execPath: process.execPath,
      execArgv: ['--no-warnings', `--max-old-space-size=${megabytes}`],
      // Nothing of this process's secrets.
      env: compiled === undefined ? {} : { NODE_COMPILE_CACHE: compiled },
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
