// Starts git from a small process. Starting a process copies page tables, which stalls a large App for milliseconds, a
// dozen times per evaluation.
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { ProcessLauncherResponse, ProcessLauncherRequest } from './launcher-process.ts'
import { findWorkerScript } from '../workers/start-worker.ts'
import { runProcess, type ProcessResult, type ProcessRunner } from './run-process.ts'

export interface ProcessLauncher {
  readonly run: ProcessRunner
  /** Running programs end as usual, without reporting back. */
  close(): void
}

let activeProcessLauncher: ProcessLauncher | undefined

/** Applies to every git that this process starts. Call the result to stop. */
export function startProcessLauncher(): () => void {
  const launcher = createProcessLauncher()
  activeProcessLauncher ??= launcher
  return () => {
    if (activeProcessLauncher === launcher) activeProcessLauncher = undefined
    launcher.close()
  }
}

/** Uses the launcher if there is one. */
export const runProcessViaLauncher: ProcessRunner = (order, signal) =>
  (activeProcessLauncher?.run ?? runProcess)(order, signal)

interface PendingLaunchedProcess {
  readonly resolve: (ended: ProcessResult) => void
  readonly reject: (error: Error) => void
}

/** Starts its process with the first order, and again after a crash. It keeps no idle process alive. */
export function createProcessLauncher(): ProcessLauncher {
  let started: ReturnType<typeof startLauncherProcess> | undefined
  return {
    run(order, signal) {
      if (started === undefined || started.isGone()) started = startLauncherProcess()
      return started.run(order, signal)
    },
    close: () => started?.close(),
  }
}

function startLauncherProcess() {
  const child = fork(fileURLToPath(findWorkerScript('launcher-process', import.meta.url)), {
    execArgv: ['--no-warnings'],
    // Each order brings its own environment.
    env: {},
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, PendingLaunchedProcess>()
  let last = 0
  let endError: Error | undefined
  const rest = () => {
    child.unref()
    child.channel?.unref()
  }
  rest()
  const end = (why: Error) => {
    endError ??= why
    for (const { reject } of waiting.values()) reject(endError)
    waiting.clear()
  }
  child.on('error', end)
  child.on('exit', () => end(new Error('the process that launches Git has exited')))
  child.on('message', (reply: ProcessLauncherResponse) => {
    const one = waiting.get(reply.id)
    waiting.delete(reply.id)
    if (waiting.size === 0) rest()
    if ('failed' in reply) one?.reject(Object.assign(new Error(reply.failed.message), reply.failed))
    else one?.resolve({ ...reply.ended, stdout: Buffer.from(reply.ended.stdout) })
  })
  const send = (request: ProcessLauncherRequest) => child.send(request, (error) => void (error && end(error)))
  return {
    isGone: () => endError !== undefined,
    async run(order: Parameters<ProcessRunner>[0], signal?: AbortSignal): Promise<ProcessResult> {
      const id = (last += 1)
      const { promise, resolve, reject } = Promise.withResolvers<ProcessResult>()
      if (waiting.size === 0) {
        child.ref()
        child.channel?.ref()
      }
      waiting.set(id, { resolve, reject })
      const abort = () => void send({ id })
      signal?.addEventListener('abort', abort, { once: true })
      send({ id, order })
      if (signal?.aborted) abort()
      try {
        return await promise
      } finally {
        signal?.removeEventListener('abort', abort)
      }
    },
    close() {
      endError ??= new Error('the launcher is closed')
      if (child.connected) child.disconnect()
    },
  }
}
