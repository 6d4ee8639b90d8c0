// How commands speak: results on stdout, everything else on stderr, exit codes 0, 1 and 2.

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
  say(`catalog-bot: ${error instanceof Error ? error.message : String(error)}`)
  if (process.env.DEBUG && error instanceof Error && error.stack !== undefined) say(error.stack)
  exitWith(2)
}
