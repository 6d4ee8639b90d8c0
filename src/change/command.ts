// Commands in comments, as text: which one a comment gives, if any. An authorisation surface, so it is read
// narrowly (T30): a line of its own, in a plain paragraph, near the top, exact ASCII. Whatever Markdown could hide,
// quote or show as code is not a command; in doubt there is none. Who may give it is decided elsewhere.

export const commandNames = [
  'approve',
  'hold',
  'unhold',
  'recheck',
  'merge',
  'freeze',
  'thaw',
  'preview',
  'test-install',
  'rollback',
  'override',
  'help',
] as const
export type CommandName = (typeof commandNames)[number]

export interface Command {
  readonly name: CommandName
  /** The beginning of a commit's id, 7 to 64 lower-case hex digits, where the comment gives one. */
  readonly sha?: string
  /** What else stands on the line, where the command takes words: a branch, a reason, an image. */
  readonly words?: string
}

export type ParsedComment =
  | { readonly kind: 'none' }
  | { readonly kind: 'command'; readonly command: Command }
  /** It was meant for us but cannot be followed: several commands at once, or words that we do not know after one. */
  | { readonly kind: 'unclear'; readonly reason: string }

/** Commands stand at the top: whoever quotes a long mail below does not command by it. */
export const linesRead = 20

const commandLine = /^\/(?<name>[a-z]+(?:-[a-z]+)*)(?:[ \t]+(?<rest>.*?))?[ \t]*$/
const commitPrefix = /^[0-9a-f]{7,64}$/
const takesCommit: ReadonlySet<CommandName> = new Set(['approve', 'merge', 'preview', 'test-install'])
const takesWords: ReadonlySet<CommandName> = new Set(['freeze', 'thaw', 'rollback', 'override'])

/** Reads a comment's body. */
export function parseComment(body: string): ParsedComment {
  const found = new Map<string, Command>()
  for (const line of plainLines(body)) {
    const match = commandLine.exec(line)?.groups
    const name = commandNames.find((known) => known === match?.name)
    if (match === undefined || name === undefined) continue
    const rest = match.rest ?? ''
    if (rest !== '' && takesWords.has(name)) {
      found.set(`${name} ${rest}`, { name, words: rest })
      continue
    }
    if (rest !== '' && !(takesCommit.has(name) && commitPrefix.test(rest)))
      return {
        kind: 'unclear',
        reason: `/${name} cannot be followed by ${JSON.stringify(rest.slice(0, 40))}`,
      }
    found.set(`${name} ${rest}`, rest === '' ? { name } : { name, sha: rest })
  }
  const [command, ...others] = found.values()
  if (command === undefined) return { kind: 'none' }
  if (others.length > 0) return { kind: 'unclear', reason: 'it gives more than one command' }
  return { kind: 'command', command }
}

// What can open something that reaches over a blank line: a fence, or HTML of any kind, comments included.
const reachesOn = /```|~~~|</
// What can begin a block that is no paragraph, make the lines above a heading, or indent code.
const blockStart = /^(?:[ \t]|[>#=|:+*-]|\d{1,9}[.)])/
// What can begin a span that reaches into the next lines: code, links and images, emphasis, mathematics, escapes.
const spanStart = /[`[\]*_~$\\{}]/
// How mail programs announce what they quote.
const quoteLead = /(?:wrote|schrieb|escribió|a écrit)\s*:$|^From: |^-+ *Original Message/i

/** Lines of plain paragraphs among the first lines, without those that might be part of anything else. */
function* plainLines(body: string): Generator<string> {
  let paragraph: string[] = []
  // CommonMark ends lines at these and at nothing else.
  for (const line of [...body.split(/\r\n|\n|\r/).slice(0, linesRead), '']) {
    if (reachesOn.test(line) || quoteLead.test(line)) return
    if (/^[ \t]*$/.test(line)) {
      if (paragraph.every((part) => !blockStart.test(part) && !spanStart.test(part))) yield* paragraph
      paragraph = []
    } else paragraph.push(line)
  }
}
