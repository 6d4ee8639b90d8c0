// The tree of commands, for help, completion, and tests. Each command loads its code when it runs.
import { Command } from 'commander'
import { readPackageVersion } from '../adapters/package-metadata.ts'
import { addAuthoringCommands } from './commands/authoring-commands.ts'
import { addCatalogCommands } from './commands/catalog-commands.ts'
import { addImageCommands } from './commands/image-commands.ts'
import { addCompletionCommand, addMaintainerCommands } from './commands/maintainer-commands.ts'
import { addPullRequestCommands } from './commands/pull-commands.ts'
import { addExamplesToHelp, addUsageHintOnError } from './options.ts'
import { exitWithError, printToStderr } from './output.ts'

/** `addApp` adds the App's commands, or stubs for them in a package without the App. */
export function buildProgram(addApp: (program: Command) => void): Command {
  const program = new Command('catalog-bot')
    .description('Validate, merge, and publish OLM file-based catalogs.')
    .version(readPackageVersion())
    .configureOutput({ writeErr: printToStderr })
    .exitOverride((error) => {
      // Help and version exit successfully. Every other exit means that the command could not run.
      process.exit(error.exitCode === 0 ? 0 : 2)
    })
  addCatalogCommands(program)
  addPullRequestCommands(program)
  addAuthoringCommands(program)
  addImageCommands(program)
  addMaintainerCommands(program)
  addApp(program)
  addCompletionCommand(program)
  addExamplesToHelp(program, ['validate', 'check', 'rule several-heads'])
  addUsageHintOnError(program)
  return program
}

export function runProgram(addApp: (program: Command) => void): void {
  // A closed pipe, as with `head`, is not a failure, and an exit code that is already set still applies.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') exitWithError(error)
      process.exit(process.exitCode ?? 2)
    })
  buildProgram(addApp)
    .parseAsync()
    .catch((error: unknown) => {
      exitWithError(error)
      // Otherwise, a server or a database that the command opened would keep the process running.
      setTimeout(() => process.exit(), 1000).unref()
    })
}
