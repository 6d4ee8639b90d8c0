// The real opm, for tests that compare with it. They must also pass where it is absent, and count what they left out (.ci/build-opm builds one).
import { spawnSync } from 'node:child_process'
import { findMissingProgram } from './left-out.ts'

/** Runs opm; undefined where there is none, which is counted as left out. A failure gives its standard error. */
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

/** The objects of a text in which opm wrote JSON, one after another. */
export function parseJsonObjects(text: string): Record<string, unknown>[] {
  return text
    .split(/(?<=^\})\n/m)
    .filter((part) => part.trim() !== '')
    .map((part) => JSON.parse(part) as Record<string, unknown>)
}
