// Renders the outcomes of commands from the records, so the text is reproducible.
import type { CommitSha } from '../change/ids.ts'
import type { CommandRecord, RollbackWords } from '../gate/commands.ts'
import { code, plain } from './escape.ts'

/** Older commands remain visible in their own comments and reactions. */
const shownCommands = 5

const words: Readonly<Record<CommandRecord['command'], string>> = {
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

const outcomes: Readonly<Record<CommandRecord['outcome'], string>> = {
  done: '',
  denied: ', but has no permission: only owners of the changed packages and maintainers have it',
  stale: ', but for an older commit: comment again for this one',
  unclear: '',
}

const agrees: ReadonlySet<CommandRecord['command']> = new Set(['approve', 'merge', 'unhold', 'override'])
const ofMaintainers: ReadonlySet<CommandRecord['command']> = new Set([
  'freeze',
  'thaw',
  'rollback',
  'override',
  'test-install',
])
const deniedToOwners = ', but has no permission: only maintainers have it'
const forSomethingElse =
  ', but said so when this commit did something else: comment again to mean what it does now'

const help = [
  `- ${code('/approve [commit]')}: approve exactly this commit (owners and maintainers)`,
  `- ${code('/hold')}, ${code('/unhold')}: stop the bot from merging, and allow it again`,
  `- ${code('/recheck')}: run all checks again`,
  `- ${code('/freeze [branch] [reason]')}, ${code('/thaw [branch]')}: stop all merging into a branch, and allow it again (maintainers)`,
  `- ${code('/preview [commit]')}: publish a preview image, where the repository has them (owners and maintainers)`,
  `- ${code('/test-install [commit]')}: install it on the operator’s cluster, where the repository has that (maintainers)`,
  `- ${code('/override RULE because REASON')}: let exactly this change pass in spite of a rule of the bot’s own (maintainers)`,
  `- ${code('/rollback [tag] [digest]')}: let a tag name a former image again (maintainers)`,
  `- ${code('/merge')}: merge this commit, in repositories without automatic merging`,
]

function whatStops({ branch, reason, kinds }: NonNullable<CommandRecord['stop']>): string {
  const audit = kinds.includes('audit')
    ? ', though the audit found something else there than what was checked'
    : ''
  const where = branch === undefined ? 'on every branch' : `on ${code(branch)}`
  return ` ${where}${audit}${reason === '' ? '' : `: ${plain(reason, 200)}`}`
}

function whatRollsBack({ words: asked, image, tag, digest, why }: RollbackWords): string {
  if (image !== undefined && tag !== undefined && digest !== undefined)
    return `: ${code(`${image}:${tag}`)} to ${code(digest)}`
  const about = asked === '' ? '' : ` ${code(`/rollback ${asked}`, 120)}`
  return why === undefined ? about : `${about}, which the bot cannot do: ${plain(why)}`
}

/** A Markdown line for each command about this head, newest last; help where requested. */
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
    const about = [
      record.stop === undefined ? '' : whatStops(record.stop),
      record.rollback === undefined ? '' : whatRollsBack(record.rollback),
      record.override === undefined
        ? ''
        : ` ${code(record.override.rule)}: ${plain(record.override.reason, 300)}`,
    ].join('')
    const became = outcome === 'denied' && ofMaintainers.has(command) ? deniedToOwners : outcomes[outcome]
    return `- ${code(login)} ${words[command]}${about}${isForSomethingElse ? forSomethingElse : became}`
  })
  return current.some(({ command }) => command === 'help' || command === 'unclear')
    ? [...lines, '', ...help]
    : lines
}
