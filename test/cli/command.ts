// Runs the real command line without the settings of this machine. One process runs the commands of all tests of a worker,
// one after the other. built-command.test.ts and old-node.test.ts test how the process of a command starts and ends.
import { fork, type ChildProcess } from 'node:child_process'
import { resolve as absolute } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compileCacheEnvironment } from '../compile-cache.ts'
import type { CommandResult, CommandInput } from './warm-command-line.ts'

export type { CommandResult } from './warm-command-line.ts'

const commandProcessScript = fileURLToPath(new URL('./warm-command-line.ts', import.meta.url))

let commandProcess: ChildProcess | undefined
let lastCommandPromise: Promise<unknown> = Promise.resolve()

/** `PATH` is kept for git alone; without a home there are no credentials and no cache. */
export function runCatalogBot(...parameters: string[]): Promise<CommandResult> {
  return runCatalogBotInDirectory('.', ...parameters)
}

/** The same from another directory. */
export function runCatalogBotInDirectory(cwd: string, ...parameters: string[]): Promise<CommandResult> {
  const result = lastCommandPromise.then(() => sendCommandToProcess({ cwd: absolute(cwd), parameters }))
  lastCommandPromise = result.catch(() => undefined)
  return result
}

function sendCommandToProcess(typed: CommandInput): Promise<CommandResult> {
  const child = (commandProcess ??= startCommandProcess())
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: string | null) => {
      commandProcess = undefined
      reject(new Error(`the process of ${typed.parameters.join(' ')} ended: ${signal ?? code}`))
    }
    child.once('exit', onExit)
    child.channel?.ref()
    child.once('message', (result) => {
      child.off('exit', onExit)
      child.channel?.unref()
      resolve(result as CommandResult)
    })
    child.send(typed)
  })
}

function startCommandProcess(): ChildProcess {
  const child = fork(commandProcessScript, [], {
    execArgv: ['--no-warnings'],
    env: { HOME: '/dev/null', PATH: process.env.PATH, ...compileCacheEnvironment },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  // It ends with its worker, and does not keep it alive.
  child.unref()
  child.channel?.unref()
  return child
}
