// How commands speak: results on stdout, everything else on stderr, exit codes 0, 1 and 2.

import { printable } from '../findings/printable.ts'
import { saySystemError } from './system-error.ts'

/** Success; invalid input; the command could not run. */
export type ExitCode = 0 | 1 | 2

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Prints JSON in parts, because it may exceed the maximum length of a string. */
export function printJson(value: unknown): void {
  let part = ''
  for (const piece of jsonPieces(value)) {
    part += piece
    if (part.length < partLength) continue
    process.stdout.write(part)
    part = ''
  }
  process.stdout.write(`${part}\n`)
}

const partLength = 1024 * 1024
const itemsAtOnce = 1000

function* jsonPieces(value: unknown): Generator<string> {
  if (Array.isArray(value) && value.length > itemsAtOnce) {
    for (let at = 0; at < value.length; at += itemsAtOnce) {
      yield at === 0 ? '[' : ','
      yield JSON.stringify(value.slice(at, at + itemsAtOnce)).slice(1, -1)
    }
    yield ']'
  } else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    let before = '{'
    for (const [key, field] of Object.entries(value)) {
      if (field === undefined) continue
      yield `${before}${JSON.stringify(key)}:`
      yield* jsonPieces(field)
      before = ','
    }
    yield before === '{' ? '{}' : '}'
  } else yield JSON.stringify(value)
}

export function say(text: string): void {
  process.stderr.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Lets pending output finish. */
export function exitWith(code: ExitCode): void {
  process.exitCode = code
}

/** Prints one line for people, with details on request. */
export function fail(error: unknown): void {
  const words = saySystemError(error) ?? (error instanceof Error ? error.message : String(error))
  // Only our own line breaks are kept, because the message may be untrusted.
  say(`catalog-bot: ${words.split('\n').map(printable).join('\n')}`)
  if (process.env.DEBUG && error instanceof Error && error.stack !== undefined) say(error.stack)
  exitWith(2)
}
