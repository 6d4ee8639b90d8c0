// The one error class of the store floor.

export type StoreErrorCode =
  /** The database cannot be reached, or went away in the middle: what was asked may or may not have happened. */
  | 'unreachable'
  /** Another process has the data folder. */
  | 'in-use'
  /** The database was written by a newer version of this program. */
  | 'too-new'
  /** A row does not hold what this program wrote there. */
  | 'unreadable'
  /** The pull request has a recorded landing already: it lands once. */
  | 'already-landed'
  /** The intent was settled with another outcome before, or never was begun. */
  | 'already-settled'
  /** Two transactions got in each other's way; nothing was changed. */
  | 'conflict'
  /** Disk, memory or connections are used up. */
  | 'full'
  /** The store was closed. */
  | 'closed'
  | 'failed'

const retryable: readonly StoreErrorCode[] = ['unreachable', 'conflict', 'full', 'in-use']

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** Whether the same call may succeed later with nothing else changed. */
  readonly retryable: boolean

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.retryable = retryable.includes(code)
  }
}

/** What a driver threw, as a StoreError: by SQLSTATE class, or by the operating system's code. */
export function asStoreError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  const state = sqlState(cause)
  const message = cause instanceof Error ? cause.message : String(cause)
  return new StoreError(codeOf(state, message), `the database says: ${message}`, cause)
}

/** The five-letter SQLSTATE (or the system's code such as ECONNREFUSED) of a driver's error; '' when it has none. */
export function sqlState(error: unknown): string {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

function codeOf(state: string, message: string): StoreErrorCode {
  if (/^(?:08|57P)/.test(state) || /^E[A-Z]+$/.test(state)) return 'unreachable'
  if (state === '40001' || state === '40P01') return 'conflict'
  if (state.startsWith('53')) return 'full'
  // node-postgres has words instead of codes for these.
  if (/Connection terminated|timeout exceeded when trying to connect|not queryable/.test(message))
    return 'unreachable'
  return 'failed'
}
