// The one error class of the git floor. A message never holds a credential (redact.ts went over it).

export type GitErrorCode =
  /** The server could not be reached or broke off. */
  | 'unreachable'
  /** The server does not accept our credential, or none could be had. */
  | 'unauthorized'
  /** A repository, ref or object does not exist. */
  | 'missing'
  /** An object or an answer is above the limit given for it. */
  | 'too-large'
  /** Objects here or there are damaged or malformed. */
  | 'corrupt'
  | 'timeout'
  /** We do not do what was asked: a bad argument, a forbidden address, not a permit. */
  | 'refused'
  /** The mirror was closed meanwhile. */
  | 'aborted'
  /** There is no `git`, or it is too old. */
  | 'unsupported'
  /** A push ended without an answer: read the branch to learn what happened, do not push again (T39). */
  | 'outcome-unknown'
  /** Everything else. */
  | 'failed'

const retryable: Record<GitErrorCode, boolean> = {
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
  /** Whether the same call may succeed later with nothing else changed. */
  readonly retryable: boolean

  constructor(code: GitErrorCode, message: string, options: { cause?: unknown; retryable?: boolean } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.retryable = options.retryable ?? retryable[code]
  }
}

export function isGitError(value: unknown, code?: GitErrorCode): value is GitError {
  return value instanceof GitError && (code === undefined || value.code === code)
}
