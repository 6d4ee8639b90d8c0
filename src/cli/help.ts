import type { Command } from 'commander'

const examplesByCommand = new WeakMap<Command, readonly string[]>()

export function addExamplesToHelp(command: Command, examples: readonly string[], text = ''): Command {
  examplesByCommand.set(command, examples)
  const shown = examples.map((example) => `  catalog-bot ${example}`).join('\n')
  return command.addHelpText('after', `\nExamples:\n${shown}${text === '' ? '' : `\n\n${text}`}`)
}

export function getCommandExamples(command: Command): readonly string[] {
  return examplesByCommand.get(command) ?? []
}

export function listCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(listCommands)]
}

/** `catalog-bot bundle validate`. */
export function getFullCommandName(command: Command): string {
  return command.parent ? `${getFullCommandName(command.parent)} ${command.name()}` : command.name()
}

export function addUsageHintOnError(program: Command): void {
  for (const command of listCommands(program))
    command.showHelpAfterError(`Run '${getFullCommandName(command)} --help' for usage.`)
}
