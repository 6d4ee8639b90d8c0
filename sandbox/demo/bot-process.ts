// catalog-bot in a separate process, as a bot administrator would run it. The demo and the stories observe it from
// outside.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface BotProcessOptions {
  /** Starts catalog-bot when `serve` follows. Default: the program of this package or checkout. */
  readonly command?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** Called with each line of catalog-bot's log. */
  readonly onLog?: (line: string) => void
  /** The file for the log. */
  readonly logFile?: string
}

export interface BotProcess {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  readonly process: ChildProcess
  /** Stops the process, and resolves when it has exited. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Resolves with the signal or exit code when the process has exited. */
  readonly exited: Promise<string>
}

const botExecutablePath = join(import.meta.dirname, '..', '..', 'bin', 'catalog-bot.cjs')
const defaultCommand = [process.execPath, '--no-warnings', botExecutablePath]

/** Starts catalog-bot, and resolves once it listens. Rejects with the end of its log if it exits before that. */
export async function startBotProcess({
  command: [program = '', ...parameters] = defaultCommand,
  environment,
  onLog,
  logFile,
}: BotProcessOptions): Promise<BotProcess> {
  const child = spawn(program, [...parameters, 'serve'], {
    env: { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // If this process ends early, so does catalog-bot.
  const endChild = () => void child.kill()
  process.once('exit', endChild)
  child.once('exit', () => process.off('exit', endChild))
  const exited = once(child, 'exit').then(([code, signal]) => String(signal ?? code))
  const last: string[] = []
  const address = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      createInterface({ input: stream }).on('line', (line) => {
        last.push(line)
        if (last.length > 20) last.shift()
        if (logFile !== undefined) appendFileSync(logFile, `${line}\n`)
        onLog?.(line)
        const found = /listening on (?<address>http:\/\/\S+)/.exec(line)?.groups?.address
        if (found !== undefined) resolve(found)
      })
  })
  const early = exited.then((how) => {
    throw new Error(`catalog-bot exited (${how}) before it was listening:\n${last.join('\n')}`)
  })
  early.catch(() => undefined)
  return {
    url: await Promise.race([address, early]),
    process: child,
    exited,
    async kill(signal = 'SIGTERM') {
      child.kill(signal)
      await exited
    },
  }
}
