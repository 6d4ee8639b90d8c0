// Renders findings in Markdown: boxes for errors, a table for the rest, and a list for check runs. Locations are links.
// Escapes untrusted text.
import { compareFindings, type Finding, type Severity, formatFixAsDiff } from '@catalog-bot/findings/finding'
import { formatCountWithNoun } from '@catalog-bot/findings/printable'
import { overridableRuleIds } from '../checks/all-rules.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import {
  escapeSourceLine,
  toCodeSpan,
  toTableCodeSpan,
  escapeMarkdown,
  escapeSentenceWithCodeSpans,
  renderFencedBlock,
  addPeriodIfMissing,
  escapeWorkflowCommandMessage,
  escapeWorkflowCommandProperty,
  toLogLine,
} from './escape.ts'
import { formatLineRangeUrl } from './urls.ts'
import {
  type FindingLinkOptions,
  toFindingIdentityKey,
  createTracedLineLookup,
  type TracedFindingLine,
} from './report-options.ts'
import type { CheckOutcome } from '../checks/check.ts'

/** The check runs list the other errors. */
const maxDetailedErrorGroups = 4
const maxDisplayedSimilarFindings = 4
const maxFindingsTableRows = 20
/** Longer fixes are too long for a comment. */
const maxDisplayedFixLines = 16

type HeadAndBaseCommits = Pick<PullVerdict, 'head' | 'base' | 'baseRef'>

export function compareFindingsBySeverity(a: Finding, b: Finding): number {
  const order = { error: 0, warning: 1, info: 2 }
  return order[a.severity] - order[b.severity] || compareFindings(a, b)
}

/** Groups findings by rule and package, because one user fixes them together. */
export function groupSimilarFindings(findings: readonly Finding[]): readonly (readonly Finding[])[] {
  const similarityKey = ({ rule, severity, data, overridden }: Finding) =>
    JSON.stringify([rule, severity, data?.['package'], overridden])
  return [...Map.groupBy(findings, similarityKey).values()]
}

export function renderErrorDetails(
  errors: readonly Finding[],
  commits: HeadAndBaseCommits,
  options: FindingLinkOptions,
  isExplained = false,
): readonly string[] {
  const groups = groupSimilarFindings(errors)
  // With several errors, or if the cause is already explained, the rule's page explains why the rule matters.
  const isOnly = groups.length === 1 && !isExplained
  const boxes = groups
    .slice(0, maxDetailedErrorGroups)
    .map((group) => renderErrorGroupDetails(group, isOnly, commits, options))
  const left = groups.length - maxDetailedErrorGroups
  return left > 0 ? [...boxes, `… and ${left} more. For the full list, see the check runs.`] : boxes
}

function renderErrorGroupDetails(
  group: readonly Finding[],
  isOnly: boolean,
  commits: HeadAndBaseCommits,
  options: FindingLinkOptions,
): string {
  const [first, ...others] = group
  if (first === undefined) return ''
  const location = getFindingLocation(first, commits, options)
  const title = [
    `**${capitalizeCommonFirstWord(escapeSentenceWithCodeSpans(first.what, 1500))}**`,
    ...(location ? [location.link] : []),
    formatRuleLink(first, options),
  ]
  const elsewhere = location?.isOnBase === true ? [formatUpdateBranchHint(commits)] : []
  const fix = renderSuggestedFixDiff(first, options)
  // A diff replaces the description of the fix.
  const explanations = [isOnly ? first.why : '', fix === undefined ? first.fix : '']
  const sentences = explanations.filter((text) => text !== '').map(formatEscapedSentence)
  const more = describeSimilarFindings(first, others, commits, options)
  const paragraphs = [
    ['[!CAUTION]', title.join(' · '), [...sentences, ...elsewhere].join(' ')]
      .filter((line) => line !== '')
      .join('\n'),
    ...(fix === undefined ? [] : [fix]),
    ...(more.length === 0 ? [] : [more.join('\n')]),
  ]
  return toMarkdownBlockquote(paragraphs.join('\n\n'))
}

function renderSuggestedFixDiff(finding: Finding, { fixes = [] }: FindingLinkOptions): string | undefined {
  const reportedFix = fixes.find((each) => each.finding === toFindingIdentityKey(finding))
  const lines = reportedFix && formatFixAsDiff(reportedFix.fix)
  if (lines === undefined || lines.length > maxDisplayedFixLines) return undefined
  return renderFencedBlock('diff', lines.map(escapeSourceLine).join('\n'))
}

/** Lists only the differences from the first finding, without repeating a sentence. */
function describeSimilarFindings(
  first: Finding,
  others: readonly Finding[],
  commits: HeadAndBaseCommits,
  options: FindingLinkOptions,
): readonly string[] {
  const lines = others.slice(0, maxDisplayedSimilarFindings).map((other) => {
    const problem = other.what === first.what ? '' : `**${escapeSentenceWithCodeSpans(other.what, 1500)}**`
    const remedy = other.fix === '' || other.fix === first.fix ? '' : `*${formatEscapedSentence(other.fix)}*`
    return `- ${[getFindingLocation(other, commits, options)?.link ?? '', problem, remedy].filter((part) => part !== '').join(' ')}`
  })
  const uniqueLines = [...new Set(lines)].filter((line) => line !== '- ')
  const left = others.length - Math.min(others.length, maxDisplayedSimilarFindings)
  return left > 0
    ? [...uniqueLines, `- … and ${left} more for this rule. For the full list, see the check runs.`]
    : uniqueLines
}

export function renderWarningsTable(
  findings: readonly Finding[],
  commits: HeadAndBaseCommits,
  options: FindingLinkOptions,
): string {
  const title = findings.every(({ severity }) => severity === 'warning')
    ? formatCountWithNoun(findings.length, 'warning')
    : `Warnings and notes (${findings.length})`
  return renderFindingsTable(title, findings, commits, options)
}

/** Errors that the pull request did not cause. */
export function renderBaseBranchErrorsTable(
  findings: readonly Finding[],
  commits: HeadAndBaseCommits,
  options: FindingLinkOptions,
): string {
  const count = formatCountWithNoun(findings.length, 'error')
  const title = `${count} already on ${escapeMarkdown(commits.baseRef)}`
  return renderFindingsTable(title, findings, commits, options)
}

function renderFindingsTable(
  title: string,
  findings: readonly Finding[],
  commits: HeadAndBaseCommits,
  options: FindingLinkOptions,
): string {
  const rows = findings.slice(0, maxFindingsTableRows).map((finding) => {
    const location = getFindingLocation(finding, commits, options)?.link ?? ''
    const passed = formatFindingOverrideNote(finding)
    const fix = finding.fix === '' ? '' : escapeSentenceWithCodeSpans(finding.fix, 300)
    return `| ${location} | ${escapeSentenceWithCodeSpans(finding.what, 300)} (${formatRuleLink(finding, options)}) | ${passed === '' ? fix : passed} |`
  })
  const left = findings.length - rows.length
  return [
    `<details><summary>${title}</summary>`,
    ['| Location | Problem | Fix |', '|---|---|---|', ...rows].join('\n'),
    ...(left > 0 ? [`… and ${left} more. For the full list, see the check runs.`] : []),
    '</details>',
  ].join('\n\n')
}

/** Describes the overrides that maintainers can use. */
export function formatRuleOverrideHelp(errors: readonly Finding[]): string[] {
  const rules = [...new Set(errors.map(({ rule }) => rule))].filter((rule) => overridableRuleIds.has(rule))
  const [first] = rules
  if (first === undefined) return []
  const others =
    rules.length > 1
      ? ` The same applies to ${rules
          .slice(1)
          .map((rule) => toCodeSpan(rule))
          .join(', ')}.`
      : ''
  return [
    `If the ${toCodeSpan(first)} change is intentional, a maintainer can comment ${toCodeSpan(`/override ${first} because REASON`)}.${others}`,
  ]
}

export function describeFinding(finding: Finding, commits: HeadAndBaseCommits, options: FindingLinkOptions) {
  const location = getFindingLocation(finding, commits, options)
  const why = finding.why === '' ? '' : ` ${formatEscapedSentence(finding.why)}`
  const fix = finding.fix === '' ? '' : ` *${formatEscapedSentence(finding.fix)}*`
  const passed = formatFindingOverrideNote(finding)
  return `- ${location ? `${location.link} ` : ''}**${escapeSentenceWithCodeSpans(finding.what, 1500)}** (${formatRuleLink(finding, options)})${why}${fix}${passed === '' ? '' : ` ${passed}`}`
}

export function formatRuleLink(
  { rule }: Pick<Finding, 'rule'>,
  { rulesUrl }: Pick<FindingLinkOptions, 'rulesUrl'>,
): string {
  return rulesUrl === undefined ? toCodeSpan(rule) : `[${rule}](${rulesUrl}/${rule}.md)`
}

/** Where users see a finding on GitHub. */
export interface GitHubFindingLocation {
  /** In the head, or in the base if the head lacks the line. */
  readonly first: number
  readonly last: number
  readonly isOnBase: boolean
  /** Absent if the line is in neither, or the page is unknown. */
  readonly url?: string
}

/** The location of a finding, or of its fix if that is more precise. */
export function locateFindingOnGitHub(
  finding: Finding,
  commits: HeadAndBaseCommits,
  { lines, fixes = [], page }: FindingLinkOptions,
): GitHubFindingLocation | undefined {
  const { at } = finding
  if (at === undefined) return undefined
  const fix = fixes.find((each) => each.finding === toFindingIdentityKey(finding))?.fix
  const line = fix?.first ?? at.line
  const traced: Pick<TracedFindingLine, 'side' | 'first' | 'last'> | undefined =
    lines === undefined
      ? { side: 'head', first: line, last: fix?.last ?? line }
      : createTracedLineLookup(lines)(at.file, line)
  if (traced === undefined || page === undefined)
    return { first: traced?.first ?? line, last: traced?.last ?? line, isOnBase: false }
  const { side, first, last } = traced
  const url = formatLineRangeUrl(page, side === 'head' ? commits.head : commits.base, at.file, traced)
  return { first, last, isOnBase: side === 'base', url }
}

function getFindingLocation(finding: Finding, commits: HeadAndBaseCommits, options: FindingLinkOptions) {
  const location = locateFindingOnGitHub(finding, commits, options)
  if (finding.at === undefined || location === undefined) return undefined
  const label = formatFindingLocation(finding.at.file, location)
  const { url, isOnBase } = location
  return { link: url === undefined ? label : `[${label}](${url})`, isOnBase }
}

/** Shows the file's name and folder, because most catalog files share a name and a full path would hide the line number. */
function formatFindingLocation(
  path: string,
  { first, last }: { readonly first: number; readonly last: number },
) {
  const name = path.split('/').slice(-2).join('/')
  const where = last > first && last - first < 20 ? `lines ${first}–${last}` : `line ${first}`
  return `${toTableCodeSpan(name)}, ${where}`
}

function formatUpdateBranchHint({ baseRef }: HeadAndBaseCommits): string {
  return `This line exists only on ${toCodeSpan(baseRef)}. Merge ${toCodeSpan(baseRef)} into your branch, then apply the fix.`
}

function formatFindingOverrideNote({ overridden }: Finding): string {
  if (overridden === undefined) return ''
  return `**Overridden by ${toCodeSpan(overridden.by)}:** ${formatEscapedSentence(overridden.reason)}`
}

const formatEscapedSentence = (text: string): string =>
  addPeriodIfMissing(capitalizeCommonFirstWord(escapeSentenceWithCodeSpans(text, 1500)))

/** Names keep their case. */
function capitalizeCommonFirstWord(text: string): string {
  const isWord =
    /^(?:a|an|all|the|no|in|its|one|channel|bundle|package|image|property|published|catalog|entry|file)\b(?= )/
  return isWord.test(text) ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text
}

function toMarkdownBlockquote(text: string): string {
  return text
    .split('\n')
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')
}

export function countFindings(findings: readonly Finding[]): {
  readonly errors: number
  readonly warnings: number
} {
  const errors = findings.filter(({ severity }) => severity === 'error').length
  return { errors, warnings: findings.length - errors }
}

/** `2 errors, 1 warning`. */
export function formatFindingCounts(errors: number, warnings: number): string {
  return [
    ...(errors > 0 ? [formatCountWithNoun(errors, 'error')] : []),
    ...(warnings > 0 ? [formatCountWithNoun(warnings, 'warning')] : []),
  ].join(', ')
}

// Formats each check as one line of plain text. The page escapes it.
/** `validation: 1 error`, `images: passed`. In the order of the outcomes. */
export function formatCheckOutcomeLines(outcomes: readonly CheckOutcome[]): readonly string[] {
  return outcomes.map((outcome) => `${outcome.check}: ${formatCheckOutcome(outcome)}`)
}

function formatCheckOutcome({ findings, unanswered, waiting, isOptional, summary }: CheckOutcome): string {
  const { errors, warnings } = countFindings(findings)
  const optional = isOptional ? ', not required to merge' : ''
  if (errors > 0) return `${formatFindingCounts(errors, warnings)}${optional}`
  if (unanswered.length > 0)
    return isOptional
      ? 'inconclusive, not required to merge'
      : `waiting for ${formatCountWithNoun(unanswered.length, 'response')}`
  if (waiting.some(({ isAgreed }) => isAgreed !== true)) return 'waiting for approval'
  const passed = warnings > 0 ? `passed with ${formatFindingCounts(0, warnings)}` : 'passed'
  return summary === '' ? passed : `${passed} (${summary})`
}

// Findings as annotations and log lines, escaped so that the runner finds no commands in them.
/** GitHub shows this many annotations of each kind per step and drops the rest. */
const maxAnnotationsPerSeverity = 10

const workflowCommandBySeverity: Readonly<Record<Severity, string>> = {
  error: 'error',
  warning: 'warning',
  info: 'notice',
}

const severitiesInLogOrder = Object.keys(workflowCommandBySeverity) as readonly Severity[]

/** Lines for standard output. Findings without a location or beyond the limit are only logged. */
export function formatWorkflowLog(findings: readonly Finding[]): readonly string[] {
  const sorted = findings.filter(({ overridden }) => overridden === undefined).toSorted(compareFindings)
  return severitiesInLogOrder.flatMap((severity) => {
    const those = sorted.filter((finding) => finding.severity === severity)
    const shown = those.filter(({ at }) => at !== undefined).slice(0, maxAnnotationsPerSeverity)
    return [
      ...shown.map(formatWorkflowAnnotation),
      ...those
        .filter((finding) => !shown.includes(finding))
        .map((finding) => toLogLine(formatFindingLine(finding))),
    ]
  })
}

function formatWorkflowAnnotation(finding: Finding): string {
  const { severity, at, rule, what, why, fix } = finding
  const location = at && [
    ['file', at.file],
    ['line', at.line],
    ['col', at.column],
    ...(at.endLine === undefined ? [] : [['endLine', at.endLine]]),
    // GitHub rejects an end column for a range of several lines.
    ...(at.endColumn === undefined || (at.endLine ?? at.line) !== at.line
      ? []
      : [['endColumn', at.endColumn]]),
  ]
  const properties = [...(location ?? []), ['title', rule]]
    .map(([name, value]) => `${name}=${escapeWorkflowCommandProperty(String(value))}`)
    .join(',')
  const text = [what, why, fix].filter((part) => part !== '').join('\n')
  return `::${workflowCommandBySeverity[severity]} ${properties}::${escapeWorkflowCommandMessage(text)}`
}

function formatFindingLine({ severity, at, rule, what, fix }: Finding): string {
  const location = at === undefined ? '' : `${at.file}:${at.line}: `
  return `${severity}: ${location}${what} (${rule}) ${fix}`
}
