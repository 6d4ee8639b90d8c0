const gitErrorPatterns: readonly (readonly [RegExp, GitErrorCode])[] = [
  // First, because a rejected object also ends the connection.
  [/fsck error/, 'corrupt'],
  [
    /Authentication failed|terminal prompts disabled|could not read (?:Username|Password)|error: 401\b/,
    'unauthorized',
  ],
  [/error: 403\b/, 'unauthorized'],
  [
    /repository '.*' not found|does not appear to be a git repository|error: 404\b|couldn't find remote ref/,
    'missing',
  ],
  [/transport '.*' not allowed|unable to update url base from redirection|error: 30[1278]\b/, 'refused'],
  [
    /Could not resolve host|Failed to connect|Couldn't connect|Connection (?:refused|reset|timed out)|timed out|early EOF|unexpected disconnect|the remote end hung up|RPC failed|Operation too slow|Empty reply|error: (?:429|5\d\d)\b|SSL|TLS|protocol error|bad line length|expected 'packfile'|expected flush/,
    'unreachable',
  ],
  [
    /error in (?:tree|commit|blob|tag|object)|is corrupt|corrupt (?:loose|patch)|bad (?:tree|object header|packed object)|inflate:|packfile .* (?:cannot|does not)|index-pack failed|did not send all necessary objects|garbage at end|unable to unpack|object file .* is empty/,
    'corrupt',
  ],
  [
    /bad object|Not a valid (?:object|commit) name|not a valid object name|could not parse as tree|unable to read tree|bad revision|not something we can merge|not a tree object|unknown revision|Could not read|invalid object/,
    'missing',
  ],
]

export type GitErrorCode =
  /** The server can't be reached or disconnected. */
  | 'unreachable'
  /** The server rejects the credential, or there is none. */
  | 'unauthorized'
  /** A repository, ref or object doesn't exist. */
  | 'missing'
  /** An object or answer exceeds its limit. */
  | 'too-large'
  /** Damaged or malformed objects, here or on the server. */
  | 'corrupt'
  | 'timeout'
  /** catalog-bot rejects the call: a bad argument, a forbidden address, not a permit. */
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

/** A GitError as the answer of another process. */
export interface GitErrorResponse {
  readonly kind: 'git-error'
  readonly code: GitErrorCode
  readonly message: string
  readonly retryable: boolean
}

export function toGitErrorResponse({ code, message, retryable }: GitError): GitErrorResponse {
  return { kind: 'git-error', code, message, retryable }
}

export function isGitError(value: unknown, code?: GitErrorCode): value is GitError {
  return value instanceof GitError && (code === undefined || value.code === code)
}

/** Undefined instead of a GitError `too-large`. */
export const catchTooLarge = <T>(reading: Promise<T>) => catchGitError(reading, 'too-large', undefined)

/** `instead` if the mirror lacks an object, such as a commit that a forced push removed. Other errors prove nothing. */
export const catchMissing = <T, Instead>(reading: Promise<T>, instead: Instead) =>
  catchGitError(reading, 'missing', instead)

function catchGitError<T, Instead>(reading: Promise<T>, code: GitErrorCode, instead: Instead) {
  return reading.catch((error: unknown): Instead => {
    if (isGitError(error, code)) return instead
    throw error
  })
}

/** Maps Git's messages (LC_ALL=C) to error codes. Ignores `remote: ` lines, so a server can't choose the code. */
export function classifyGitError(stderr: string): GitErrorCode {
  const text = stderr
    .split(/[\n\r]/)
    .filter((line) => !line.startsWith('remote: '))
    .join('\n')
  return gitErrorPatterns.find(([pattern]) => pattern.test(text))?.[1] ?? 'failed'
}
