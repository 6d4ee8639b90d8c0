// Counts tests that are skipped because this machine lacks a program or data. left-out-reporter.mjs reports them at the end
// of the run, and CI fails if more are skipped than expected.
import { appendFileSync } from 'node:fs'
import { expect } from '@jest/globals'
import { isOnPath } from './is-on-path.ts'

/** Reports that the running test, or the test file that is being loaded, skips something because `absent` is missing. */
export function reportSkippedTest(absent: string): void {
  const log = process.env['LEFT_OUT_LOG']
  if (log === undefined) return
  const { testPath } = expect.getState()
  // One write: several workers append to the same file.
  appendFileSync(log, `${JSON.stringify({ absent, file: testPath ?? '' })}\n`)
}

/** The first program that is not on the PATH, which is reported as skipped. Undefined if all are. */
export function findMissingProgram(...programs: readonly string[]): string | undefined {
  const missing = programs.find((program) => !isOnPath(program))
  if (missing !== undefined) reportSkippedTest(missing)
  return missing
}
