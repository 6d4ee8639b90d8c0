// The commands for maintainers of a catalog repository, and shell completion.
import { Argument, type Command } from 'commander'
import {
  createInsecureRegistryOption,
  createCommaSeparatedOption,
  createOutputOption,
  createRepositoryOption,
  createIntegerOption,
  addExamplesToHelp,
  runImported,
} from '../options.ts'

export function addMaintainerCommands(program: Command): void {
  const doctor = program
    .command('doctor')
    .description('Diagnose App permissions, branch rules, and connectivity')
    .argument('[owner/name]', 'GitHub repository')
    .addOption(createRepositoryOption())
    .option('--branch <name>', 'branch to diagnose (default: the default branch)')
    .option('--config <file>', 'configuration file (default: none)')
    .addOption(
      createIntegerOption('--app <id>', 'ID of the App, required with a token', 1, Number.MAX_SAFE_INTEGER),
    )
    .option('--token-variable <name>', 'environment variable that contains the token', 'GITHUB_TOKEN')
    .option(
      '--rulesets <folder>',
      'folder in which to write the two recommended rulesets, for import into GitHub',
    )
    .addOption(
      createCommaSeparatedOption(
        '--registry <host>',
        'registry to check, in addition to those that the configuration allows',
      ),
    )
    .addOption(createInsecureRegistryOption())
    .addOption(createOutputOption('text', 'json'))
    .action(runImported(async () => (await import('../doctor.ts')).runDoctor))
  addExamplesToHelp(
    doctor,
    ['doctor acme/catalog --app 12345', 'doctor acme/catalog --app 12345 --rulesets rulesets'],
    `The command checks permissions, branch rules, webhook deliveries, registries, the proxy, and the clock. The command changes nothing on GitHub, and
writes files only with --rulesets.
If APP_ID, the private key, and the webhook secret are in the environment or in DATA_DIR, the command authenticates as the App. Without these credentials, the command uses
the token, which cannot read the App's permissions and deliveries.

Exit codes:
  0  the App can merge and nothing is missing
  1  the App cannot merge, or something is missing
  2  the result is inconclusive, or the command could not run`,
  )
}

export function addCompletionCommand(program: Command): void {
  const command = program
    .command('completion')
    .description('Print a shell completion script')
    .addArgument(new Argument('<shell>', 'name of the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { renderCompletionScript: completionScript } = await import('../completion.ts')
      const { printToStdout: print } = await import('../output.ts')
      print(completionScript(program, shell))
    })
  addExamplesToHelp(
    command,
    ['completion bash', 'completion zsh', 'completion fish'],
    `To enable completion:
  bash: add "source <(catalog-bot completion bash)" to ~/.bashrc
  zsh:  add "source <(catalog-bot completion zsh)" to ~/.zshrc, after compinit
  fish: run "catalog-bot completion fish > ~/.config/fish/completions/catalog-bot.fish"`,
  )
}
