// The git folder's only error class. redact.ts removes credentials from its messages.

export type GitErrorCode =
  /** The server can't be reached or disconnected. */
  | 'unreachable'
  /** The server rejects our credential, or there is none. */
  | 'unauthorized'
  /** A repository, ref or object doesn't exist. */
  | 'missing'
  /** An object or answer exceeds its limit. */
  | 'too-large'
  /** Damaged or malformed objects, here or on the server. */
  | 'corrupt'
  | 'timeout'
  /** We reject the call: a bad argument, a forbidden address, not a permit. */
  | 'refused'
  /** The mirror was closed. */
  | 'aborted'
  /** `git` is missing or too old. */
  | 'unsupported'
  /** A push ended without an answer. Read the branch; don't push again (T39). */
  | 'outcome-unknown'
  | 'failed'

const retryableByGitErrorCode: Record<GitErrorCode, boolean> = {
  unreachable: true,
  unauthorized: false,
  missing: false,
  'too-large': false,
  corrupt: false,
  timeout: true,
  refused: false,
  aborted: true,
  unsupported: false,
  'outcome-unknown': false,
  failed: true,
}

export class GitError extends Error {
  override readonly name = 'GitError'
  readonly code: GitErrorCode
  /** Whether the same call may succeed later. */
  readonly retryable: boolean

  constructor(code: GitErrorCode, message: string, options: { cause?: unknown; retryable?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryable = options.retryable ?? retryableByGitErrorCode[code]
  }
}

export function isGitError(value: unknown, code?: GitErrorCode): value is GitError {
  return value instanceof GitError && (code === undefined || value.code === code)
}
