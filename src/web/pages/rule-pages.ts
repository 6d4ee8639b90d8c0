import type { AnyRule } from '../../findings/rule.ts'
import { markup, nothing } from '../html.ts'
import { renderMarkdown } from './markdown.ts'
import { ruleAddress } from './addresses.ts'
import { table, type StatusPage } from './frame.ts'

export interface RulesModel {
  readonly rules: readonly Pick<AnyRule, 'id' | 'check' | 'severity' | 'title'>[]
}

export interface RuleModel extends Pick<AnyRule, 'id' | 'check' | 'severity' | 'title' | 'since'> {
  /** Our own Markdown. Absent if it is not installed. */
  readonly page?: string
}

export function rulesPage({ rules }: RulesModel): StatusPage {
  return {
    title: 'Rules',
    crumbs: [{ words: 'rules', to: ruleAddress() }],
    hasJson: true,
    body: table(
      { label: 'Rules', columns: ['Rule', 'Check', 'Severity', 'What it demands'], empty: '' },
      rules.map(({ id, check, severity, title }) => [
        markup`<a href="${ruleAddress(id)}">${id}</a>`,
        check,
        severity,
        title,
      ]),
    ),
  }
}

export function rulePage({ id, check, severity, title, since, page }: RuleModel): StatusPage {
  return {
    title: id,
    crumbs: [
      { words: 'rules', to: ruleAddress() },
      { words: id, to: ruleAddress(id) },
    ],
    hasJson: true,
    body: markup`<p>${title}.</p>
<dl>
<dt>Check</dt><dd>${check}</dd>
<dt>Severity</dt><dd>${severity}</dd>
<dt>Since</dt><dd>${since}</dd></dl>${page === undefined ? nothing : renderMarkdown(withoutBox(page), ruleAddress())}`,
  }
}

/** The page already shows the heading, the sentence and the table. */
function withoutBox(page: string): string {
  const at = page.indexOf('\n## ')
  return at < 0 ? page : page.slice(at + 1)
}
