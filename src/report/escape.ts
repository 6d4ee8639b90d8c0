/** GitHub rejects longer comments (65,536 characters) and summaries (65,535 bytes). Leaves room for the footer. */
export const maxGitHubTextBytes = 60_000

export const countUtf8Bytes = (text: string): number => new TextEncoder().encode(text).length

/** The product name and configuration keys such as `merge.method` keep their case. */
export const capitalizeFirstLetter = (text: string): string =>
  /^(?:catalog-bot\b|\w+\.\w)/.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`

/** Adds a period unless the text already ends a sentence. */
export const addPeriodIfMissing = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

// Converts untrusted text (paths, names, titles, registry responses) to Markdown or terminal text. No other file does so.
// The output cannot mention users, link, embed, close an issue, or contain markup (docs/dev/threats.md#t55).

/**
 * Control characters, format characters (including zero-width, bidirectional, and tag characters), lone surrogates,
 * unassigned and private-use characters, combining marks without a visible base, and letters that display nothing.
 */
const invisibleCharacterPattern =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]|\p{Default_Ignorable_Code_Point}|\p{Variation_Selector}/gu

/** One line without invisible characters, truncated with an ellipsis beyond `limit` characters. */
export function toSingleLineText(text: string, limit = 300): string {
  const clean = text.replace(/\s+/g, ' ').replace(invisibleCharacterPattern, '\ufffd').trim()
  const characters = [...clean]
  return characters.length <= limit ? clean : `${characters.slice(0, limit - 1).join('')}…`
}

/** A line of a file for a code block: keeps its spaces, and shows invisible characters as visible marks. */
export function escapeSourceLine(line: string): string {
  return line.slice(0, 300).replace(/[^\P{C}\t]|\p{Default_Ignorable_Code_Point}/gu, '\ufffd')
}

/** A code span, in which GitHub ignores mentions, references and links. */
export function toCodeSpan(text: string, limit = 200): string {
  const shown = toSingleLineText(text, limit)
  if (shown === '') return '*(empty)*'
  const maxRunLength = Math.max(0, ...[...shown.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(maxRunLength + 1)
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${shown}${pad}${fence}`
}

/** A code span for a table cell, in which a vertical bar would end the cell even inside code. */
export function toTableCodeSpan(text: string, limit = 120): string {
  return toCodeSpan(text.replaceAll('|', '¦'), limit)
}

/**
 * A log line without workflow commands. The runner recognizes `::` at the start of a line and `##[` anywhere
 * (https://github.com/actions/runner, ActionCommand).
 */
export function toLogLine(text: string): string {
  return `| ${neutralizeLegacyWorkflowCommand(toSingleLineText(text, 2000))}`
}

/** The message of a workflow command. Preserves line breaks. */
export function escapeWorkflowCommandMessage(text: string): string {
  const lines = text.split('\n').map((line) => neutralizeLegacyWorkflowCommand(toSingleLineText(line, 2000)))
  return escapeWorkflowCommandData(lines.join('\n'))
}

/** A property of a workflow command, such as a path or title. */
export function escapeWorkflowCommandProperty(text: string): string {
  return escapeWorkflowCommandData(neutralizeLegacyWorkflowCommand(text))
    .replaceAll(':', '%3A')
    .replaceAll(',', '%2C')
}

const neutralizeLegacyWorkflowCommand = (text: string): string => text.replaceAll('##[', '##\u2060[')

/** Escapes like the runner's toolkit. Escapes the percent sign first, because the other escapes contain one. */
function escapeWorkflowCommandData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** Escapes every character that Markdown, HTML or GitHub's linking could interpret. */
export function escapeMarkdown(text: string, limit = 600): string {
  return (
    toSingleLineText(text, limit)
      .replace(/&/g, '&amp;')
      .replace(/</g, '&lt;')
      .replace(/>/g, '&gt;')
      .replace(/[\\`*_[\]#|~$!]/g, (mark) => `\\${mark}`)
      .replace(/^([-+]|\d+[.)])(?=\s)/, '\\$1')
      .replace(/^(=+|-+)$/, '\\$1')
      .replace(/@/g, '@\u2060')
      .replace(/#/g, '#\u2060')
      .replace(/:\/\//g, ':\u2060//')
      // An underscore, which is part of a word in `\b`, also precedes links.
      .replace(/www\./gi, (match) => `${match.slice(0, 3)}\u2060.`)
      .replace(/(?<![a-z0-9])GH-(?=\d)/gi, (match) => `${match}\u2060`)
  )
}

/**
 * Escapes one of catalog-bot's sentences, in which pairs of backticks mark code. Text between them becomes a code span,
 * even if the backticks come from an untrusted name: a code span can't contain markup either.
 */
export function escapeSentenceWithCodeSpans(text: string, limit = 600): string {
  return toSingleLineText(text, limit)
    .split(/`([^`]+)`/)
    .map((part, at) =>
      at % 2 === 1 ? toTableCodeSpan(part, limit) : escapeMarkdownKeepingSpaces(part, limit),
    )
    .join('')
}

/** Like escapeMarkdown, but preserves the spaces beside a code span. */
function escapeMarkdownKeepingSpaces(text: string, limit: number): string {
  const [before = '', after = ''] = [/^\s*/.exec(text)?.[0], text.trim() === '' ? '' : /\s*$/.exec(text)?.[0]]
  return `${before}${escapeMarkdown(text, limit)}${after}`
}

/** A commit message title: one plain line without words that trigger actions in GitHub or CI systems. */
export function toCommitTitle(title: string, limit = 100): string {
  // Normalizes first, because a system that normalizes full-width letters would recognize such words.
  let text = toSingleLineText(title.normalize('NFKC'), limit)
  // Repeats, because a removal can join its neighbors into another such word.
  for (;;) {
    const tamed = removeCommitMessageDirectives(text)
    if (tamed === text) return text
    text = tamed
  }
}

/** Performs one round. Every step shortens the text or permanently removes characters, so the rounds end. */
function removeCommitMessageDirectives(text: string): string {
  return (
    text
      // `[skip ci]`, `[ci skip]`, `[no ci]`, `[skip actions]`, `[skip azp]` and other bracketed commands.
      .replace(/[^\P{Ps}(]/gu, '(')
      .replace(/[^\P{Pe})]/gu, ')')
      // `#12`, `owner/repository#12`, `@user`, `***NO_CI***`.
      .replace(/[#@*]/g, '')
      // URLs, including links to issues or pull requests without a scheme.
      .replace(/\S*:\/\/\S*/g, ' ')
      .replace(/\S*\/(?:issues?|pulls?|discussions|commits?)\/\S*/gi, ' ')
      // `GH-12`, but not after a plain letter or digit, as in `high-12`.
      .replace(/(?<![a-z0-9])GH\p{Pd}+\p{N}+/giu, ' ')
      // Words that would be a trailer on their own line.
      .replace(/((?:\p{L}+\p{Pd})+by|skip\p{Pd}checks|change\p{Pd}id|\bcc)\s*:/giu, '$1')
      .replace(/\s+/g, ' ')
      .trim()
  )
}

/** Makes the fence longer than every run of backticks in the text, so that the text cannot end the block. */
export function renderFencedBlock(language: string, text: string): string {
  const maxRunLength = Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(maxRunLength + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

export const renderMermaidBlock = (source: string): string => renderFencedBlock('mermaid', source)

export function truncateText(text: string): string {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxGitHubTextBytes) return text
  const start = new TextDecoder().decode(bytes.subarray(0, maxGitHubTextBytes))
  const end = start.lastIndexOf('\n')
  const shown = end > 0 ? start.slice(0, end) : start
  return `${shown}${renderMissingBlockEnds(shown)}\n\n… This text is too long for GitHub. To see all of it, run catalog-bot check.`
}

/** Ends the code block and the collapsed sections that are open at the end of the text. */
function renderMissingBlockEnds(text: string): string {
  let fence: string | undefined
  let sections = 0
  for (const line of text.split('\n')) {
    if (fence === undefined) {
      fence = /^`{3,}/.exec(line)?.[0]
      sections += line.split('<details>').length - line.split('</details>').length
    } else if (line === fence) fence = undefined
  }
  return `${fence === undefined ? '' : `\n${fence}`}${'\n\n</details>'.repeat(sections)}`
}
