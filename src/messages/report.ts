// What people see of a verdict: check runs with annotations, and the one comment. Both say the same, because both
// are made here from the same value. Renders; decides nothing.
import type { CheckOutcome, Offer, Waiting } from '../checks/check.ts'
import { compareFindings, type Finding } from '../findings/finding.ts'
import { checkIds, type CheckId } from '../findings/checks.ts'
import { unblockers } from '../gate/decide.ts'
import type { ReasonCode, Verdict } from '../gate/verdict.ts'
import { describeFinding, howToOverride, listFindings, type RulePages } from './describe-findings.ts'
import { describeTried } from './describe-tried.ts'
import { code, codeInCell, oneLine, plain } from './escape.ts'
import { fencedBlock } from './fenced-block.ts'
import { fencedMermaid } from './fenced-mermaid.ts'

/** The hidden first line by which the bot finds its own comment again, among those that its own App wrote (T56). */
export const commentMarker = '<!-- catalog-bot:report -->'

/** Prefix of every check run's name. */
export const checkPrefix = 'catalog-bot / '

/** The names of the checks that every pull request gets. */
export const ownChecks: readonly string[] = namesOfChecks(checkIds)

export function namesOfChecks(ids: readonly CheckId[]): readonly string[] {
  return ids.map((id) => `${checkPrefix}${id}`)
}

const maxAnnotations = 150
const maxMentions = 5
const maxOffers = 3
/** GitHub refuses longer comments and summaries (65,536 and 65,535); room is left for the closing words. */
const maxText = 60_000

export interface ReportedAnnotation {
  readonly path: string
  readonly startLine: number
  readonly endLine: number
  readonly level: 'failure' | 'warning' | 'notice'
  readonly title: string
  readonly message: string
}

export interface ReportedCheck {
  readonly name: string
  readonly status: 'queued' | 'in_progress' | 'completed'
  readonly conclusion?: 'success' | 'failure' | 'neutral' | 'action_required'
  readonly title: string
  readonly summary: string
  readonly annotations: readonly ReportedAnnotation[]
}

export interface Report {
  readonly checks: readonly ReportedCheck[]
  readonly comment: string
}

export interface ReportOptions extends RulePages {
  /** What the pull request changes, a Markdown line each (made by describe-change.ts). */
  readonly changeLines: readonly string[]
  /** What became of people's commands, a Markdown line each (made by describe-commands.ts). */
  readonly commandLines?: readonly string[] | undefined
  /** Mermaid source of the changed upgrade graphs, if there is something to see. */
  readonly graph?: string | undefined
  /** The id of what the change does: approvals bind to it, so another change is another comment. */
  readonly change?: string | undefined
  /** The commit as which the pull request was merged. */
  readonly landed?: string | undefined
  /** What became of the images of a merged pull request's catalogs: lines made by publish-check.ts. */
  readonly published?:
    { readonly state: 'published' | 'pending' | 'failed'; readonly lines: readonly string[] } | undefined
  /** Our own failure, with the id under which the log has it. */
  readonly traceId?: string | undefined
}

/** Check runs and comment for a verdict. Every text of others in them is escaped. */
export function composeReport(verdict: Verdict, options: ReportOptions): Report {
  return {
    checks: checkIds.map((id) => reportCheck(id, verdict, options)),
    comment: composeComment(verdict, options),
  }
}

function reportCheck(id: CheckId, verdict: Verdict, options: ReportOptions): ReportedCheck {
  const name = `${checkPrefix}${id}`
  const outcome = verdict.outcomes.find((candidate) => candidate.check === id)
  if (outcome === undefined) {
    const why = verdict.reasons.map((reason) => reason.text).join('; ')
    // GitHub takes neutral for a yes where a check is required: what could not be checked must not look like that.
    const isTooLarge = verdict.reasons.some((reason) => reason.code === 'too-large')
    return {
      name,
      status: 'completed',
      conclusion: isTooLarge ? 'failure' : 'neutral',
      title: isTooLarge ? 'Too large to check' : 'Not checked',
      summary: plain(why),
      annotations: [],
    }
  }
  const { errors, warnings } = count(outcome.findings)
  const kept = id === 'ownership' ? keptBack(verdict) : []
  const summary = cut([...kept, summarise(outcome, options)].join('\n\n'))
  const base = { name, annotations: annotate(outcome.findings), summary }
  if (errors > 0) {
    const title = `${amount(errors, warnings)}${outcome.isOptional ? '; not required to merge' : ''}`
    return { ...base, status: 'completed', conclusion: 'failure', title }
  }
  // Nobody waits for it, and it did not pass.
  if (outcome.unanswered.length > 0 && outcome.isOptional)
    return { ...base, status: 'completed', conclusion: 'neutral', title: 'Could not be found out' }
  if (outcome.unanswered.length > 0)
    return {
      ...base,
      status: 'in_progress',
      title: 'Waiting for a registry or GitHub; retried automatically',
    }
  if (outcome.waiting.length > 0)
    return { ...base, status: 'completed', conclusion: 'action_required', title: 'Waiting for approval' }
  const passed = warnings > 0 ? `Passed, ${amount(0, warnings)}` : 'Passed'
  const title = kept.length > 0 ? `${passed}; the bot does not merge now` : passed
  return { ...base, status: 'completed', conclusion: 'success', title }
}

/** Why nothing is merged whatever the checks say: of all checks, one tells it. */
function keptBack({ reasons }: Verdict): readonly string[] {
  return reasons
    .filter((reason) => reason.code === 'stopped' || reason.code === 'refused')
    .map(({ text }) => `${plain(text.charAt(0).toUpperCase() + text.slice(1))}.`)
}

function summarise(outcome: CheckOutcome, options: ReportOptions): string {
  const parts = [plain(outcome.summary, 2000)]
  const shown = outcome.findings.toSorted(bySeverity)
  for (const finding of shown.slice(0, 100)) parts.push(describeFinding(finding, options))
  if (shown.length > 100) parts.push(`… and ${shown.length - 100} more.`)
  for (const { question, reason } of outcome.unanswered) parts.push(`- ${plain(question)}: ${plain(reason)}`)
  for (const { what, who } of outcome.waiting)
    parts.push(`- ${plain(what)}: ${who.map((name) => code(name)).join(', ')}`)
  if (outcome.tried) parts.push(...describeTried(outcome.tried))
  return parts.join('\n\n')
}

function composeComment(
  verdict: Verdict,
  options: ReportOptions & { readonly withoutOffers?: boolean },
): string {
  const sections = [commentMarker, `### ${headline(verdict, options)}`]
  if (options.changeLines.length > 0)
    sections.push(['**What this changes**', '', ...options.changeLines].join('\n'))
  if (verdict.outcomes.length > 0) sections.push(checkTable(verdict.outcomes))
  const blocking = new Set(verdict.outcomes.filter(({ isOptional }) => !isOptional).flatMap(errorsOf))
  const findings = verdict.outcomes.flatMap((outcome) => outcome.findings).toSorted(bySeverity)
  const errors = findings.filter((finding) => blocking.has(finding))
  const others = findings.filter((finding) => !blocking.has(finding))
  if (errors.length > 0)
    sections.push(listFindings('**What is wrong**', errors, options), ...howToOverride(errors))
  if (others.length > 0)
    sections.push(
      `<details><summary>Warnings and notes (${others.length})</summary>\n\n${listFindings('', others, options)}\n\n</details>`,
    )
  if (options.withoutOffers !== true)
    sections.push(
      ...verdict.outcomes
        .flatMap(({ offers = [] }) => offers)
        .slice(0, maxOffers)
        .map(describeOffer),
    )
  if (options.commandLines !== undefined && options.commandLines.length > 0)
    sections.push(['**Commands**', '', ...options.commandLines].join('\n'))
  if (options.landed !== undefined && options.published !== undefined && options.published.lines.length > 0)
    sections.push(['**Images**', '', ...options.published.lines].join('\n'))
  sections.push(`**What happens next**\n\n${nextSteps(verdict, options)}`)
  if (options.graph !== undefined)
    sections.push(
      `<details><summary>Upgrade graph</summary>\n\n${fencedMermaid(options.graph)}\n\n</details>`,
    )
  const body = sections.join('\n\n')
  if (body.length > maxText && options.graph !== undefined)
    return composeComment(verdict, { ...options, graph: undefined })
  // Half a patch is none.
  if (body.length > maxText && options.withoutOffers !== true)
    return composeComment(verdict, { ...options, withoutOffers: true })
  return `${cut(body)}\n\n${foot(verdict, options)}`
}

/** Its path needs no escaping: see Offer. */
function describeOffer({ path, template, patch }: Offer): string {
  return [
    `<details><summary>A patch for ${path}</summary>`,
    `The patch makes the catalog equal to what ${code(template)} renders. Apply it with ${code('git apply')}. The bot does not change your branch.`,
    fencedBlock('diff', patch.slice(0, -1)),
    '</details>',
  ].join('\n\n')
}

/** What the words above hold for: an approval by command binds to it. The base's tip moves too often to be named. */
function foot(verdict: Verdict, { change }: ReportOptions): string {
  const what = change === undefined ? '' : `, change ${code(change.slice(0, 12))}`
  const commits = `For ${code(verdict.head.slice(0, 12))} on ${code(verdict.baseRef)}${what}.`
  const commands = ['/recheck', '/approve', '/hold', '/unhold', '/help']
    .map((command) => code(command))
    .join(' ')
  return `<sub>${commits} Commands: ${commands}</sub>`
}

function headline(verdict: Verdict, options: ReportOptions): string {
  if (options.landed !== undefined)
    switch (options.published?.state) {
      case 'failed':
        return '❌ Merged, but not published'
      case 'pending':
        return '🔄 Merged; being published'
      case 'published':
        return '✅ Merged and published'
      case undefined:
        return '✅ Merged'
    }
  if (options.traceId !== undefined) return '🛠️ The bot failed'
  switch (verdict.kind) {
    case 'merge':
      return '✅ All checks passed; merging automatically'
    case 'wait':
      return verdict.waiting.length > 0 ? '⏳ Waiting for approval' : '⏳ Waiting'
    case 'blocked':
      return '❌ Changes needed'
    case 'unknown':
      return '🔄 Checking is not finished'
  }
}

function nextSteps(verdict: Verdict, options: ReportOptions): string {
  if (options.landed !== undefined)
    return [
      `The bot merged this pull request as ${code(options.landed.slice(0, 12))}.`,
      ...(options.published?.state === 'failed'
        ? [
            '**Users do not get this change yet**: the bot cannot publish it. Maintainers are told in an issue.',
          ]
        : []),
    ].join(' ')
  if (options.traceId !== undefined)
    return `The bot failed while it checked this pull request. This is not your fault, and the bot retries automatically. Maintainers can search the log for ${code(options.traceId)}.`
  const reasons = verdict.reasons.map((reason) => `- ${plain(reason.text)}`)
  switch (verdict.kind) {
    case 'merge':
      return 'The bot is merging the result that it checked. If the base branch changes first, the bot checks again.'
    case 'blocked':
      return [
        ...reasons,
        '',
        verdict.reasons.some((reason) => reason.code === 'too-large')
          ? 'Split it into smaller ones, or push a smaller one to this branch: that is checked within seconds. It is not tried again as it is.'
          : 'Push a fix to this branch. The bot then checks it again.',
        ...whoCanUnblock(verdict),
      ].join('\n')
    case 'unknown':
      return [
        ...reasons,
        '',
        needsPeople(verdict)
          ? 'The bot asks again automatically for what it does not know yet.'
          : 'You do not have to do anything. The bot retries automatically.',
        ...whoCanUnblock(verdict),
      ].join('\n')
    case 'wait':
      return [...reasons, ...whoCanUnblock(verdict)].join('\n')
  }
}

/** Whether somebody has to do something besides what the bot waits for. */
function needsPeople({ waiting, reasons, outcomes }: Verdict): boolean {
  return (
    waiting.length > 0 ||
    outcomes.some(({ findings }) => findings.some(({ severity }) => severity === 'error')) ||
    reasons.some(({ code: why }) => ofPeople.has(why))
  )
}

const ofPeople: ReadonlySet<ReasonCode> = new Set([
  'draft',
  'label',
  'held',
  'conflict',
  'merge-disabled',
  'author-unknown',
])

/** What those who are waited for can do, each in one sentence. */
const ways: Readonly<Record<NonNullable<Waiting['how']> | 'approves', readonly [string, string]>> = {
  approves: ['Who can approve it', `approve the commit below in a review, or comment ${code('/approve')}`],
  confirms: ['Who can confirm the push', `comment ${code('/approve')}`],
  withdraws: ['Who requested changes', 'approve it, or dismiss the review, once it is as it should be'],
  'merges-by-hand': ['Who can merge it', 'merge it by hand; the bot does not'],
}

/** Mentions at most a handful of people, and only where they are the ones to act, with what they can do. */
function whoCanUnblock(verdict: Verdict): string[] {
  const byWay = Map.groupBy(verdict.waiting, ({ how = 'approves' }) => how)
  return (['approves', 'confirms', 'withdraws', 'merges-by-hand'] as const).flatMap((way) => {
    const people = unblockers(byWay.get(way) ?? [])
    if (people.length === 0) return []
    const mentioned = people.slice(0, maxMentions).map(mention).join(', ')
    const more = people.length > maxMentions ? ` and ${people.length - maxMentions} more` : ''
    const [title, what] = ways[way]
    return ['', `**${title}:** ${mentioned}${more}: ${what}.`]
  })
}

/** Logins and team names come from owner files: only what GitHub could have given out is mentioned. */
export function mention(name: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/.test(name)
    ? `@${name}`
    : code(name)
}

function checkTable(outcomes: readonly CheckOutcome[]): string {
  const rows = outcomes.map((outcome) => {
    const [mark, words] = resultOf(outcome)
    return `| ${mark} | ${outcome.check} | ${words} | ${codeInCell(outcome.summary)} |`
  })
  return ['| | check | result | what was checked |', '|---|---|---|---|', ...rows].join('\n')
}

function resultOf(outcome: CheckOutcome): readonly [mark: string, words: string] {
  const { errors, warnings } = count(outcome.findings)
  if (errors > 0 && outcome.isOptional) return ['⚠️', `${amount(errors, warnings)}, not required to merge`]
  if (errors > 0) return ['❌', amount(errors, warnings)]
  if (outcome.unanswered.length > 0 && outcome.isOptional) return ['❔', 'could not be found out']
  if (outcome.unanswered.length > 0)
    return [
      '🔄',
      `waiting for ${outcome.unanswered.length} ${outcome.unanswered.length === 1 ? 'answer' : 'answers'}`,
    ]
  if (outcome.waiting.length > 0) return ['⏳', 'waiting for approval']
  return ['✅', warnings > 0 ? amount(0, warnings) : 'passed']
}

/**
 * On the line where the place begins: GitHub draws an annotation below its last line, which for an entry of many lines
 * may be one that is no part of what the pull request shows.
 */
function annotate(findings: readonly Finding[]): ReportedAnnotation[] {
  const levels = { error: 'failure', warning: 'warning', info: 'notice' } as const
  const annotations: ReportedAnnotation[] = []
  for (const { at, severity, rule, what, why, fix } of findings.toSorted(bySeverity)) {
    if (at === undefined || annotations.length === maxAnnotations) continue
    annotations.push({
      path: at.file,
      startLine: at.line,
      endLine: at.line,
      level: levels[severity],
      title: rule,
      // Plain text to GitHub; what shows nothing, or turns the order of what is shown, has no place in that either.
      message: [what, why, fix]
        .filter((text) => text !== '')
        .map((text) => oneLine(text, 5000))
        .join('\n'),
    })
  }
  return annotations
}

function errorsOf({ findings }: Pick<CheckOutcome, 'findings'>): readonly Finding[] {
  return findings.filter((finding) => finding.severity === 'error')
}

function count(findings: readonly Finding[]) {
  const errors = errorsOf({ findings }).length
  return { errors, warnings: findings.length - errors }
}

function amount(errors: number, warnings: number): string {
  const parts = []
  if (errors > 0) parts.push(`${errors} ${errors === 1 ? 'error' : 'errors'}`)
  if (warnings > 0) parts.push(`${warnings} ${warnings === 1 ? 'warning' : 'warnings'}`)
  return parts.join(', ')
}

function bySeverity(a: Finding, b: Finding): number {
  const order = { error: 0, warning: 1, info: 2 }
  return order[a.severity] - order[b.severity] || compareFindings(a, b)
}

function cut(text: string): string {
  if (text.length <= maxText) return text
  const end = text.lastIndexOf('\n', maxText)
  return `${text.slice(0, end > 0 ? end : maxText)}\n\n… This text is too long for GitHub. Run catalog-bot check to see all of it.`
}
