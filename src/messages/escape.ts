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
 * A title for a commit message: one line of plain words. Closing keywords work through `#n` and issue addresses,
 * so neither survives.
 */
export function commitTitle(title: string): string {
  return oneLine(title, 100)
    .replace(/[#@]/g, '')
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/\S*/gi, '')
    .replace(/\bGH-\d+/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
}
