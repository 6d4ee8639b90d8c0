// Renders findings in Markdown: boxes for errors, one table for the rest, a list for check runs. Each place is a link.
// Escapes untrusted text.
import { overridableRules } from '../checks/all-rules.ts'
import { compareFindings, type Finding } from '../findings/finding.ts'
import { fixAsDiff } from '../findings/fix.ts'
import type { Verdict } from '../gate/verdict.ts'
import { code, codeInCell, plain } from './escape.ts'
import { fencedBlock } from './fenced-block.ts'
import { linesLink } from './links.ts'
import type { PlacedReport } from './report-options.ts'
import { ended } from './sentence.ts'
import { findingKey, tracedBy, type TracedLine } from './traced-line.ts'

/** The check runs list the other errors. */
const maxBoxes = 4
const maxAlike = 4
const maxRows = 20
/** Longer fixes are too much for a comment. */
const maxFixLines = 16

type Commits = Pick<Verdict, 'head' | 'base' | 'baseRef'>

export function bySeverity(a: Finding, b: Finding): number {
  const order = { error: 0, warning: 1, info: 2 }
  return order[a.severity] - order[b.severity] || compareFindings(a, b)
}

/** Groups findings by rule and package, because one person fixes them together. */
export function groupAlike(findings: readonly Finding[]): readonly (readonly Finding[])[] {
  const alike = ({ rule, severity, data, overridden }: Finding) =>
    JSON.stringify([rule, severity, data?.['package'], overridden])
  return [...Map.groupBy(findings, alike).values()]
}

export function errorBoxes(
  errors: readonly Finding[],
  commits: Commits,
  options: PlacedReport,
  isExplained = false,
): readonly string[] {
  const groups = groupAlike(errors)
  // With several errors, or where the cause is already explained, the rule's page tells why it matters.
  const isOnly = groups.length === 1 && !isExplained
  const boxes = groups.slice(0, maxBoxes).map((group) => errorBox(group, isOnly, commits, options))
  const left = groups.length - maxBoxes
  return left > 0 ? [...boxes, `… and ${left} more. The checks list them.`] : boxes
}

function errorBox(
  group: readonly Finding[],
  isOnly: boolean,
  commits: Commits,
  options: PlacedReport,
): string {
  const [first, ...others] = group
  if (first === undefined) return ''
  const place = placeOf(first, commits, options)
  const title = [
    `**${capital(plain(first.what, 1500))}**`,
    ...(place ? [place.link] : []),
    rulePage(first, options),
  ]
  const elsewhere = place?.isOnBase === true ? [onBase(commits)] : []
  const fix = fixOfGroup(first, options)
  // A diff replaces the text of the fix.
  const said = [isOnly ? first.why : '', fix === undefined ? first.fix : '']
  const words = said.filter((text) => text !== '').map(sentence)
  const more = describeOthers(first, others, commits, options)
  const paragraphs = [
    ['[!CAUTION]', title.join(' · '), [...words, ...elsewhere].join(' ')]
      .filter((line) => line !== '')
      .join('\n'),
    ...(fix === undefined ? [] : [fix]),
    ...(more.length === 0 ? [] : [more.join('\n')]),
  ]
  return quoted(paragraphs.join('\n\n'))
}

function fixOfGroup(finding: Finding, { fixes = [] }: PlacedReport): string | undefined {
  const told = fixes.find((each) => each.finding === findingKey(finding))
  const lines = told && fixAsDiff(told.fix)
  if (lines === undefined || lines.length > maxFixLines) return undefined
  return fencedBlock('diff', lines.map((line) => shownLine(line)).join('\n'))
}

/** Removes invisible and bidirectional characters. */
function shownLine(line: string): string {
  return line.slice(0, 300).replace(/[^\P{C}\t]|\p{Default_Ignorable_Code_Point}/gu, '\ufffd')
}

/** Lists what differs from the first finding, and each sentence once. */
function describeOthers(
  first: Finding,
  others: readonly Finding[],
  commits: Commits,
  options: PlacedReport,
): readonly string[] {
  const lines = others.slice(0, maxAlike).map((other) => {
    const what = other.what === first.what ? '' : `**${plain(other.what, 1500)}**`
    const way = other.fix === '' || other.fix === first.fix ? '' : `*${sentence(other.fix)}*`
    return `- ${[placeOf(other, commits, options)?.link ?? '', what, way].filter((part) => part !== '').join(' ')}`
  })
  const said = [...new Set(lines)].filter((line) => line !== '- ')
  const left = others.length - Math.min(others.length, maxAlike)
  return left > 0 ? [...said, `- … and ${left} more of this rule. The checks list them.`] : said
}

export function warningsTable(findings: readonly Finding[], commits: Commits, options: PlacedReport): string {
  const rows = findings.slice(0, maxRows).map((finding) => {
    const place = placeOf(finding, commits, options)?.link ?? ''
    const passed = passedBy(finding)
    const fix = finding.fix === '' ? '' : plain(finding.fix, 300)
    return `| ${place} | ${plain(finding.what, 300)} (${rulePage(finding, options)}) | ${passed === '' ? fix : passed} |`
  })
  const left = findings.length - rows.length
  const title = findings.every(({ severity }) => severity === 'warning')
    ? `${findings.length} ${findings.length === 1 ? 'warning' : 'warnings'}`
    : `Warnings and notes (${findings.length})`
  return [
    `<details><summary>${title}</summary>`,
    ['| where | what | what to do |', '|---|---|---|', ...rows].join('\n'),
    ...(left > 0 ? [`… and ${left} more. The checks list them.`] : []),
    '</details>',
  ].join('\n\n')
}

/** The override that maintainers may use for corrections. */
export function howToOverride(errors: readonly Finding[]): string[] {
  const rules = [...new Set(errors.map(({ rule }) => rule))].filter((rule) => overridableRules.has(rule))
  const [first] = rules
  if (first === undefined) return []
  const others =
    rules.length > 1
      ? ` The same goes for ${rules
          .slice(1)
          .map((rule) => code(rule))
          .join(', ')}.`
      : ''
  return [
    `If this is meant, a maintainer comments ${code(`/override ${first} because …`)} with the reason.${others}`,
  ]
}

export function describeFinding(finding: Finding, commits: Commits, options: PlacedReport): string {
  const place = placeOf(finding, commits, options)
  const why = finding.why === '' ? '' : ` ${sentence(finding.why)}`
  const fix = finding.fix === '' ? '' : ` *${sentence(finding.fix)}*`
  const passed = passedBy(finding)
  return `- ${place ? `${place.link} ` : ''}**${plain(finding.what, 1500)}** (${rulePage(finding, options)})${why}${fix}${passed === '' ? '' : ` ${passed}`}`
}

function rulePage({ rule }: Finding, { rulesUrl }: PlacedReport): string {
  return rulesUrl === undefined ? code(rule) : `[${rule}](${rulesUrl}/${rule}.md)`
}

interface ShownPlace {
  readonly link: string
  readonly isOnBase: boolean
}

/** The place of a finding, or of its fix where that is more precise. */
function placeOf(finding: Finding, commits: Commits, options: PlacedReport): ShownPlace | undefined {
  const { at } = finding
  if (at === undefined) return undefined
  const { lines, fixes = [], page } = options
  const fix = fixes.find((each) => each.finding === findingKey(finding))?.fix
  const line = fix?.first ?? at.line
  const traced: Pick<TracedLine, 'side' | 'first' | 'last'> | undefined =
    lines === undefined
      ? { side: 'head', first: line, last: fix?.last ?? line }
      : tracedBy(lines)(at.file, line)
  const words = placeWords(at.file, traced ?? { first: line, last: line })
  if (traced === undefined || page === undefined) return { link: words, isOnBase: false }
  const { side } = traced
  const link = `[${words}](${linesLink(page, side === 'head' ? commits.head : commits.base, at.file, traced)})`
  return { link, isOnBase: side === 'base' }
}

/** Starts with the file's name and folder: most catalogs' files share a name, and a whole path hides the line. */
function placeWords(
  path: string,
  { first, last }: { readonly first: number; readonly last: number },
): string {
  const name = path.split('/').slice(-2).join('/')
  const where = last > first && last - first < 20 ? `lines ${first}–${last}` : `line ${first}`
  return `${codeInCell(name)}, ${where}`
}

function onBase({ baseRef }: Commits): string {
  return `That line is on ${code(baseRef)}, and not in your branch yet: merge ${code(baseRef)} into your branch first.`
}

function passedBy({ overridden }: Finding): string {
  if (overridden === undefined) return ''
  return `**Overridden by ${code(overridden.by)}:** ${sentence(overridden.reason)}`
}

const sentence = (text: string): string => ended(capital(plain(text, 1500)))

/** Names keep their case. */
function capital(text: string): string {
  const isWord =
    /^(?:a|an|all|the|no|in|its|one|channel|bundle|package|image|property|published|catalog|entry|file)\b(?= )/
  return isWord.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')
}
