// The one place where text of strangers (paths, names, titles, registry answers) becomes Markdown or terminal text.
// Nothing that passes here can mention, link, embed, close an issue or carry markup (T55).

/**
 * Controls, formats (zero-width, bidirectional and tag characters among them), lone surrogates, unassigned and private
 * characters, combining marks that attach to nothing visible, and letters that show nothing.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}]|\p{Default_Ignorable_Code_Point}|\p{Variation_Selector}/gu

/** One line without anything invisible; longer than `limit` characters it is cut and ends in an ellipsis. */
export function oneLine(text: string, limit = 300): string {
  const clean = text.replace(/\s+/g, ' ').replace(invisible, '\ufffd').trim()
  const characters = [...clean]
  return characters.length <= limit ? clean : `${characters.slice(0, limit - 1).join('')}…`
}

/** A code span that shows `text` as it is. Mentions, references and links are not looked for inside code. */
export function code(text: string, limit = 200): string {
  const shown = oneLine(text, limit)
  if (shown === '') return '*(empty)*'
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map((run) => run[0].length))
  const fence = '`'.repeat(longest + 1)
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : ''
  return `${fence}${pad}${shown}${pad}${fence}`
}

/** A code span for a table cell: there a bar would end the cell even inside code. */
export function codeInCell(text: string, limit = 120): string {
  return code(text.replaceAll('|', '¦'), limit)
}

/**
 * One line of a workflow's log in which the runner finds no command, whatever the text is: it looks for `::` where a line
 * begins, and for `##[` anywhere (https://github.com/actions/runner, ActionCommand).
 */
export function logLine(text: string): string {
  return `| ${withoutOldCommands(oneLine(text, 2000))}`
}

/** The message of a workflow command. Several lines stay several. */
export function commandMessage(text: string): string {
  const lines = text.split('\n').map((line) => withoutOldCommands(oneLine(line, 2000)))
  return escapedData(lines.join('\n'))
}

/** A value of a workflow command's property: a path, a title. */
export function commandProperty(text: string): string {
  return escapedData(withoutOldCommands(text)).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

const withoutOldCommands = (text: string): string => text.replaceAll('##[', '##\u2060[')

/** As the runner's own toolkit does it; a percent sign first, or what stands for one would become one. */
function escapedData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

/** Text in a sentence: every character that Markdown, HTML or GitHub's own linking could take for more is made plain. */
export function plain(text: string, limit = 600): string {
  return oneLine(text, limit)
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/[\\`*_[\]#|~$!]/g, (mark) => `\\${mark}`)
    .replace(/^([-+]|\d+[.)])(?=\s)/, '\\$1')
    .replace(/^(=+|-+)$/, '\\$1')
    .replace(/@/g, '@\u2060')
    .replace(/#/g, '#\u2060')
    .replace(/:\/\//g, ':\u2060//')
    .replace(/\bwww\./gi, (match) => `${match.slice(0, 3)}\u2060.`)
    .replace(/\bGH-(?=\d)/gi, (match) => `${match}\u2060`)
}

/**
 * A title for a commit message: one line of plain words, in which neither GitHub nor those who build what it is told
 * find a word to act on. What people see in a title stays, as far as it is words.
 */
export function commitTitle(title: string, limit = 100): string {
  // Full-width and other compatibility letters are what whoever normalises takes them for, so they are that first.
  let text = oneLine(title.normalize('NFKC'), limit)
  // What is taken away can join what stood beside it to the next such word: until nothing is left to take.
  for (;;) {
    const tamed = withoutMagic(text)
    if (tamed === text) return text
    text = tamed
  }
}

/** One round. Every step shortens the text or takes away characters that none brings back: the rounds come to an end. */
function withoutMagic(text: string): string {
  return (
    text
      // `[skip ci]`, `[ci skip]`, `[no ci]`, `[skip actions]`, `[skip azp]` and whatever else stands in brackets to be obeyed.
      .replace(/[^\P{Ps}(]/gu, '(')
      .replace(/[^\P{Pe})]/gu, ')')
      // `#12`, `owner/repository#12`, `@somebody`, `***NO_CI***`.
      .replace(/[#@*]/g, '')
      // Addresses, also those without a scheme that lead to an issue or a pull request.
      .replace(/\S*:\/\/\S*/g, ' ')
      .replace(/\S*\/(?:issues?|pulls?|discussions|commits?)\/\S*/gi, ' ')
      // `GH-12`. Behind a plain letter or figure it is none: `high-12`.
      .replace(/(?<![a-z0-9])GH\p{Pd}+\p{N}+/giu, ' ')
      // What would be a trailer on a line of its own.
      .replace(/((?:\p{L}+\p{Pd})+by|skip\p{Pd}checks|change\p{Pd}id|\bcc)\s*:/giu, '$1')
      .replace(/\s+/g, ' ')
      .trim()
  )
}
