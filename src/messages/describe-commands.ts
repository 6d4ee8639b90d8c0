// What became of people's commands, for the one comment. Made from what is on record, so it always says the same.
import type { CommitSha } from '../change/ids.ts'
import type { CommandRecord } from '../gate/commands.ts'
import { code } from './escape.ts'

/** Commands about older states are history: the comments themselves and their reactions still show them. */
const shownCommands = 5

const words: Readonly<Record<CommandRecord['command'], string>> = {
  approve: 'approved this commit',
  merge: 'asks the bot to merge this commit',
  hold: 'holds this pull request until /unhold',
  unhold: 'removed the hold',
  recheck: 'asked for a new check',
  help: 'asked for help (see below)',
  unclear: 'wrote a command that the bot does not understand',
}

const outcomes: Readonly<Record<CommandRecord['outcome'], string>> = {
  done: '',
  denied: ', but has no permission: only owners of the changed packages and maintainers have it',
  stale: ', but for an older commit: comment again for this one',
  unclear: '',
}

/** Commands that say yes to something. */
const agrees: ReadonlySet<CommandRecord['command']> = new Set(['approve', 'merge', 'unhold'])
const forSomethingElse =
  ', but said so when this commit did something else: comment again to mean what it does now'

const help = [
  `- ${code('/approve [commit]')}: approve exactly this commit (owners and maintainers)`,
  `- ${code('/hold')}, ${code('/unhold')}: stop the bot from merging, and allow it again`,
  `- ${code('/recheck')}: run all checks again`,
  `- ${code('/merge')}: merge this commit, in repositories without automatic merging`,
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
