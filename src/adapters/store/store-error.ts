export type StoreErrorCode =
  /** The database is unreachable or disconnected: the request may or may not have taken effect. */
  | 'unreachable'
  | 'in-use'
  /** A newer version of this program wrote the database. */
  | 'too-new'
  | 'unreadable'
  /** The pull request already has a recorded merge; it merges only once. */
  | 'already-landed'
  /** The intent was settled with another outcome, or does not exist. */
  | 'already-settled'
  /** Two transactions conflicted; nothing was changed. */
  | 'conflict'
  /** Out of disk, memory or connections. */
  | 'full'
  | 'closed'
  | 'failed'

const retryableStoreErrorCodes: readonly StoreErrorCode[] = ['unreachable', 'conflict', 'full', 'in-use']

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  /** Whether the same call may succeed later. */
  readonly retryable: boolean

  constructor(code: StoreErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.retryable = retryableStoreErrorCodes.includes(code)
  }
}

/** Classifies a driver's error by SQLSTATE class or by the system's error code. */
export function toStoreError(cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause
  const state = getSqlState(cause)
  const message = cause instanceof Error ? cause.message : String(cause)
  return new StoreError(classifySqlState(state, message), `the database returned an error: ${message}`, cause)
}

/** Returns the five-character SQLSTATE or the system's code (ECONNREFUSED) of a driver's error; '' if it has none. */
export function getSqlState(error: unknown): string {
  const code: unknown =
    typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

function classifySqlState(state: string, message: string): StoreErrorCode {
  if (/^(?:08|57P)/.test(state) || /^E[A-Z]+$/.test(state)) return 'unreachable'
  if (state === '40001' || state === '40P01') return 'conflict'
  if (state.startsWith('53')) return 'full'
  // node-postgres has only messages for these.
  if (/Connection terminated|timeout exceeded when trying to connect|not queryable/.test(message))
    return 'unreachable'
  return 'failed'
}
