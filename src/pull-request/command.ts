// Parses commands in comments. Commands carry authority, so parsing is strict (docs/dev/threats.md#t30): a command is an
// exact ASCII line in a plain paragraph near the top that Markdown does not hide, quote, or show as code. Permissions
// are checked elsewhere.

/** Who can use a command. `participants`: the author, owners of the changed packages, and maintainers. */
type AllowedCommandUsers = 'everyone' | 'participants' | 'owners' | 'holder' | 'maintainers'

export const allowedUsersDescriptions: Readonly<Record<AllowedCommandUsers, string>> = {
  everyone: 'everyone',
  participants: 'the author, owners of the changed packages, and maintainers',
  owners: 'owners of the changed packages and maintainers',
  holder: 'maintainers and the person who put the pull request on hold',
  maintainers: 'maintainers',
}

/** Each command with its usage, its users, and its effect, for the help in comments and for the documentation. */
export const slashCommands = {
  approve: ['/approve [commit]', 'owners', 'Approve this commit.'],
  hold: ['/hold', 'participants', 'Prevent catalog-bot from merging this pull request.'],
  // Not an owner, who cannot remove another user's objection.
  unhold: ['/unhold', 'holder', 'Allow merging again.'],
  recheck: ['/recheck', 'participants', 'Run all checks again.'],
  merge: ['/merge [commit]', 'owners', 'Merge this commit when automatic merging is disabled.'],
  // Freezing and unfreezing affect all pull requests.
  freeze: ['/freeze [branch] [reason]', 'maintainers', 'Freeze merging into a branch.'],
  thaw: [
    '/unfreeze [branch] [audit]',
    'maintainers',
    'Unfreeze merging into a branch. `audit` ends a freeze that a failed merge verification caused.',
  ],
  // It costs a build and registry space, so outsiders cannot use it.
  preview: ['/preview [commit]', 'owners', 'Publish a preview image, if the repository enables previews.'],
  // It runs the author's code on the test cluster.
  'test-install': [
    '/test-install [commit]',
    'maintainers',
    'Install the changed packages on a test cluster, if the repository enables install tests.',
  ],
  rollback: ['/rollback [tag] [digest]', 'maintainers', 'Point a tag at an earlier image.'],
  // Maintainers set the repository's rules, so they are responsible for exceptions.
  override: ['/override RULE because REASON', 'maintainers', 'Accept this change despite a rule violation.'],
  help: ['/help', 'everyone', 'List the commands.'],
} as const satisfies Record<string, readonly [usage: string, users: AllowedCommandUsers, effect: string]>

export type CommandName = keyof typeof slashCommands
export const commandNames = Object.keys(slashCommands) as readonly CommandName[]

/** Aliases of commands. Records store the name in `commandNames`. */
const commandAliases: ReadonlyMap<string | undefined, CommandName> = new Map([['unfreeze', 'thaw']])

export interface SlashCommand {
  readonly name: CommandName
  /** A commit id prefix of 7 to 64 lowercase hexadecimal digits. */
  readonly sha?: string
  /** The rest of the line if the command accepts a branch, a reason, or an image. */
  readonly words?: string
}

export type ParsedComment =
  | { readonly kind: 'none' }
  | { readonly kind: 'command'; readonly command: SlashCommand }
  /** Intended for catalog-bot but unclear, with several commands or with unknown words after a command. */
  | { readonly kind: 'unclear'; readonly reason: string }

/** Only the first lines count, so that a quoted email below them does not contain a command. */
export const maxScannedCommentLines = 20

/** Without spaces and tabs at the end, which the pattern would have to find in quadratic time. */
const commandLinePattern = /^\/(?<name>[a-z]+(?:-[a-z]+)*)(?:[ \t]+(?![ \t])(?<rest>.+))?$/
const commitShaPrefixPattern = /^[0-9a-f]{7,64}$/
const commandsWithCommitArgument: ReadonlySet<CommandName> = new Set([
  'approve',
  'merge',
  'preview',
  'test-install',
])
const commandsWithTextArgument: ReadonlySet<CommandName> = new Set(['freeze', 'thaw', 'rollback', 'override'])

export function parseCommandFromComment(body: string): ParsedComment {
  const found = new Map<string, SlashCommand>()
  for (const line of findMarkdownParagraphLines(body)) {
    const match = commandLinePattern.exec(trimBlankEnd(line))?.groups
    const written = match?.['name']
    const name = commandAliases.get(written) ?? commandNames.find((known) => known === written)
    if (match === undefined || name === undefined) continue
    const rest = match.rest ?? ''
    if (rest !== '' && commandsWithTextArgument.has(name)) {
      found.set(`${name} ${rest}`, { name, words: rest })
      continue
    }
    if (rest !== '' && !(commandsWithCommitArgument.has(name) && commitShaPrefixPattern.test(rest)))
      return {
        kind: 'unclear',
        reason: `/${written} cannot be followed by ${JSON.stringify(rest.slice(0, 40))}`,
      }
    found.set(`${name} ${rest}`, rest === '' ? { name } : { name, sha: rest })
  }
  const [command, ...others] = found.values()
  if (command === undefined) return { kind: 'none' }
  if (others.length > 0) return { kind: 'unclear', reason: 'the comment contains more than one command' }
  return { kind: 'command', command }
}

function trimBlankEnd(line: string): string {
  let end = line.length
  while (line[end - 1] === ' ' || line[end - 1] === '\t') end -= 1
  return line.slice(0, end)
}

// Starts of constructs that continue over a blank line: fences and HTML, including comments.
const multilineMarkdownStartPattern = /```|~~~|</
// Starts of blocks other than paragraphs, heading underlines, and indented code.
const markdownBlockStartPattern = /^(?:[ \t]|[>#=|:+*-]|\d{1,9}[.)])/
// Starts of spans that can continue on the next lines: code, links, images, emphasis, math, escapes.
const markdownSpanStartPattern = /[`[\]*_~$\\{}]/
const emailQuoteHeaderPattern = /(?:wrote|schrieb|escribió|a écrit)\s*:$|^From: |^-+ *Original Message/i

/** Yields the lines of plain paragraphs near the top. Skips lines that could belong to another construct. */
function* findMarkdownParagraphLines(body: string): Generator<string> {
  let paragraph: string[] = []
  // CommonMark's only line endings.
  for (const line of [...body.split(/\r\n|\n|\r/).slice(0, maxScannedCommentLines), '']) {
    if (multilineMarkdownStartPattern.test(line) || emailQuoteHeaderPattern.test(line)) return
    if (/^[ \t]*$/.test(line)) {
      if (
        paragraph.every(
          (part) => !markdownBlockStartPattern.test(part) && !markdownSpanStartPattern.test(part),
        )
      )
        yield* paragraph
      paragraph = []
    } else paragraph.push(line)
  }
}
