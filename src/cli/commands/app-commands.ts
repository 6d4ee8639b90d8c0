// The commands of the App itself. The package for authors does not include their code: see app-command-stubs.ts.
import { Argument, InvalidArgumentError, type Command } from 'commander'
import { createOutputOption, createRepositoryOption, addExamplesToHelp, runImported } from '../options.ts'

const freezeActions = ['list', 'freeze', 'unfreeze']

/** The store and the control socket use the former names of the actions, which the command line accepts too. */
function parseFreezeAction(text: string): string {
  if (text === 'freeze') return 'stop'
  if (text === 'unfreeze') return 'resume'
  if (text === 'list' || text === 'stop' || text === 'resume') return text
  throw new InvalidArgumentError(`Allowed choices are ${freezeActions.join(', ')}.`)
}

export function addAppCommands(program: Command): void {
  addMergingCommand(program)
  addServeCommand(program)
  addOnceCommand(program)
  addDemoCommand(program)
}

function addMergingCommand(program: Command): void {
  const merging = program
    .command('merging')
    .alias('landings')
    .description('Freeze or unfreeze merging, or show whether it is frozen')
    .addArgument(
      new Argument('[action]', 'action to take')
        .choices(freezeActions)
        .default('list')
        .argParser(parseFreezeAction),
    )
    .addOption(createRepositoryOption())
    .option('--branch <branch>', 'branch to freeze or unfreeze (default: every branch)')
    .option('--reason <text>', 'reason for the freeze; shown on every pull request')
    .option('--audit', 'unfreeze: also end freezes that were caused by a failed merge verification')
    .option('--json', 'print the result as JSON')
    .action(runImported(async () => (await import('../merge-freezes.ts')).runFreezeCommand))
  addExamplesToHelp(
    merging,
    ['merging', "merging freeze --repository acme/catalog --reason 'Release in progress'"],
    `The freeze and unfreeze actions require --repository. The command uses the store in DATABASE_URL or DATA_DIR. If an App is running with the
store in DATA_DIR, the command contacts it through a socket in that folder. Maintainers can also freeze and unfreeze merging with
the comment commands /freeze and /unfreeze.

The former names of the command and its actions still work: \`landings\` for merging, \`stop\` for freeze, and \`resume\` for unfreeze.

Exit codes:
  0  success
  1  there was nothing to unfreeze
  2  the command could not run`,
  )
}

function addServeCommand(program: Command): void {
  const serve = program
    .command('serve')
    .description('Run the GitHub App server')
    .action(runImported(async () => (await import('../serve.ts')).runServe))
  addExamplesToHelp(
    serve,
    ['serve'],
    'The server reads its settings from environment variables. See docs/reference/environment.md.',
  )
}

function addOnceCommand(program: Command): void {
  const once = program
    .command('once')
    .description('Process all open pull requests once and exit')
    .addOption(createRepositoryOption().makeOptionMandatory())
    .option('--data <folder>', 'folder for state that is kept between runs (default: no state is kept)')
    .option('--token-variable <name>', 'environment variable that contains the token', 'GITHUB_TOKEN')
    .addOption(createOutputOption('text', 'json'))
    .action(runImported(async () => (await import('../once.ts')).runSweepOnceCommand))
  addExamplesToHelp(
    once,
    ['once --repository acme/catalog', 'once --repository acme/catalog --data .catalog-bot -o json'],
    `Use this command in a scheduled workflow, instead of running a server. See docs/how-to/actions.md for a workflow to copy.

The token must belong to an App, as a workflow's GITHUB_TOKEN does, because GitHub lets only Apps write check runs. The
command does not publish or scan images, and it does not receive events between runs. Without --data, comment commands such as
/freeze, /hold, and /approve apply to one run only.

Exit codes:
  0  catalog-bot reached a decision on every pull request
  1  some work is left for the next run, or merging is frozen
  2  the command could not run`,
  )
}

function addDemoCommand(program: Command): void {
  const demo = program
    .command('demo')
    .description('Run a demo against a simulated GitHub server and registry')
    .option('--keep', 'keep the demo running until you stop it')
    .option('-v, --verbose', "print catalog-bot's log")
    .action(runImported(async () => (await import('../demo.ts')).runDemoCommand))
  addExamplesToHelp(
    demo,
    ['demo', 'demo --keep'],
    `Exit codes:
  0  every pull request ended as expected
  1  at least one pull request did not end as expected
  2  the command could not run`,
  )
}
