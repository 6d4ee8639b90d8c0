// How commands speak: results on stdout, everything else on stderr, exit codes 0, 1 and 2.

import { printable } from '../findings/printable.ts'
import { saySystemError } from './system-error.ts'

/** All as wanted; some input is not; the command could not run. */
export type ExitCode = 0 | 1 | 2

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Prints a value of plain data as a line of JSON, part by part: as one text it may be longer than a text can be. */
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
/** A list of more items is printed so many at a time. */
const itemsAtOnce = 1000

/** The pieces of what JSON.stringify() makes of a value. */
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

/** Sets the exit code without cutting off what is still being written. */
export function exitWith(code: ExitCode): void {
  process.exitCode = code
}

/** The command could not run: one line for people, the details where they are asked for. */
export function fail(error: unknown): void {
  const words = saySystemError(error) ?? (error instanceof Error ? error.message : String(error))
  // Registries, archives and files have a part in the words; the line breaks are our own.
  say(`catalog-bot: ${words.split('\n').map(printable).join('\n')}`)
  if (process.env.DEBUG && error instanceof Error && error.stack !== undefined) say(error.stack)
  exitWith(2)
}
