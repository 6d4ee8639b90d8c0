// Renders catalog-bot's only comment on a pull request: next steps, problems, and fixes. The comment must suffice for a
// reader who sees nothing else. Escapes untrusted text.
import type { CheckOutcome, SuggestedPatch } from '../checks/check.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import {
  compareFindingsBySeverity,
  renderErrorDetails,
  formatRuleOverrideHelp,
  renderBaseBranchErrorsTable,
  renderWarningsTable,
  countFindings,
  formatFindingCounts,
} from './describe-findings.ts'
import {
  toCodeSpan,
  escapeMarkdown,
  renderFencedBlock,
  renderMermaidBlock,
  truncateText,
  countUtf8Bytes,
  maxGitHubTextBytes,
} from './escape.ts'
import { formatChecksUrl, formatCommitUrl } from './urls.ts'
import { collectRequiredCheckErrors, decideNextSteps, type NextStep } from './next-steps.ts'
import { type PullReportOptions, checkNamePrefix } from './report-options.ts'

/** The hidden first line that identifies this comment among the comments of the same App (docs/dev/threats.md#t56). */
export const commentMarker = '<!-- catalog-bot:report -->'
const maxSuggestedPatches = 3
/** Larger graphs are collapsed to keep the next steps on screen. */
const maxUncollapsedGraphNodes = 12
const maxUncollapsedChangeLines = 3

interface CommentShorteningOptions {
  readonly withoutOffers?: boolean
}

/** Omits whole parts that do not fit, because part of a patch or graph is useless. */
export function renderComment(verdict: PullVerdict, options: PullReportOptions & CommentShorteningOptions) {
  const body = renderCommentSections(verdict, options).join('\n\n')
  const isTooLong = countUtf8Bytes(body) > maxGitHubTextBytes
  if (isTooLong && options.graph !== undefined)
    return renderComment(verdict, { ...options, graph: undefined })
  if (isTooLong && options.withoutOffers !== true)
    return renderComment(verdict, { ...options, withoutOffers: true })
  return `${truncateText(body)}\n\n${renderCommentFooter(verdict, options)}`
}

function renderCommentSections(verdict: PullVerdict, options: PullReportOptions & CommentShorteningOptions) {
  const { mergeCommit, traceId } = options
  const steps =
    mergeCommit === undefined && traceId === undefined ? decideNextSteps(verdict, options.isReportOnly) : []
  const change = renderCatalogChangeSummary(options)
  const errors =
    mergeCommit === undefined ? collectRequiredCheckErrors(verdict).toSorted(compareFindingsBySeverity) : []
  const others = collectNonErrorFindings(verdict, errors)
  const ownErrors = errors.filter(({ isOnBase }) => isOnBase !== true)
  const baseErrors = errors.filter(({ isOnBase }) => isOnBase === true)
  return [
    commentMarker,
    `### ${renderCommentHeadline(steps, options)}`,
    ...change.open,
    ...(mergeCommit === undefined ? [] : renderMergeResultSection(mergeCommit, options)),
    ...(options.meanwhile ?? []).map((line) => `> ${line}`),
    ...renderErrorDetails(ownErrors, verdict, options, (options.meanwhile ?? []).length > 0),
    ...(ownErrors.length > 0 ? formatRuleOverrideHelp(ownErrors) : []),
    ...renderUpgradeGraph(options.graph, mergeCommit !== undefined),
    // After a merge, the check results no longer matter.
    ...(verdict.outcomes.length > 0 && mergeCommit === undefined
      ? [renderChecksLine(verdict.outcomes, errors.length === 0, options)]
      : []),
    ...(traceId === undefined
      ? steps.map(({ who, what }, at) => `**${at === 0 ? 'Next' : 'Also'}: ${who}.** ${what}`)
      : [formatInternalError(traceId)]),
    ...change.folded,
    ...(baseErrors.length > 0 ? [renderBaseBranchErrorsTable(baseErrors, verdict, options)] : []),
    ...(others.length > 0 ? [renderWarningsTable(others, verdict, options)] : []),
    ...(options.withoutOffers === true ? [] : renderSuggestedPatches(verdict)),
    ...renderSlashCommandSection(options),
  ]
}

function collectNonErrorFindings({ outcomes }: PullVerdict, errors: CheckOutcome['findings']) {
  const shown = new Set(errors)
  return outcomes
    .flatMap(({ findings }) => findings)
    .filter((finding) => !shown.has(finding))
    .toSorted(compareFindingsBySeverity)
}

function renderCommentHeadline(
  steps: readonly NextStep[],
  { mergeCommit, published, traceId, page }: PullReportOptions,
): string {
  if (mergeCommit !== undefined)
    switch (published?.state) {
      case 'failed':
        return '❌ Merged, but not published'
      case 'pending':
        return '🔄 Merged; publishing the catalog image'
      case 'published':
        return '✅ Merged and published'
      case undefined:
        return `✅ Merged as ${formatCommitLink(mergeCommit, page)}`
    }
  if (traceId !== undefined) return '🛠️ catalog-bot hit an internal error and will retry'
  return steps[0]?.headline ?? '⏳ Waiting'
}

/** The summary or a few lines, with the rest collapsed. */
function renderCatalogChangeSummary({ summary, changeLines }: PullReportOptions) {
  const list = changeLines.join('\n')
  if (summary === undefined && changeLines.length <= maxUncollapsedChangeLines)
    return { open: list === '' ? [] : [list], folded: [] }
  const folded = `<details><summary>All changes</summary>\n\n${list}\n\n</details>`
  // The summary already names a single package with its version and head.
  const isSummarized = summary !== undefined && changeLines.length <= 3
  return { open: summary === undefined ? [] : [summary], folded: isSummarized || list === '' ? [] : [folded] }
}

function renderMergeResultSection(mergeCommit: string, { published, page }: PullReportOptions) {
  if (published === undefined) return []
  const failed =
    published.state === 'failed'
      ? ' **Users cannot get this change yet** because catalog-bot could not publish it. catalog-bot reports the failure in an issue.'
      : ''
  return [
    `Merged as ${formatCommitLink(mergeCommit, page)}.${failed}`,
    ...(published.lines.length > 0 ? [published.lines.join('\n')] : []),
  ]
}

function renderUpgradeGraph(graph: string | undefined, isHistory: boolean): readonly string[] {
  if (graph === undefined) return []
  const drawn = renderMermaidBlock(graph)
  const nodes = graph.split('\n').filter((line) => /^c\d+n\d+\[/.test(line)).length
  if (nodes <= maxUncollapsedGraphNodes && !isHistory) return [drawn]
  return [`<details><summary>Upgrade graph</summary>\n\n${drawn}\n\n</details>`]
}

/** `isRoomy`: there are no errors, so the line has room for the summaries of passed checks. */
function renderChecksLine(
  outcomes: readonly CheckOutcome[],
  isRoomy: boolean,
  { runs, page }: PullReportOptions,
): string {
  const all = outcomes.map((outcome) => {
    const [mark, result] = formatCheckResult(outcome)
    const detail = result ?? (isRoomy ? escapeMarkdown(outcome.summary, 120) : '')
    const run = runs?.get(`${checkNamePrefix}${outcome.check}`) ?? (page && formatChecksUrl(page))
    const name = run === undefined ? outcome.check : `[${outcome.check}](${run})`
    return `${mark} ${name}${detail === '' ? '' : ` ${detail}`}`
  })
  return all.join(' · ')
}

function formatCheckResult(outcome: CheckOutcome): readonly [mark: string, words?: string] {
  const { errors, warnings } = countFindings(outcome.findings)
  const { unanswered, waiting, isOptional } = outcome
  if (errors > 0 && isOptional)
    return ['⚠️', `${formatFindingCounts(errors, warnings)}, not required to merge`]
  if (errors > 0) return ['❌', formatFindingCounts(errors, warnings)]
  if (unanswered.length > 0 && isOptional) return ['❔', 'inconclusive']
  if (unanswered.length > 0)
    return ['🔄', `waiting for ${unanswered.length} ${unanswered.length === 1 ? 'response' : 'responses'}`]
  if (waiting.some(({ isAgreed }) => isAgreed !== true)) return ['⏳', 'waiting for approval']
  return warnings > 0 ? ['✅', formatFindingCounts(0, warnings)] : ['✅']
}

function formatInternalError(traceId: string): string {
  return `**Next: catalog-bot.** The error is not in this pull request, and catalog-bot retries automatically. If the error persists, ask a bot administrator to search the logs for ${toCodeSpan(traceId)}.`
}

function renderSuggestedPatches({ outcomes }: PullVerdict): readonly string[] {
  return outcomes
    .flatMap(({ suggestedPatches = [] }) => suggestedPatches)
    .slice(0, maxSuggestedPatches)
    .map(renderSuggestedPatch)
}

/** The path needs no escaping; see SuggestedPatch. */
function renderSuggestedPatch({ path, template, patch }: SuggestedPatch): string {
  return [
    `<details><summary>Patch for ${path}</summary>`,
    `This patch updates the catalog to match the output of ${toCodeSpan(template)}. Apply it with ${toCodeSpan('git apply')}. catalog-bot does not change your branch.`,
    renderFencedBlock('diff', patch.slice(0, -1)),
    '</details>',
  ].join('\n\n')
}

function renderSlashCommandSection({ commandLines = [] }: PullReportOptions): readonly string[] {
  return commandLines.length === 0 ? [] : [['**Commands**', '', ...commandLines].join('\n')]
}

/**
 * Identifies the state that the comment describes, to which approvals by command apply. Omits the tip of the base branch,
 * which changes too often.
 */
function renderCommentFooter(verdict: PullVerdict, { change, page, statusPage }: PullReportOptions): string {
  const parts = [
    `checked ${formatCommitLink(verdict.head, page)} against ${toCodeSpan(verdict.baseRef)}`,
    ...(change === undefined ? [] : [`change ${toCodeSpan(change.slice(0, 12))}`]),
    ...(page === undefined ? [] : [`[all details](${formatChecksUrl(page)})`]),
    ...(statusPage === undefined ? [] : [`[history](${statusPage})`]),
    `locally: ${toCodeSpan('catalog-bot check')}`,
    toCodeSpan('/help'),
  ]
  return `<sub>${parts.join(' · ')}</sub>`
}

function formatCommitLink(commit: string, page: PullReportOptions['page']): string {
  const short = toCodeSpan(commit.slice(0, 12))
  return page === undefined ? short : `[${short}](${formatCommitUrl(page, commit)})`
}
