// Renders the Markdown subset of docs/rules: headings, paragraphs, lists, tables, code, emphasis, links. Only for our
// own pages; other syntax appears as text.
import { htmlTemplate, renderPreformattedText, type Html } from '../html.ts'

/** `home`: base address for links to other rules (`two-heads.md`). */
export function renderMarkdown(text: string, home: string): Html {
  const lines = text.replace(/^<!--.*-->$/gm, '').split('\n')
  const blocks: Html[] = []
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? ''
    const heading = /^(?<marks>#{1,4}) (?<words>.*)$/.exec(line)?.groups
    if (line.startsWith('```')) {
      const end = lines.indexOf('```', at + 1)
      const last = end < 0 ? lines.length : end
      blocks.push(
        htmlTemplate`<pre tabindex="0"><code>${renderPreformattedText(`${lines.slice(at + 1, last).join('\n')}\n`)}</code></pre>`,
      )
      at = last + 1
    } else if (heading) {
      const renderedText = renderInlineMarkdown(heading['words'] ?? '', home)
      blocks.push(
        (heading['marks'] ?? '').length <= 2
          ? htmlTemplate`
<h2>${renderedText}</h2>`
          : htmlTemplate`<h3>${renderedText}</h3>`,
      )
      at += 1
    } else if (/^(?:[-*]|\d+\.) /.test(line)) {
      const items: string[] = []
      for (; at < lines.length && (lines[at] ?? '') !== ''; at++) {
        const item = /^(?:[-*]|\d+\.) (?<words>.*)$/.exec(lines[at] ?? '')?.groups?.['words']
        if (item === undefined) items.push(`${items.pop() ?? ''} ${(lines[at] ?? '').trim()}`)
        else items.push(item)
      }
      blocks.push(
        htmlTemplate`<ul>${items.map((item) => htmlTemplate`<li>${renderInlineMarkdown(item, home)}</li>`)}</ul>`,
      )
    } else if (line.startsWith('|')) {
      const from = at
      while ((lines[at] ?? '').startsWith('|')) at++
      blocks.push(renderMarkdownTable(lines.slice(from, at), home))
    } else if (line.trim() === '') at += 1
    else {
      const from = at
      while (
        at < lines.length &&
        (lines[at] ?? '').trim() !== '' &&
        !/^(?:```|#{1,4} |\|)/.test(lines[at] ?? '')
      )
        at++
      blocks.push(
        htmlTemplate`<p>${renderInlineMarkdown(lines.slice(from, Math.max(at, from + 1)).join(' '), home)}</p>`,
      )
      at = Math.max(at, from + 1)
    }
  }
  return htmlTemplate`${blocks}`
}

function renderMarkdownTable(lines: readonly string[], home: string): Html {
  const [head = [], , ...body] = lines.map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  )
  return htmlTemplate`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<thead><tr>${head.map((cell) => htmlTemplate`<th scope="col">${renderInlineMarkdown(cell, home)}</th>`)}</tr></thead><tbody>${body.map(
    (row) =>
      htmlTemplate`<tr>${row.map((cell) => htmlTemplate`<td>${renderInlineMarkdown(cell, home)}</td>`)}</tr>`,
  )}</tbody></table></div>`
}

const inlineMarkdownPattern =
  /`(?<code>[^`]+)`|\*\*(?<strong>[^*]+)\*\*|\*(?<em>[^*]+)\*|\[(?<words>[^\]]+)\]\((?<to>[^)\s]+)\)/g

function renderInlineMarkdown(text: string, home: string): Html {
  const parts: Html[] = []
  let last = 0
  for (const match of text.matchAll(inlineMarkdownPattern)) {
    parts.push(htmlTemplate`${text.slice(last, match.index)}`)
    last = match.index + match[0].length
    const { code, strong, em, words, to } = match.groups ?? {}
    if (code !== undefined) parts.push(htmlTemplate`<code>${code}</code>`)
    else if (strong !== undefined) parts.push(htmlTemplate`<strong>${strong}</strong>`)
    else if (em !== undefined) parts.push(htmlTemplate`<em>${em}</em>`)
    else parts.push(renderMarkdownLink(words ?? '', to ?? '', home))
  }
  parts.push(htmlTemplate`${text.slice(last)}`)
  return htmlTemplate`${parts}`
}

function renderMarkdownLink(label: string, to: string, home: string): Html {
  const rule = /^(?:\.\/)?(?<id>[a-z\d.-]+)\.md$/.exec(to)?.groups?.['id']
  if (rule !== undefined) return htmlTemplate`<a href="${home}/${rule}">${label}</a>`
  return /^https:\/\//.test(to) ? htmlTemplate`<a href="${to}">${label}</a>` : htmlTemplate`${label}`
}

const markdownSyntaxPattern =
  /\\(?<plain>[!-/:-@[-`{-~])|(?<fence>`+) ?(?<code>.*?) ?\k<fence>(?!`)|\*\*|\[(?<words>[^\]]*)\]\([^)]*\)|&(?<entity>amp|lt|gt);/g
const characterByHtmlEntity: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>' }

/** Renders a line of Markdown from report/ without its marks, and without links or other markup. */
export function renderMarkdownLineAsText(line: string): Html {
  const text = line.replace(/^\s*(?:[-*] )?/, '').replaceAll('\u2060', '')
  const parts: Html[] = []
  let last = 0
  for (const match of text.matchAll(markdownSyntaxPattern)) {
    parts.push(htmlTemplate`${text.slice(last, match.index)}`)
    last = match.index + match[0].length
    const { plain, code, words, entity } = match.groups ?? {}
    if (code !== undefined) parts.push(htmlTemplate`<code>${code}</code>`)
    else
      parts.push(
        htmlTemplate`${plain ?? words ?? (entity === undefined ? '' : characterByHtmlEntity[entity])}`,
      )
  }
  return htmlTemplate`${parts}${text.slice(last)}`
}
