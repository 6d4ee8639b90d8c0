// Runs the real opm for tests that compare with it. They must also pass without opm, and count what they skip
// (.ci/build-opm builds opm).
import { spawnSync } from 'node:child_process'
import { findMissingProgram } from './left-out.ts'

/** Returns the exit code and output of opm. Returns undefined, counted as skipped, if opm is not installed. */
export function runOpm(
  args: readonly string[],
  options: { input?: string; env?: Record<string, string> } = {},
): { code: number; out: string; err: string } | undefined {
  if (findMissingProgram('opm') !== undefined) return undefined
  const run = spawnSync('opm', args, {
    input: options.input,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    env: { ...process.env, HELP_ALPHA: 'true', ...options.env },
  })
  return { code: run.status ?? -1, out: run.stdout, err: run.stderr }
}

/** Parses the concatenated JSON objects that opm writes. */
export function parseJsonObjects(text: string): Record<string, unknown>[] {
  return text
    .split(/(?<=^\})\n/m)
    .filter((part) => part.trim() !== '')
    .map((part) => JSON.parse(part) as Record<string, unknown>)
}
