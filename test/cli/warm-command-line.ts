// A process that runs the command line again and again, each time as if it had been typed anew: where it is asked to, with an
// exit code and words of its own. What was loaded for one command is there for the next. Started by command.ts.
import { addAppCommands } from '../../src/cli/commands/app-commands.ts'
import { fail } from '../../src/cli/output.ts'
import { buildProgram } from '../../src/cli/program.ts'

export interface Typed {
  readonly cwd: string
  readonly parameters: readonly string[]
}

export interface CommandResult {
  readonly code: number
  readonly out: string
  readonly err: string
}

/** The command ended itself. */
class Ended extends Error {}

// Not by exit(), which is a command's here.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
process.exit = (code) => {
  process.exitCode = code ?? process.exitCode ?? 0
  throw new Ended()
}

/** What is written to a stream while something runs, which is not shown. */
function listenTo(stream: NodeJS.WriteStream): () => string {
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

async function run({ cwd, parameters }: Typed): Promise<CommandResult> {
  process.chdir(cwd)
  process.exitCode = 0
  const [out, err] = [listenTo(process.stdout), listenTo(process.stderr)]
  try {
    await buildProgram(addAppCommands).parseAsync([...parameters], { from: 'user' })
  } catch (error) {
    if (!(error instanceof Ended)) fail(error)
  }
  const code = Number(process.exitCode)
  process.exitCode = 0
  return { code, out: out(), err: err() }
}

let last: Promise<void> = Promise.resolve()
process.on('message', (typed: Typed) => {
  last = last.then(async () => {
    process.send?.(await run(typed))
  })
})
