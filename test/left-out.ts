// What a test leaves out because something is not on this machine. Tests must pass without it; what was left out is
// counted and told at the end of the run (left-out-reporter.mjs), and CI fails on more of it than it expects.
import { appendFileSync } from 'node:fs'
import { expect } from '@jest/globals'
import { isOnPath } from './is-on-path.ts'

/** Tells that the test that is running, or the file that is being loaded, leaves something out for want of `absent`. */
export function reportSkippedTest(absent: string): void {
  const log = process.env['LEFT_OUT_LOG']
  if (log === undefined) return
  const { testPath } = expect.getState()
  // One write: several workers append to the same file.
  appendFileSync(log, `${JSON.stringify({ absent, file: testPath ?? '' })}\n`)
}

/** The first of the programs that is not on the PATH: what needs it is left out. Undefined where all are. */
export function findMissingProgram(...programs: readonly string[]): string | undefined {
  const missing = programs.find((program) => !isOnPath(program))
  if (missing !== undefined) reportSkippedTest(missing)
  return missing
}
