// Renders a verdict as check runs with annotations on lines of the head.
import type { Finding } from '@catalog-bot/findings/finding'
import { type CheckId, checkIds } from '@catalog-bot/findings/checks'
import type { CheckOutcome } from '../checks/check.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import {
  compareFindingsBySeverity,
  describeFinding,
  countFindings,
  formatFindingCounts,
} from './describe-findings.ts'
import {
  toCodeSpan,
  toSingleLineText,
  escapeMarkdown,
  toTableCodeSpan,
  capitalizeFirstLetter,
  truncateText,
} from './escape.ts'
import {
  type PullReportOptions,
  createReportedCheck,
  type ReportedAnnotation,
  type ReportedCheck,
  createTracedLineLookup,
} from './report-options.ts'
import type {
  InstallStep,
  InstallVerdict,
  InstallStepOutcome,
  InstallSummary,
} from '../checks/install/install-report.ts'
import { installNoteLabelByKind } from './describe-install.ts'

export type MergeGroupVerdict =
  | { readonly kind: 'good'; readonly pulls: readonly number[] }
  /** `reasons`: sentences that contain untrusted text. */
  | { readonly kind: 'bad'; readonly pulls: readonly number[]; readonly reasons: readonly string[] }
  | { readonly kind: 'waiting'; readonly pulls: readonly number[]; readonly reasons: readonly string[] }

const maxDisplayedMergeGroupReasons = 20

const iconByInstallStepOutcome: Readonly<Record<InstallStepOutcome, string>> = {
  passed: '✅',
  warning: '⚠️',
  failed: '❌',
  unknown: '❔',
  'left out': '➖',
}

const installVerdictLabels: Readonly<Record<InstallVerdict | 'other format', string>> = {
  yes: '✅ yes',
  no: '❌ no',
  unknown: '❔ inconclusive',
  'other format': '➖ does not install bundles in this format',
}

/** The number of packages whose steps are shown. The tables cover the rest. */
const maxInstallsWithDisplayedSteps = 10

const maxCheckRunAnnotations = 150

const waitingForOthersTitle = 'Waiting for a registry or GitHub; catalog-bot retries automatically'

/** Escapes untrusted text. */
export function renderCheckRun(id: CheckId, verdict: PullVerdict, options: PullReportOptions): ReportedCheck {
  const outcome = verdict.outcomes.find((candidate) => candidate.check === id)
  if (outcome === undefined) {
    const why = verdict.reasons.map((reason) => reason.text).join('; ')
    // GitHub counts a neutral required check as success, so an unchecked pull request must not be neutral.
    const isTooLarge = verdict.reasons.some(({ code }) => code === 'too-large')
    const isMalformed = verdict.reasons.some(({ code }) => code === 'malformed')
    const title = isTooLarge ? 'Too large to check' : isMalformed ? 'Rejected by Git' : 'Not checked'
    const conclusion = isTooLarge || isMalformed ? 'failure' : 'neutral'
    return createReportedCheck(id, conclusion, title, escapeMarkdown(why))
  }
  const { errors, warnings } = countFindings(outcome.findings)
  const mergeBlockers = id === 'ownership' ? formatMergeBlockers(verdict) : []
  const summary = truncateText(
    [...mergeBlockers, renderCheckRunSummary(outcome, verdict, options)].join('\n\n'),
  )
  // An annotation would show an author an error in a file that their change doesn't touch.
  const annotated = outcome.findings.filter(({ isOnBase }) => isOnBase !== true)
  const report = (state: Parameters<typeof createReportedCheck>[1], title: string) =>
    createReportedCheck(id, state, title, summary, renderCheckRunAnnotations(annotated, options))
  if (errors > 0) {
    const isBaseBroken = annotated.every(({ severity }) => severity !== 'error')
    const title = `${formatFindingCounts(errors, warnings)}${isBaseBroken ? `; already on ${verdict.baseRef}` : ''}${outcome.isOptional ? '; not required to merge' : ''}`
    return report('failure', title)
  }
  // An optional check without a response has not passed, but does not block the merge.
  if (outcome.unanswered.length > 0 && outcome.isOptional) return report('neutral', 'Inconclusive')
  if (outcome.unanswered.length > 0) return report('in_progress', waitingForOthersTitle)
  if (outcome.waiting.some(({ isAgreed }) => isAgreed !== true))
    return report('action_required', 'Waiting for approval')
  // GitHub blocks a merge until required checks pass. Otherwise, no one could merge this pull request.
  if (outcome.waiting.length > 0)
    return report('success', 'Approved; a maintainer must merge this pull request manually')
  const passed = warnings > 0 ? `Passed, ${formatFindingCounts(0, warnings)}` : 'Passed'
  return report('success', mergeBlockers.length > 0 ? `${passed}; merging is currently blocked` : passed)
}

/** Reasons that block the merge regardless of the checks. Only one check reports them. */
function formatMergeBlockers({ reasons }: PullVerdict): readonly string[] {
  return reasons
    .filter((reason) => reason.code === 'stopped' || reason.code === 'refused')
    .map(({ text }) => `${escapeMarkdown(capitalizeFirstLetter(text))}.`)
}

function renderCheckRunSummary(
  outcome: CheckOutcome,
  verdict: PullVerdict,
  options: PullReportOptions,
): string {
  const parts = [escapeMarkdown(outcome.summary, 2000)]
  const shown = outcome.findings.toSorted(compareFindingsBySeverity)
  for (const finding of shown.slice(0, 100)) parts.push(describeFinding(finding, verdict, options))
  if (shown.length > 100) parts.push(`… and ${shown.length - 100} more.`)
  for (const { question, reason } of outcome.unanswered)
    parts.push(`- Could not determine ${escapeMarkdown(question)}: ${escapeMarkdown(reason)}`)
  for (const { what, who } of outcome.waiting)
    parts.push(`- ${escapeMarkdown(what)}: ${who.map((name) => toCodeSpan(name)).join(', ')}`)
  if (outcome.installSummaries) parts.push(...describeSimulatedInstalls(outcome.installSummaries))
  return parts.join('\n\n')
}

/** Annotates only the first line, because GitHub shows an annotation below its last one, perhaps outside the diff. */
function renderCheckRunAnnotations(
  findings: readonly Finding[],
  { lines }: PullReportOptions,
): ReportedAnnotation[] {
  const levels = { error: 'failure', warning: 'warning', info: 'notice' } as const
  const traced = createTracedLineLookup(lines)
  const annotations: ReportedAnnotation[] = []
  for (const { at, severity, rule, what, why, fix } of findings.toSorted(compareFindingsBySeverity)) {
    if (at === undefined || annotations.length === maxCheckRunAnnotations) continue
    // GitHub cannot annotate a line that the head lacks. The summary links to the line on the base.
    const there = traced(at.file, at.line)
    if (lines !== undefined && there?.side !== 'head') continue
    const line = there?.first ?? at.line
    annotations.push({
      path: at.file,
      startLine: line,
      endLine: line,
      level: levels[severity],
      title: rule,
      // GitHub shows this as plain text. Removes invisible and bidirectional characters.
      message: [what, why, fix]
        .filter((text) => text !== '')
        .map((text) => toSingleLineText(text, 5000))
        .join('\n'),
    })
  }
  return annotations
}

/** Paragraphs of Markdown. */
export function* describeSimulatedInstalls(simulated: readonly InstallSummary[]): Generator<string> {
  yield '**Install results** (simulated without a cluster)'
  for (const one of simulated)
    yield [formatInstallTitle(one), '', ...renderInstallTargetTable(one)].join('\n')
  for (const one of simulated.slice(0, maxInstallsWithDisplayedSteps)) yield renderInstallSteps(one)
  if (simulated.length > maxInstallsWithDisplayedSteps)
    yield `The steps of ${simulated.length - maxInstallsWithDisplayedSteps} more installs are not shown. To see them, run ${toCodeSpan('catalog-bot install')}.`
  yield 'The simulation does not show whether the Operator runs after the installation.'
}

function formatInstallTitle({ package: its, channel, bundle, catalogs }: InstallSummary): string {
  const shown = catalogs.slice(0, 3).map((root) => toCodeSpan(root))
  const more = catalogs.length > 3 ? ` and ${catalogs.length - 3} more catalogs` : ''
  const resolvedBundle = bundle === undefined ? 'no bundle resolved' : toCodeSpan(bundle)
  return `Package ${toCodeSpan(its)}, channel ${toCodeSpan(channel)}: ${resolvedBundle}, in ${shown.join(', ')}${more}`
}

function renderInstallTargetTable({ acceptance }: InstallSummary): readonly string[] {
  const rows = acceptance.map(({ target, installs, because }) => {
    const why = because.map((reason) => toTableCodeSpan(reason, 300)).join('; ')
    return `| ${target} | ${installVerdictLabels[installs]} | ${why} |`
  })
  return ['| Target | Installs | Reason |', '|---|---|---|', ...rows]
}

function renderInstallSteps(one: InstallSummary): string {
  const lines = one.steps.flatMap((step) => renderInstallStep(step))
  const along = one.comesAlong.map((each) => `- Dependency: ${escapeMarkdown(each)}`)
  const title = '<details><summary>Steps</summary>'
  return [title, '', formatInstallTitle(one), '', ...along, ...lines, '', '</details>'].join('\n')
}

function renderInstallStep({ title, outcome, facts, remarks }: InstallStep): readonly string[] {
  return [
    `- ${iconByInstallStepOutcome[outcome]} ${title}${outcome === 'left out' ? ' (skipped)' : ''}`,
    ...facts.map((fact) => `  - ${escapeMarkdown(fact)}`),
    ...remarks.map(
      ({ kind, says, targets }) =>
        `  - ${installNoteLabelByKind[kind]} ${targets.join(', ')}: ${escapeMarkdown(says)}`,
    ),
  ]
}

/** Check runs for a merge queue group. All have the same result, because the queue merges the whole group or nothing. */
export function renderMergeGroupChecks(verdict: MergeGroupVerdict): readonly ReportedCheck[] {
  const pulls = verdict.pulls.map((pull) => toCodeSpan(`#${pull}`)).join(', ')
  const reasons =
    'reasons' in verdict
      ? verdict.reasons.slice(0, maxDisplayedMergeGroupReasons).map((each) => `- ${escapeMarkdown(each)}`)
      : []
  const summary = [`Merged together: ${pulls}.`, ...reasons].join('\n')
  return checkIds.map((id): ReportedCheck => {
    switch (verdict.kind) {
      case 'good':
        // The install check runs only on pull requests.
        return id === 'install'
          ? createReportedCheck(id, 'neutral', 'Checked on each pull request', summary)
          : createReportedCheck(id, 'success', 'Passed together', summary)
      case 'bad':
        return createReportedCheck(id, 'failure', 'This group cannot be merged', summary)
      case 'waiting':
        return createReportedCheck(id, 'in_progress', waitingForOthersTitle, summary)
    }
  })
}
