// The pages of the rules.
import type { FindingRuleWithoutFormatter } from '@catalog-bot/findings/rule'
import { htmlTemplate, emptyHtml } from '../html.ts'
import { renderMarkdown } from './markdown.ts'
import { formatRulePageUrl } from '../../report/urls.ts'
import { renderTable } from './page-elements.ts'
import type { StatusPage } from './status-page.ts'
import { readRulePage } from '../../adapters/package-metadata.ts'
import { allRules } from '../../checks/all-rules.ts'

const knownRuleIds: ReadonlySet<string> = new Set(allRules.map(({ id }) => id))

export interface RulesPageModel {
  readonly rules: readonly Pick<FindingRuleWithoutFormatter, 'id' | 'check' | 'severity' | 'title'>[]
}

export interface RulePageModel extends Pick<
  FindingRuleWithoutFormatter,
  'id' | 'check' | 'severity' | 'title' | 'since'
> {
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
