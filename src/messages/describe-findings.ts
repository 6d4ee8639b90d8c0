// Findings for people, as lists in Markdown: what is wrong, why it matters and what to do, each said once. Renders; decides
// nothing, and every text of others in it is escaped.
import { overridableRules } from '../checks/all-rules.ts'
import type { Finding } from '../findings/finding.ts'
import { code, plain } from './escape.ts'

export interface RulePages {
  /** Address of the rules' pages; a rule's page is `<rulesUrl>/<id>.md`. Without it rules are named but not linked. */
  readonly rulesUrl?: string | undefined
}

const maxShownFindings = 20
/** Of findings that are alike, how many are shown below the first. */
const maxAlike = 4

/** Findings as a list below a title, if it has one; a screenful of them. */
export function listFindings(title: string, findings: readonly Finding[], options: RulePages): string {
  const groups = [...Map.groupBy(findings, alike).values()]
  const shown = groups.slice(0, maxShownFindings).map((group) => describeAlike(group, options))
  const left = groups.slice(maxShownFindings).reduce((sum, group) => sum + group.length, 0)
  if (left > 0) shown.push(`- … and ${left} more. The checks list them.`)
  return [...(title === '' ? [] : [title, '']), ...shown].join('\n')
}

/** A way through for corrections: the table of permissions lets maintainers do what these rules stop. */
export function howToOverride(errors: readonly Finding[]): string[] {
  const rules = [...new Set(errors.map(({ rule }) => rule))].filter((rule) => overridableRules.has(rule))
  const [first] = rules
  if (first === undefined) return []
  return [
    `Where this is meant, a maintainer can let exactly this change pass: comment ${code(`/override ${first} because …`)} with the reason. This is for ${rules.map((rule) => code(rule)).join(', ')}.`,
  ]
}

/** Findings of one rule and package are one to whoever mends them. */
function alike({ rule, severity, data, overridden }: Finding): string {
  return JSON.stringify([rule, severity, data?.['package'], overridden])
}

/** The first in full, and of the others what they say otherwise: a sentence that is the same stands there once. */
function describeAlike(group: readonly Finding[], options: RulePages): string {
  const [first, ...others] = group
  if (first === undefined) return ''
  const lines = others.slice(0, maxAlike).map(({ at, what, fix }) => {
    const words = what === first.what ? '' : `**${plain(what, 1500)}**`
    const way = fix === '' || fix === first.fix ? '' : `*${sentence(fix)}*`
    return `  - ${[placeIn(at), words, way].filter((part) => part !== '').join(' ')}`
  })
  const said = [...new Set(lines)].filter((line) => line !== '  - ')
  const left = others.length - Math.min(others.length, maxAlike)
  if (left > 0) said.push(`  - … and ${left} more of this rule. The checks list them.`)
  return [describeFinding(first, options), ...said].join('\n')
}

function placeIn(at: Finding['at']): string {
  return at ? code(`${at.file}:${at.line}:${at.column}`) : ''
}

/** One finding in full, as an item of a list. */
export function describeFinding(finding: Finding, { rulesUrl }: RulePages): string {
  const place = finding.at ? `${placeIn(finding.at)} ` : ''
  const rule =
    rulesUrl !== undefined ? `[${finding.rule}](${rulesUrl}/${finding.rule}.md)` : code(finding.rule)
  const why = finding.why === '' ? '' : ` ${sentence(finding.why)}`
  const fix = finding.fix === '' ? '' : ` *${sentence(finding.fix)}*`
  return `- ${place}**${plain(finding.what, 1500)}** (${rule})${why}${fix}${passedBy(finding)}`
}

/** Who let it pass, and why. */
function passedBy({ overridden }: Finding): string {
  if (overridden === undefined) return ''
  return ` **Overridden by ${code(overridden.by)}:** ${sentence(overridden.reason)}`
}

function sentence(text: string): string {
  const shown = plain(text, 1500)
  return /[.!?…]$/.test(shown) ? shown : `${shown}.`
}
