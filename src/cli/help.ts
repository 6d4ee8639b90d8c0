// What every command's help says below its options, and what is said after a mistake: a sentence, not the whole help.
import type { Command } from 'commander'

const about = new WeakMap<Command, readonly string[]>()

/** Adds examples, as they are typed, and a text to a command's help. */
export function explain(command: Command, examples: readonly string[], text = ''): Command {
  about.set(command, examples)
  const shown = examples.map((example) => `  catalog-bot ${example}`).join('\n')
  return command.addHelpText('after', `\nExamples:\n${shown}${text === '' ? '' : `\n\n${text}`}`)
}

/** The examples of a command, without the name of the program. */
export function examplesOf(command: Command): readonly string[] {
  return about.get(command) ?? []
}

/** A command and all below it. */
export function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)]
}

/** `catalog-bot bundle validate`. */
export function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()
}

/** Where to read on after a mistake. */
export function tellWhereHelpIs(program: Command): void {
  for (const command of allCommands(program))
    command.showHelpAfterError(`Run "${pathOf(command)} --help" for what it takes.`)
}
