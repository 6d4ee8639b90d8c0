// Runs the real command line as a child process, as people do: nothing of this machine's settings reaches it.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { keptCompiled } from '../kept-compiled.ts'

const cli = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** `PATH` is kept for git alone; without a home there are no credentials and no cache. */
export function catalogBot(...parameters: string[]): Promise<CommandResult> {
  return catalogBotIn('.', ...parameters)
}

/** The same from another directory. */
export function catalogBotIn(cwd: string, ...parameters: string[]): Promise<CommandResult> {
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      ['--no-warnings', cli, ...parameters],
      {
        cwd,
        env: {
          HOME: '/dev/null',
          PATH: process.env.PATH,
          NODE_COMPILE_CACHE: join(keptCompiled, 'compiled'),
        },
        maxBuffer: 1 << 30,
      },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    ),
  )
}
