// The one error class of the workers floor: why an order has no answer. Whether that speaks against what the order was
// about is for the one who gave it to say.

export type WorkerFaultCode =
  /** The answer took longer than it may. */
  | 'too-slow'
  /** V8 gave up: the heap is full. */
  | 'too-much-memory'
  /** The work threw, or the process crashed or ended by itself. */
  | 'failed'
  /** Something outside ended the process: people, a machine without memory. */
  | 'ended'
  /** The system could not start a process. */
  | 'not-started'
  /** Others wait, and it has worked for longer than it may while they do. */
  | 'displaced'
  /** More orders wait already than may. */
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

/** V8's, when it has no memory left. */
const outOfMemory = 'SIGABRT'
/** Those that a process earns by what it does. */
const crashes: readonly string[] = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGSYS']

/** What the end of a process says that nobody here wanted. */
export function faultOfEnd(code: number | null, signal: string | null): WorkerFault {
  if (signal === outOfMemory) return new WorkerFault('too-much-memory', 'the work needs too much memory')
  if (signal === null) return new WorkerFault('failed', `the process stopped with code ${code ?? 'none'}`)
  if (crashes.includes(signal)) return new WorkerFault('failed', `the process crashed: ${signal}`)
  return new WorkerFault('ended', `the process was ended from outside: ${signal}`)
}
