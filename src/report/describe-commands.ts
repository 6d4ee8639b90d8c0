// Renders the outcomes of commands from their records, so that the text is reproducible.
import { allowedUsersDescriptions, slashCommands } from '../pull-request/command.ts'
import type { CommitSha } from '../pull-request/ids.ts'
import type { CommandRecord, RollbackCommand } from '../policy/command-records.ts'
import { toCodeSpan, escapeMarkdown } from './escape.ts'

/** Older commands remain visible in their own comments and reactions. */
const maxDisplayedCommands = 5

const acceptedCommandLabels: Readonly<Record<CommandRecord['command'], string>> = {
  approve: 'approved this commit',
  merge: 'requested the merge of this commit',
  hold: 'put this pull request on hold',
  unhold: 'removed the hold',
  recheck: 'requested a recheck',
  freeze: 'froze merging',
  thaw: 'unfroze merging',
  preview: 'requested a preview image of this commit',
  'test-install': 'requested an install test of this commit on the test cluster',
  rollback: 'requested a rollback',
  override: 'overrode the rule',
  help: 'requested help (see the list below)',
  unclear: 'used an invalid command (see the list below)',
}

const approvingCommands: ReadonlySet<CommandRecord['command']> = new Set([
  'approve',
  'merge',
  'unhold',
  'override',
])
const staleCommandMessage =
  ' (outdated because the effect of this commit has changed; comment again to confirm)'

const slashCommandHelpLines = Object.values(slashCommands).map(
  ([usage, users, effect]) =>
    `- ${toCodeSpan(usage)}: ${effect} Allowed for ${allowedUsersDescriptions[users]}.`,
)

function formatFreezeDetails({ branch, reason, kinds }: NonNullable<CommandRecord['stop']>): string {
  const audit = kinds.includes('audit') ? ', including the freeze after the failed merge verification' : ''
  const where = branch === undefined ? 'into all branches' : `into ${toCodeSpan(branch)}`
  return ` ${where}${audit}${reason === '' ? '' : `: ${escapeMarkdown(reason, 200)}`}`
}

function formatRollbackDetails({ words: asked, image, tag, digest, why }: RollbackCommand): string {
  if (image !== undefined && tag !== undefined && digest !== undefined)
    return ` of ${toCodeSpan(`${image}:${tag}`)} to ${toCodeSpan(digest)}`
  const about = asked === '' ? '' : ` with ${toCodeSpan(`/rollback ${asked}`, 120)}`
  return why === undefined ? about : `${about}, but catalog-bot cannot do this: ${escapeMarkdown(why)}`
}

function formatIgnoredCommand({ login, command, outcome }: CommandRecord): string {
  const written = toCodeSpan(`/${command === 'thaw' ? 'unfreeze' : command}`)
  if (outcome === 'stale')
    return `- ${written} by ${toCodeSpan(login)} was ignored because it refers to an earlier state of this pull request. Comment again to apply it to the current commit.`
  return `- ${toCodeSpan(login)} cannot use ${written}: only ${describeCommandPermissions(command)} can.`
}

function describeCommandPermissions(command: CommandRecord['command']): string {
  return allowedUsersDescriptions[slashCommands[command === 'unclear' ? 'help' : command][1]]
}

/** A Markdown line for each command for this head, newest last. Includes the help text if a command requested it. */
export function describeCommands(
  records: readonly CommandRecord[],
  head: CommitSha,
  epoch: number,
  isCommandStillValid: (record: CommandRecord) => boolean,
): readonly string[] {
  const current = records.filter((record) => record.head === head && record.epoch === epoch)
  const lines = current.slice(-maxDisplayedCommands).map((record) => {
    const { login, command, outcome } = record
    if (outcome === 'denied' || outcome === 'stale') return formatIgnoredCommand(record)
    const isForSomethingElse =
      outcome === 'done' && approvingCommands.has(command) && !isCommandStillValid(record)
    const about = [
      record.stop === undefined ? '' : formatFreezeDetails(record.stop),
      record.rollback === undefined ? '' : formatRollbackDetails(record.rollback),
      record.override === undefined
        ? ''
        : ` ${toCodeSpan(record.override.rule)}: ${escapeMarkdown(record.override.reason, 300)}`,
    ].join('')
    return `- ${toCodeSpan(login)} ${acceptedCommandLabels[command]}${about}${isForSomethingElse ? staleCommandMessage : ''}`
  })
  return current.some(({ command }) => command === 'help' || command === 'unclear')
    ? [...lines, '', ...slashCommandHelpLines]
    : lines
}
