// The commands of the App itself. The package for authors has none of what they run: see app-command-stubs.ts.
import { Argument, type Command } from 'commander'
import type { DemoOptions } from '../demo.ts'
import { addHelp } from '../help.ts'
import type { FreezeCommandOptions } from '../merge-freezes.ts'
import type { OnceCommandOptions } from '../once.ts'
import { outputOption, repositoryOption } from '../options.ts'

export function addAppCommands(program: Command): void {
  const landingsCommand = program
    .command('landings')
    .description('show where merging is stopped and why; stop and resume it')
    .addArgument(new Argument('[verb]', 'what to do').choices(['list', 'stop', 'resume']).default('list'))
    .addOption(repositoryOption())
    .option('--branch <branch>', 'only this branch (default: every branch)')
    .option('--reason <text>', 'why; people see it on every pull request')
    .option('--audit', 'resume: also where the branch does not hold what was checked')
    .option('--json', 'print one JSON document')
    .action(async (verb: string, options: FreezeCommandOptions) =>
      (await import('../merge-freezes.ts')).runFreezeCommand(verb, options),
    )
  addHelp(
    landingsCommand,
    ['landings', "landings stop --repository acme/catalog --reason 'a release is under way'"],
    `stop and resume need --repository. It works on the store that DATABASE_URL or DATA_DIR names. With a store in DATA_DIR it
asks the App that runs there, through a socket in that folder. Maintainers can do the same with /freeze and /thaw in a comment.
Exit code: 0; 1 if there was nothing to resume; 2 if the command could not run.`,
  )
  const serve = program
    .command('serve')
    .description('run the GitHub App')
    .action(async () => (await import('../serve.ts')).serve())
  addHelp(serve, ['serve'], 'Its settings come from the environment: docs/operating.md.')
  const once = program
    .command('once')
    .description('look at every open pull request of one repository, merge what passes, and end')
    .addOption(repositoryOption().makeOptionMandatory())
    .option('--data <folder>', 'what it remembers from run to run (default: nothing is remembered)')
    .option('--token-variable <name>', 'the environment variable that holds the token', 'GITHUB_TOKEN')
    .addOption(outputOption('text', 'json'))
    .action(async (options: OnceCommandOptions) => (await import('../once.ts')).runOnce(options))
  addHelp(
    once,
    ['once --repository acme/catalog', 'once --repository acme/catalog --data .catalog-bot -o json'],
    `For a workflow that runs now and then, instead of a server: docs/once.md has one to copy. The token must be an App's, such as
the GITHUB_TOKEN of a workflow: GitHub lets nobody else write check runs. It publishes no images, scans none, and hears of
nothing between two runs. Without --data, what people command in comments (/freeze, /hold, /approve) counts for one run alone.
Exit code: 0 if every pull request has its answer; 1 if something is left for the next run, or merging is stopped; 2 if the
command could not run.`,
  )
  const demo = program
    .command('demo')
    .description('run the bot against a simulated GitHub and registry, with good and bad pull requests')
    .option('--keep', 'keep it running at the end')
    .option('-v, --verbose', "print the bot's log")
    .action(async (options: DemoOptions) => (await import('../demo.ts')).runDemoCommand(options))
  addHelp(demo, ['demo', 'demo --keep'], 'Exit code: 0 if all came to the end it should, 1 if not.')
}
