// How commands speak: results on stdout, everything else on stderr, exit codes 0, 1 and 2.

import { printable } from '../findings/printable.ts'

/** All as wanted; some input is not; the command could not run. */
export type ExitCode = 0 | 1 | 2

export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
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
  const words = error instanceof Error ? error.message : String(error)
  // Registries, archives and files have a part in the words; the line breaks are our own.
  say(`catalog-bot: ${words.split('\n').map(printable).join('\n')}`)
  if (process.env.DEBUG && error instanceof Error && error.stack !== undefined) say(error.stack)
  exitWith(2)
}
