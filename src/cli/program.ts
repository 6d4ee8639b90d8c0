// The tree of commands, for help, completion, and tests. Each command loads its code when it runs.
import { Command } from 'commander'
import { readPackageVersion } from '../adapters/package-metadata.ts'
import { addAuthoringCommands } from './commands/authoring-commands.ts'
import { addCatalogCommands, addValidateCommand } from './commands/catalog-commands.ts'
import { addImageCommands } from './commands/image-commands.ts'
import { addCompletionCommand, addMaintainerCommands } from './commands/maintainer-commands.ts'
import { addPullRequestCommands } from './commands/pull-commands.ts'
import { addExamplesToHelp, addUsageHintOnError } from './options.ts'
import { exitWithError, prepareOutput, printToStderr, printToStdout } from './output.ts'

/**
 * `addApp` adds the App's commands, or stubs for them in a package without the App. `named` is the command that will run, if it is
 * known. For `validate`, adds no other command, because adding all of them takes longer than reading half a megabyte of a catalog.
 */
export function buildProgram(addApp: (program: Command) => void, named?: string): Command {
  const program = new Command('catalog-bot')
    .description('Validate, merge, and publish OLM file-based catalogs.')
    .version(readPackageVersion())
    .configureOutput({ writeOut: printToStdout, writeErr: printToStderr })
    .exitOverride((error) => {
      // Help and version exit successfully. Every other exit means that the command could not run.
      process.exit(error.exitCode === 0 ? 0 : 2)
    })
  if (named === 'validate') addValidateCommand(program)
  else addAllCommands(program, addApp)
  addExamplesToHelp(program, ['validate', 'check', 'rule several-heads'])
  addUsageHintOnError(program)
  return program
}

function addAllCommands(program: Command, addApp: (program: Command) => void): void {
  addCatalogCommands(program)
  addPullRequestCommands(program)
  addAuthoringCommands(program)
  addImageCommands(program)
  addMaintainerCommands(program)
  addApp(program)
  addCompletionCommand(program)
}

export function runProgram(addApp: (program: Command) => void): void {
  const [name] = process.argv.slice(2)
  prepareOutput({ isShort: name === 'validate' })
  buildProgram(addApp, name)
    .parseAsync()
    .catch((error: unknown) => {
      exitWithError(error)
      // Otherwise, a server or a database that the command opened would keep the process running.
      setTimeout(() => process.exit(), 1000).unref()
    })
}
