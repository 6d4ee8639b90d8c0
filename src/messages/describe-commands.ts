// Renders the outcomes of commands from the records, so the text is reproducible.
import type { CommitSha } from '../change/ids.ts'
import type { CommandRecord, RollbackCommand } from '../gate/commands.ts'
import { toCodeSpan, escapeMarkdown } from './escape.ts'

/** Older commands remain visible in their own comments and reactions. */
const maxShownCommands = 5

const commandLabels: Readonly<Record<CommandRecord['command'], string>> = {
  approve: 'approved this commit',
  merge: 'asks the bot to merge this commit',
  hold: 'holds this pull request until /unhold',
  unhold: 'removed the hold',
  recheck: 'asked for a new check',
  freeze: 'stops merging',
  thaw: 'allows merging again',
  preview: 'asks for a preview image of this commit',
  'test-install': 'asks for a trial of this commit on the cluster',
  rollback: 'rolls an image back',
  override: 'lets this change pass in spite of a rule',
  help: 'asked for help (see below)',
  unclear: 'wrote a command that the bot does not understand',
}

const outcomeLabels: Readonly<Record<CommandRecord['outcome'], string>> = {
  done: '',
  denied: ', but has no permission: only owners of the changed packages and maintainers have it',
  stale: ', but for an older commit: comment again for this one',
  unclear: '',
}

const approvingCommands: ReadonlySet<CommandRecord['command']> = new Set([
  'approve',
  'merge',
  'unhold',
  'override',
])
const maintainerCommands: ReadonlySet<CommandRecord['command']> = new Set([
  'freeze',
  'thaw',
  'rollback',
  'override',
  'test-install',
])
const maintainersOnlyMessage = ', but has no permission: only maintainers have it'
const outdatedCommandMessage =
  ', but said so when this commit did something else: comment again to mean what it does now'

const helpText = [
  `- ${toCodeSpan('/approve [commit]')}: approve exactly this commit (owners and maintainers)`,
  `- ${toCodeSpan('/hold')}, ${toCodeSpan('/unhold')}: stop the bot from merging, and allow it again`,
  `- ${toCodeSpan('/recheck')}: run all checks again`,
  `- ${toCodeSpan('/freeze [branch] [reason]')}, ${toCodeSpan('/thaw [branch]')}: stop all merging into a branch, and allow it again (maintainers)`,
  `- ${toCodeSpan('/preview [commit]')}: publish a preview image, where the repository has them (owners and maintainers)`,
  `- ${toCodeSpan('/test-install [commit]')}: install it on the operator’s cluster, where the repository has that (maintainers)`,
  `- ${toCodeSpan('/override RULE because REASON')}: let exactly this change pass in spite of a rule of the bot’s own (maintainers)`,
  `- ${toCodeSpan('/rollback [tag] [digest]')}: let a tag name a former image again (maintainers)`,
  `- ${toCodeSpan('/merge')}: merge this commit, in repositories without automatic merging`,
]

function formatFreezeDetails({ branch, reason, kinds }: NonNullable<CommandRecord['stop']>): string {
  const audit = kinds.includes('audit')
    ? ', though the audit found something else there than what was checked'
    : ''
  const where = branch === undefined ? 'on every branch' : `on ${toCodeSpan(branch)}`
  return ` ${where}${audit}${reason === '' ? '' : `: ${escapeMarkdown(reason, 200)}`}`
}

function formatRollbackDetails({ words: asked, image, tag, digest, why }: RollbackCommand): string {
  if (image !== undefined && tag !== undefined && digest !== undefined)
    return `: ${toCodeSpan(`${image}:${tag}`)} to ${toCodeSpan(digest)}`
  const about = asked === '' ? '' : ` ${toCodeSpan(`/rollback ${asked}`, 120)}`
  return why === undefined ? about : `${about}, which the bot cannot do: ${escapeMarkdown(why)}`
}

/** A Markdown line for each command about this head, newest last; help where requested. */
export function describeCommands(
  records: readonly CommandRecord[],
  head: CommitSha,
  epoch: number,
  isYesToThis: (record: CommandRecord) => boolean,
): readonly string[] {
  const current = records.filter((record) => record.head === head && record.epoch === epoch)
  const lines = current.slice(-maxShownCommands).map((record) => {
    const { login, command, outcome } = record
    const isForSomethingElse = outcome === 'done' && approvingCommands.has(command) && !isYesToThis(record)
    const about = [
      record.stop === undefined ? '' : formatFreezeDetails(record.stop),
      record.rollback === undefined ? '' : formatRollbackDetails(record.rollback),
      record.override === undefined
        ? ''
        : ` ${toCodeSpan(record.override.rule)}: ${escapeMarkdown(record.override.reason, 300)}`,
    ].join('')
    const became =
      outcome === 'denied' && maintainerCommands.has(command)
        ? maintainersOnlyMessage
        : outcomeLabels[outcome]
    return `- ${toCodeSpan(login)} ${commandLabels[command]}${about}${isForSomethingElse ? outdatedCommandMessage : became}`
  })
  return current.some(({ command }) => command === 'help' || command === 'unclear')
    ? [...lines, '', ...helpText]
    : lines
}
