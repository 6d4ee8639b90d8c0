// Maps git's messages (LC_ALL=C) to our codes. Ignores `remote: ` lines, so a server can't choose the code.
import type { GitErrorCode } from './git-error.ts'

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

export function classifyGitError(stderr: string): GitErrorCode {
  const text = stderr
    .split(/[\n\r]/)
    .filter((line) => !line.startsWith('remote: '))
    .join('\n')
  return gitErrorPatterns.find(([pattern]) => pattern.test(text))?.[1] ?? 'failed'
}
