// Why an order has no answer. The caller decides whether that speaks against the input.

export type WorkerFaultCode =
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

/** V8 aborts when it is out of memory. */
const outOfMemorySignal = 'SIGABRT'
/** Signals caused by the process's own actions. */
const crashSignals: readonly string[] = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGSYS']

export function toWorkerFault(code: number | null, signal: string | null): WorkerFault {
  if (signal === outOfMemorySignal)
    return new WorkerFault('too-much-memory', 'the work exceeded its memory limit')
  if (signal === null)
    return new WorkerFault('failed', `the worker process exited with code ${code ?? 'none'}`)
  if (crashSignals.includes(signal)) return new WorkerFault('failed', `the worker process crashed: ${signal}`)
  return new WorkerFault('ended', `the worker process was terminated externally: ${signal}`)
}
