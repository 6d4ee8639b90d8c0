// What became of people's commands, for the one comment. Made from what is on record, so it always says the same.
import type { CommitSha } from '../change/ids.ts'
import type { CommandRecord } from '../gate/commands.ts'
import { code } from './escape.ts'

/** Commands about older states are history: the comments themselves and their reactions still show them. */
const shownCommands = 5

const words: Readonly<Record<CommandRecord['command'], string>> = {
  approve: 'approves this commit',
  merge: 'asks for this commit to land',
  hold: 'holds this back until /unhold',
  unhold: 'lifts the hold',
  recheck: 'had everything looked at again',
  help: 'asked for help: see below',
  unclear: 'gave a command that was not understood',
}

const outcomes: Readonly<Record<CommandRecord['outcome'], string>> = {
  done: '',
  denied: ', without the right to: owners of what is changed and maintainers have it',
  stale: ', but about an older state than this one: comment again to mean this one',
  unclear: '',
}

/** Commands that say yes to something. */
const agrees: ReadonlySet<CommandRecord['command']> = new Set(['approve', 'merge', 'unhold'])
const forSomethingElse =
  ', but said so when this commit did something else: comment again to mean what it does now'

const help = [
  `- ${code('/approve [commit]')}: owners and maintainers agree to exactly this commit`,
  `- ${code('/hold')}, ${code('/unhold')}: keep it from landing, and lift that again`,
  `- ${code('/recheck')}: look at everything again`,
  `- ${code('/merge')}: let it land where nothing lands by itself`,
]

/** A Markdown line for each command that is about this head, the newest last; help where somebody asked for it. */
export function describeCommands(
  records: readonly CommandRecord[],
  head: CommitSha,
  epoch: number,
  isYesToThis: (record: CommandRecord) => boolean,
): readonly string[] {
  const current = records.filter((record) => record.head === head && record.epoch === epoch)
  const lines = current.slice(-shownCommands).map((record) => {
    const { login, command, outcome } = record
    const isForSomethingElse = outcome === 'done' && agrees.has(command) && !isYesToThis(record)
    return `- ${code(login)} ${words[command]}${isForSomethingElse ? forSomethingElse : outcomes[outcome]}`
  })
  return current.some(({ command }) => command === 'help' || command === 'unclear')
    ? [...lines, '', ...help]
    : lines
}
