import type { Command } from 'commander'

const about = new WeakMap<Command, readonly string[]>()

export function explain(command: Command, examples: readonly string[], text = ''): Command {
  about.set(command, examples)
  const shown = examples.map((example) => `  catalog-bot ${example}`).join('\n')
  return command.addHelpText('after', `\nExamples:\n${shown}${text === '' ? '' : `\n\n${text}`}`)
}

export function examplesOf(command: Command): readonly string[] {
  return about.get(command) ?? []
}

export function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)]
}

/** `catalog-bot bundle validate`. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

export function tellWhereHelpIs(program: Command): void {
  for (const command of allCommands(program))
    command.showHelpAfterError(`Run "${pathOf(command)} --help" for what it takes.`)
}
