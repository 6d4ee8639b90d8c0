// Renders the one comment on a pull request: next steps, problems and fixes. It must suffice for a reader who sees
// nothing else. Escapes untrusted text.
import type { CheckOutcome, Offer } from '../checks/check.ts'
import type { Verdict } from '../gate/verdict.ts'
import { countFindings, sayAmount } from './count-findings.ts'
import { cutText, maxText } from './cut-text.ts'
import { bySeverity, errorBoxes, howToOverride, warningsTable } from './describe-findings.ts'
import { code, plain } from './escape.ts'
import { fencedBlock } from './fenced-block.ts'
import { fencedMermaid } from './fenced-mermaid.ts'
import { checksLink, commitLink } from './links.ts'
import { nextSteps, type NextStep } from './next-steps.ts'
import type { ReportOptions } from './report-options.ts'
import { checkPrefix } from './reported-check.ts'

/** The hidden first line that identifies catalog-bot's comment among the comments of the same App (T56). */
export const commentMarker = '<!-- catalog-bot:report -->'

const maxOffers = 3
/** Larger pictures are folded, to keep the next steps on screen. */
const mostOpenNodes = 12
const mostOpenLines = 3

interface Shortened {
  readonly withoutOffers?: boolean
}

/** Drops whole parts that don't fit, because half a patch or picture is useless. */
export function composeComment(verdict: Verdict, options: ReportOptions & Shortened): string {
  const body = sectionsOf(verdict, options).join('\n\n')
  if (body.length > maxText && options.graph !== undefined)
    return composeComment(verdict, { ...options, graph: undefined })
  if (body.length > maxText && options.withoutOffers !== true)
    return composeComment(verdict, { ...options, withoutOffers: true })
  return `${cutText(body)}\n\n${foot(verdict, options)}`
}

function sectionsOf(verdict: Verdict, options: ReportOptions & Shortened): readonly string[] {
  const { landed, traceId } = options
  const steps = landed === undefined && traceId === undefined ? nextSteps(verdict) : []
  const change = whatChanges(options)
  const errors = landed === undefined ? errorsOf(verdict) : []
  const others = othersOf(verdict, errors)
  return [
    commentMarker,
    `### ${headline(steps, options)}`,
    ...change.open,
    ...(landed === undefined ? [] : whatLanded(landed, options)),
    ...(options.meanwhile ?? []).map((line) => `> ${line}`),
    ...errorBoxes(errors, verdict, options, (options.meanwhile ?? []).length > 0),
    ...(errors.length > 0 ? howToOverride(errors) : []),
    ...picture(options.graph, landed !== undefined),
    // After a merge the checks are history.
    ...(verdict.outcomes.length > 0 && landed === undefined
      ? [checksLine(verdict.outcomes, errors.length === 0, options)]
      : []),
    ...(traceId === undefined ? sayNext(steps) : [ourFailure(traceId)]),
    ...change.folded,
    ...(others.length > 0 ? [warningsTable(others, verdict, options)] : []),
    ...(options.withoutOffers === true ? [] : offersOf(verdict)),
    ...commandsOf(options),
  ]
}

function errorsOf({ outcomes }: Verdict): CheckOutcome['findings'] {
  return outcomes
    .filter(({ isOptional }) => isOptional !== true)
    .flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'error'))
    .toSorted(bySeverity)
}

function othersOf({ outcomes }: Verdict, errors: CheckOutcome['findings']): CheckOutcome['findings'] {
  const shown = new Set(errors)
  return outcomes
    .flatMap(({ findings }) => findings)
    .filter((finding) => !shown.has(finding))
    .toSorted(bySeverity)
}

function headline(steps: readonly NextStep[], { landed, published, traceId, page }: ReportOptions): string {
  if (landed !== undefined)
    switch (published?.state) {
      case 'failed':
        return '❌ Merged, but not published'
      case 'pending':
        return '🔄 Merged; being published'
      case 'published':
        return '✅ Merged and published'
      case undefined:
        return `✅ Merged as ${linkedCommit(landed, page)}`
    }
  if (traceId !== undefined) return '🛠️ The bot failed; it retries automatically'
  return steps[0]?.headline ?? '⏳ Waiting'
}

/** The summary, or a few lines, with the rest folded. */
function whatChanges({ summary, changeLines }: ReportOptions): {
  open: readonly string[]
  folded: readonly string[]
} {
  const list = changeLines.join('\n')
  if (summary === undefined && changeLines.length <= mostOpenLines)
    return { open: list === '' ? [] : [list], folded: [] }
  const folded = `<details><summary>All that changes</summary>\n\n${list}\n\n</details>`
  // The summary already names a single package with its version and head.
  const isSaid = summary !== undefined && changeLines.length <= 3
  return { open: summary === undefined ? [] : [summary], folded: isSaid || list === '' ? [] : [folded] }
}

function whatLanded(landed: string, { published, page }: ReportOptions): readonly string[] {
  if (published === undefined) return []
  const failed =
    published.state === 'failed'
      ? ' **Users do not get this change yet**: the bot cannot publish it. Maintainers are told in an issue.'
      : ''
  return [
    `Merged as ${linkedCommit(landed, page)}.${failed}`,
    ...(published.lines.length > 0 ? [published.lines.join('\n')] : []),
  ]
}

function picture(graph: string | undefined, isHistory: boolean): readonly string[] {
  if (graph === undefined) return []
  const drawn = fencedMermaid(graph)
  const nodes = graph.split('\n').filter((line) => /^c\d+n\d+\[/.test(line)).length
  if (nodes <= mostOpenNodes && !isHistory) return [drawn]
  return [`<details><summary>Upgrade graph</summary>\n\n${drawn}\n\n</details>`]
}

/** `isRoomy`: nothing is wrong, so passed checks can list what they looked at. */
function checksLine(
  outcomes: readonly CheckOutcome[],
  isRoomy: boolean,
  { runs, page }: ReportOptions,
): string {
  const all = outcomes.map((outcome) => {
    const [mark, result] = resultOf(outcome)
    const words = result ?? (isRoomy ? plain(outcome.summary, 120) : '')
    const run = runs?.get(`${checkPrefix}${outcome.check}`) ?? (page && checksLink(page))
    const name = run === undefined ? outcome.check : `[${outcome.check}](${run})`
    return `${mark} ${name}${words === '' ? '' : ` ${words}`}`
  })
  return all.join(' · ')
}

function resultOf(outcome: CheckOutcome): readonly [mark: string, words?: string] {
  const { errors, warnings } = countFindings(outcome.findings)
  const { unanswered, waiting, isOptional } = outcome
  if (errors > 0 && isOptional) return ['⚠️', `${sayAmount(errors, warnings)}, not required to merge`]
  if (errors > 0) return ['❌', sayAmount(errors, warnings)]
  if (unanswered.length > 0 && isOptional) return ['❔', 'could not be found out']
  if (unanswered.length > 0)
    return ['🔄', `waiting for ${unanswered.length} ${unanswered.length === 1 ? 'answer' : 'answers'}`]
  if (waiting.some(({ isAgreed }) => isAgreed !== true)) return ['⏳', 'waiting for approval']
  return warnings > 0 ? ['✅', sayAmount(0, warnings)] : ['✅']
}

function sayNext(steps: readonly NextStep[]): readonly string[] {
  return steps.map(({ who, what }, at) => `**${at === 0 ? 'Next' : 'Also'}: ${who}.** ${what}`)
}

function ourFailure(traceId: string): string {
  return `**Next: the bot.** It had an error of its own, which is not your fault, and tries again by itself. If it does not recover, maintainers search its log for ${code(traceId)}.`
}

function offersOf({ outcomes }: Verdict): readonly string[] {
  return outcomes
    .flatMap(({ offers = [] }) => offers)
    .slice(0, maxOffers)
    .map(describeOffer)
}

/** The path needs no escaping: see Offer. */
function describeOffer({ path, template, patch }: Offer): string {
  return [
    `<details><summary>A patch for ${path}</summary>`,
    `The patch makes the catalog equal to what ${code(template)} renders. Apply it with ${code('git apply')}. The bot does not change your branch.`,
    fencedBlock('diff', patch.slice(0, -1)),
    '</details>',
  ].join('\n\n')
}

function commandsOf({ commandLines = [] }: ReportOptions): readonly string[] {
  return commandLines.length === 0 ? [] : [['**Commands**', '', ...commandLines].join('\n')]
}

/**
 * Names the state that the comment describes; approvals by command bind to it. Omits the base's tip, which moves too
 * often.
 */
function foot(verdict: Verdict, { change, page, statusPage }: ReportOptions): string {
  const parts = [
    `checked ${linkedCommit(verdict.head, page)} for ${code(verdict.baseRef)}`,
    ...(change === undefined ? [] : [`change ${code(change.slice(0, 12))}`]),
    ...(page === undefined ? [] : [`[all details](${checksLink(page)})`]),
    ...(statusPage === undefined ? [] : [`[history](${statusPage})`]),
    `locally: ${code('npx @catalog-bot/cli check')}`,
    code('/help'),
  ]
  return `<sub>${parts.join(' · ')}</sub>`
}

function linkedCommit(commit: string, page: ReportOptions['page']): string {
  const short = code(commit.slice(0, 12))
  return page === undefined ? short : `[${short}](${commitLink(page, commit)})`
}
