// The real opm, for tests that compare with it. They must also pass where it is absent, and say what they left out.
import { spawnSync } from 'node:child_process'

let known: boolean | undefined

/** Runs opm; undefined (with a line on stderr) where there is none. A failure gives its standard error. */
export function opm(
  args: readonly string[],
  options: { input?: string; env?: Record<string, string> } = {},
): { code: number; out: string; err: string } | undefined {
  known ??= spawnSync('opm', ['version']).status === 0
  if (!known) {
    process.stderr.write('left out: opm is not here (.ci/build-opm builds one)\n')
    return undefined
  }
  const run = spawnSync('opm', args, {
    input: options.input,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
    env: { ...process.env, HELP_ALPHA: 'true', ...options.env },
  })
  return { code: run.status ?? -1, out: run.stdout, err: run.stderr }
}

/** The objects of a text in which opm wrote JSON, one after another. */
export function objectsOf(text: string): Record<string, unknown>[] {
  return text
    .split(/(?<=^\})\n/m)
    .filter((part) => part.trim() !== '')
    .map((part) => JSON.parse(part) as Record<string, unknown>)
}
