// Output of commands: results go to stdout, everything else goes to stderr, and exit codes are 0, 1, and 2.

import { escapeNonPrintableCharacters } from '@catalog-bot/findings/printable'
import { formatSystemError } from './system-error.ts'

/** 0: success. 1: the check failed. 2: the result is inconclusive, or the command could not run. */
export type ExitCode = 0 | 1 | 2

export function printToStdout(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Prints JSON in parts, because it may exceed the maximum length of a string. */
export function printJson(value: unknown): void {
  let part = ''
  for (const piece of generateJsonChunks(value)) {
    part += piece
    if (part.length < minOutputChunkLength) continue
    process.stdout.write(part)
    part = ''
  }
  process.stdout.write(`${part}\n`)
}

const minOutputChunkLength = 1024 * 1024
const maxJsonItemsPerChunk = 1000

function* generateJsonChunks(value: unknown): Generator<string> {
  if (Array.isArray(value) && value.length > maxJsonItemsPerChunk) {
    for (let at = 0; at < value.length; at += maxJsonItemsPerChunk) {
      yield at === 0 ? '[' : ','
      yield JSON.stringify(value.slice(at, at + maxJsonItemsPerChunk)).slice(1, -1)
    }
    yield ']'
  } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    let before = '{'
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue
      yield `${before}${JSON.stringify(key)}:`
      yield* generateJsonChunks(field)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  } else yield JSON.stringify(value)
}

export function printToStderr(text: string): void {
  process.stderr.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Sets the exit code without exiting, so that pending output is written. */
export function setExitCode(code: ExitCode): void {
  process.exitCode = code
}

/** Prints a readable message, and the stack trace if `DEBUG` is set. */
export function exitWithError(error: unknown): void {
  const message = formatSystemError(error) ?? (error instanceof Error ? error.message : String(error))
  // Escapes each line because the message may contain untrusted text.
  printToStderr(`catalog-bot: ${message.split('\n').map(escapeNonPrintableCharacters).join('\n')}`)
  if (process.env.DEBUG && error instanceof Error && error.stack !== undefined) printToStderr(error.stack)
  setExitCode(2)
}
