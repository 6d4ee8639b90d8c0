// The commands of whoever maintains a catalog repository, and what every command line has.
import { Argument, type Command } from 'commander'
import type { DoctorOptions } from '../doctor.ts'
import { addHelp } from '../help.ts'
import {
  insecureRegistryOption,
  listOption,
  outputOption,
  repositoryOption,
  integerOption,
} from '../options.ts'

export function addMaintainerCommands(program: Command): void {
  const doctor = program
    .command('doctor')
    .description('say what a branch on GitHub demands, how the App would merge there, and what is missing')
    .argument('[owner/name]', 'the repository')
    .addOption(repositoryOption())
    .option('--branch <name>', 'the branch (default: the default branch)')
    .option('--config <file>', 'a configuration (default: none)')
    .addOption(integerOption('--app <id>', "the App's id, when a token is used", 1, Number.MAX_SAFE_INTEGER))
    .option('--token-variable <name>', 'the environment variable that holds the token', 'GITHUB_TOKEN')
    .option('--rulesets <folder>', 'write the two recommended rulesets there, to be imported')
    .addOption(
      listOption('--registry <host>', 'a registry to ask, beside those that the configuration allows'),
    )
    .addOption(insecureRegistryOption())
    .addOption(outputOption('text', 'json'))
    .action(async (repository: string | undefined, options: DoctorOptions) =>
      (await import('../doctor.ts')).runDoctor(repository, options),
    )
  addHelp(
    doctor,
    ['doctor acme/catalog --app 12345', 'doctor acme/catalog --app 12345 --rulesets rulesets'],
    `It looks at permissions, the branch's rules, deliveries, registries, proxy and clock, and changes nothing. Where APP_ID, the
private key and the webhook secret are in the environment, the App itself asks; else the token does, which cannot see the App's
permissions and deliveries. Exit code: 0 if the App can merge and nothing is missing, 1 if not, 2 if the command could not run.`,
  )
}

export function addCompletionCommand(program: Command): void {
  const command = program
    .command('completion')
    .description('print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript } = await import('../completion.ts')
      const { print } = await import('../output.ts')
      print(completionScript(program, shell))
    })
  addHelp(
    command,
    ['completion bash', 'completion zsh', 'completion fish'],
    `bash: source <(catalog-bot completion bash), in ~/.bashrc. zsh: the same with zsh, behind compinit, in ~/.zshrc. fish:
catalog-bot completion fish > ~/.config/fish/completions/catalog-bot.fish.`,
  )
}
