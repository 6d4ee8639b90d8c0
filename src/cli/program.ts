// The whole command line as a tree of commands: parsed here, and read for help, completion and tests. Running one loads
// what it needs, so that no other starts later for it.
import { Command } from 'commander'
import { addAuthoringCommands } from './commands/authoring-commands.ts'
import { addCatalogCommands } from './commands/catalog-commands.ts'
import { addImageCommands } from './commands/image-commands.ts'
import { addCompletionCommand, addMaintainerCommands } from './commands/maintainer-commands.ts'
import { addPullCommands } from './commands/pull-commands.ts'
import { addHelp, addHelpHint } from './help.ts'
import { readVersion } from './version.ts'

/** `addApp` adds the commands of the App, or what stands for them where it is not. */
export function buildProgram(addApp: (program: Command) => void): Command {
  const program = new Command('catalog-bot')
    .description("Checks, merges and republishes Operator catalogs in OLM's file-based format.")
    .version(readVersion())
    .exitOverride((error) => {
      // Help and version are no failures; everything else means that the command could not run.
      process.exit(error.exitCode === 0 ? 0 : 2)
    })
  addCatalogCommands(program)
  addPullCommands(program)
  addAuthoringCommands(program)
  addImageCommands(program)
  addMaintainerCommands(program)
  addApp(program)
  addCompletionCommand(program)
  addHelp(program, ['validate', 'check', 'rule several-heads'])
  addHelpHint(program)
  return program
}

export function runProgram(addApp: (program: Command) => void): void {
  // A closed pipe, as with `head`, is no failure, and a known result still counts.
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit(process.exitCode ?? 2)
    })
  buildProgram(addApp)
    .parseAsync()
    .catch(async (error: unknown) => (await import('./output.ts')).exitWithError(error))
}
