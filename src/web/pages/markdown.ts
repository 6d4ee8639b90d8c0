// Markdown of this repository as HTML, and the pages of the rules, which are written in it.
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked'
import { htmlTemplate, renderPreformattedText, type Html, emptyHtml } from '../html.ts'
import type { AnyFindingRule } from '@catalog-bot/findings/rule'
import { formatRulePageUrl } from '../../report/urls.ts'
import { renderTable } from './page-elements.ts'
import type { StatusPage } from './status-page.ts'
import { readRulePage } from '../../adapters/package-metadata.ts'
import { allRules } from '../../checks/all-rules.ts'

/**
 * `home`: base address for links to other rules (`several-heads.md`). For text of this project only, because the library takes
 * quadratic time for some text. HTML appears as text.
 */
export function renderMarkdown(text: string, home: string): Html {
  const renderTokens = (tokens: readonly Token[] = []): Html =>
    htmlTemplate`${tokens.map((token) => renderToken(token as MarkedToken))}`
  const renderCells = (cells: readonly Tokens.TableCell[], renderCell: (content: Html) => Html) =>
    htmlTemplate`<tr>${cells.map(({ tokens }) => renderCell(renderTokens(tokens)))}</tr>`
  const renderToken = (token: MarkedToken): Html => {
    if (token.type === 'code')
      return htmlTemplate`<pre tabindex="0"><code>${renderPreformattedText(`${token.text}\n`)}</code></pre>`
    if (token.type === 'table')
      return htmlTemplate`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>
<thead>${renderCells(token.header, (cell) => htmlTemplate`<th scope="col">${cell}</th>`)}</thead><tbody>${token.rows.map(
        (row) => renderCells(row, (cell) => htmlTemplate`<td>${cell}</td>`),
      )}</tbody></table></div>`
    if (token.type === 'list') {
      const items = token.items.map((item) => htmlTemplate`<li>${renderTokens(item.tokens)}</li>`)
      return token.ordered ? htmlTemplate`<ol>${items}</ol>` : htmlTemplate`<ul>${items}</ul>`
    }
    const text = 'text' in token ? token.text : token.raw
    const content = 'tokens' in token ? renderTokens(token.tokens) : htmlTemplate`${text}`
    if (token.type === 'heading')
      return token.depth <= 2 ? htmlTemplate`<h2>${content}</h2>` : htmlTemplate`<h3>${content}</h3>`
    if (token.type === 'paragraph') return htmlTemplate`<p>${content}</p>`
    if (token.type === 'codespan') return htmlTemplate`<code>${content}</code>`
    if (token.type === 'strong') return htmlTemplate`<strong>${content}</strong>`
    if (token.type === 'em') return htmlTemplate`<em>${content}</em>`
    if (token.type !== 'link') return content
    const to = token.href.replace(/^(?:\.\/)?([a-z\d.-]+)\.md$/, `${home}/$1`)
    return to !== token.href || to.startsWith('https://')
      ? htmlTemplate`<a href="${to}">${content}</a>`
      : content
  }
  return renderTokens(lexer(text.replace(/^<!--.*-->$/gm, '')))
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

const knownRuleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id))

interface RulesPageModel {
  readonly rules: readonly Pick<AnyFindingRule, 'id' | 'check' | 'severity' | 'title'>[]
}

interface RulePageModel extends Pick<AnyFindingRule, 'id' | 'check' | 'severity' | 'title' | 'since'> {
  /** Our own Markdown. Absent if it is not installed. */
  readonly page?: string
}

export function renderRulesPage({ rules }: RulesPageModel): StatusPage {
  return {
    title: 'Rules',
    crumbs: [{ label: 'rules', to: formatRulePageUrl() }],
    hasJson: true,
    body: renderTable(
      { label: 'Rules', columns: ['Rule', 'Check', 'Severity', 'Requirement'], empty: '' },
      rules.map(({ id, check, severity, title }) => [
        htmlTemplate`<a href="${formatRulePageUrl(id)}">${id}</a>`,
        check,
        severity,
        title,
      ]),
    ),
  }
}

export function renderRulePage({ id, check, severity, title, since, page }: RulePageModel): StatusPage {
  return {
    title: id,
    crumbs: [
      { label: 'rules', to: formatRulePageUrl() },
      { label: id, to: formatRulePageUrl(id) },
    ],
    hasJson: true,
    body: htmlTemplate`<p>${title}.</p>
<dl>
<dt>Check</dt><dd>${check}</dd>
<dt>Severity</dt><dd>${severity}</dd>
<dt>Since</dt><dd>${since}</dd></dl>${page === undefined ? emptyHtml : renderMarkdown(removeRulePageIntroduction(page), formatRulePageUrl())}`,
  }
}

/** The status page already shows the heading, and the title with the table. */
const removeRulePageIntroduction = (page: string): string => page.split('\n\n').slice(2).join('\n\n')

/** Undefined for unknown rules, so that no other file can be read. */
export function readRuleMarkdown(id: string): string | undefined {
  return knownRuleIds.has(id) ? readRulePage(id) : undefined
}
