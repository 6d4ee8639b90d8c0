// A process that runs many command lines, each like a fresh invocation: in the requested directory, with a separate
// exit code and output. Modules loaded for one command stay loaded for the next. Started by command.ts.
import { addAppCommands } from '../../src/cli/commands/app-commands.ts'
import { exitWithError } from '../../src/cli/output.ts'
import { buildProgram } from '../../src/cli/program.ts'

export interface CommandInput {
  readonly cwd: string
  readonly parameters: readonly string[]
}

export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** Thrown by `process.exit()` so that this process survives. */
class CommandExitError extends Error {}

// A signal, because process.exit() is replaced below.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.exit = (code) => {
  process.exitCode = code ?? process.exitCode ?? 0
  throw new CommandExitError()
}

/** Captures writes to a stream instead of printing them, until the returned function is called. */
function captureStreamWrites(stream: NodeJS.WriteStream): () => string {
  const parts: Buffer[] = []
  const write = stream.write.bind(stream)
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]) => {
    parts.push(Buffer.from(chunk as string))
    const done = more.find((one) => typeof one === 'function')
    if (done !== undefined) process.nextTick(done)
    return true
  }
  return () => {
    stream.write = write
    return Buffer.concat(parts).toString()
  }
}

async function runCommand({ cwd, parameters }: CommandInput): Promise<CommandResult> {
  process.chdir(cwd)
  process.exitCode = 0
  const [out, err] = [captureStreamWrites(process.stdout), captureStreamWrites(process.stderr)]
  try {
    await buildProgram(addAppCommands).parseAsync([...parameters], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommandExitError)) exitWithError(error)
  }
  const code = Number(process.exitCode)
  process.exitCode = 0
  return { code, out: out(), err: err() }
}

let lastCommandPromise: Promise<void> = Promise.resolve()
process.on('message', (typed: CommandInput) => {
  lastCommandPromise = lastCommandPromise.then(async () => {
    process.send?.(await runCommand(typed))
  })
})
