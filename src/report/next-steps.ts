// Derives the next steps from a verdict. Mentions people only if they can act now.
import type { CheckOutcome, MergeUnblockingAction } from '../checks/check.ts'
import { imageMissingRule } from '../checks/images/rules.ts'
import { collectUnblockingUsers } from '../policy/decide.ts'
import { configPath } from '../config/config-path.ts'
import type { VerdictReason, VerdictReasonCode, PullVerdict } from '../policy/verdict.ts'
import { groupSimilarFindings } from './describe-findings.ts'
import {
  toCodeSpan,
  escapeMarkdown,
  escapeSentenceWithCodeSpans,
  capitalizeFirstLetter,
  addPeriodIfMissing,
} from './escape.ts'

export interface NextStep {
  /** The comment's headline, if this is the first step. */
  readonly headline: string
  /** Markdown; `you` is the author. */
  readonly who: string
  readonly what: string
}

const maxMentionedPeople = 5
/** `who` of the steps that no user needs to take. */
const botName = 'catalog-bot'
const noActionNeededLabel = 'no action needed'

/** In order; at least one. `isReportOnly`: the steps of a run that neither merges nor retries. */
export function decideNextSteps(verdict: PullVerdict, isReportOnly = false): readonly NextStep[] {
  const steps = collectNextSteps(verdict, isReportOnly)
  return steps.length > 0
    ? steps
    : [
        {
          headline: '⏳ Waiting',
          who: botName,
          what: 'The checks run again periodically and whenever the pull request changes.',
        },
      ]
}

function collectNextSteps(verdict: PullVerdict, isReportOnly: boolean): readonly NextStep[] {
  const { kind, baseRef } = verdict
  if (kind === 'merge' && isReportOnly)
    return [{ headline: '✅ All checks passed', who: 'a maintainer', what: 'Merge the pull request.' }]
  if (kind === 'merge')
    return [
      {
        headline: '✅ All checks passed; merging automatically',
        who: botName,
        what: `The merge contains exactly what was checked. If ${toCodeSpan(baseRef)} changes first, the checks run again.`,
      },
    ]
  const author = getAuthorSteps(verdict)
  const fixes = [...author, ...getErrorFixSteps(verdict, isReportOnly)]
  // The author's fixes come first because they can change who must approve.
  if (kind === 'blocked') return fixes.length > 0 ? fixes : getStepsWithoutAssignee(verdict)
  const people = [...getReviewerSteps(verdict), ...getStepsWithoutAssignee(verdict)]
  if (kind === 'unknown')
    return [
      getPendingLookupStep(verdict, author.length + people.length > 0, isReportOnly),
      ...author,
      ...people,
    ]
  return isReportOnly ? [...author, ...people] : addAutomaticMergeNote([...author, ...people], verdict)
}

/** Adds that the merge follows, if only an approval is missing. */
function addAutomaticMergeNote(steps: readonly NextStep[], { reasons, waiting }: PullVerdict) {
  const [only, ...others] = steps
  const isAll =
    reasons.every(({ code: reason }) => reason === 'approval') &&
    waiting.every(({ how = 'approves' }) => how === 'approves' || how === 'confirms')
  if (only === undefined || others.length > 0 || !isAll) return steps
  return [{ ...only, what: `${only.what} Then catalog-bot merges it.` }]
}

const authorStepByReasonCode: Partial<
  Record<VerdictReasonCode, (reason: VerdictReason, verdict: PullVerdict) => Omit<NextStep, 'who'>>
> = {
  'too-large': ({ text }) => ({
    headline: '❌ Too large to check: split this pull request',
    what: `${formatEscapedSentence(text)} Split it into several pull requests, or push a smaller change to this branch. catalog-bot checks the branch again only after you push.`,
  }),
  malformed: ({ text }) => ({
    headline: '❌ Re-create the commits: Git rejects them',
    what: `${formatEscapedSentence(text)} Re-create the commits in a fresh clone with a standard Git client, and force-push. Until then, catalog-bot does not check this pull request.`,
  }),
  conflict: ({ text }, { baseRef }) => ({
    headline: `❌ Resolve the conflict with ${toCodeSpan(baseRef)}`,
    what: `${formatEscapedSentence(text)} Merge ${toCodeSpan(baseRef)} into your branch, resolve the conflict, and push.`,
  }),
  'nothing-to-merge': ({ text }) => ({
    headline: '❌ Nothing to merge',
    what: `${formatEscapedSentence(text)} Push your commits, or close the pull request.`,
  }),
  empty: ({ text }) => ({
    headline: '⏳ Nothing to merge',
    what: `${formatEscapedSentence(text)} Push your changes, or close the pull request.`,
  }),
  draft: () => ({
    headline: '⏳ Draft: mark it as ready for review',
    what: 'catalog-bot does not merge drafts. Mark this pull request as ready for review when it is complete.',
  }),
  'required-check-failed': ({ text }) => ({
    headline: '❌ A required check failed',
    what: `${formatEscapedSentence(text)} Push a fix, or rerun the check.`,
  }),
}

function getAuthorSteps(verdict: PullVerdict): readonly NextStep[] {
  return verdict.reasons.flatMap((reason) => {
    const step = authorStepByReasonCode[reason.code]?.(reason, verdict)
    return step === undefined ? [] : [{ who: 'you', ...step }]
  })
}

export function collectRequiredCheckErrors({ outcomes }: PullVerdict): CheckOutcome['findings'] {
  return outcomes
    .filter(({ isOptional }) => isOptional !== true)
    .flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'error'))
}

function getErrorFixSteps(verdict: PullVerdict, isReportOnly: boolean): readonly NextStep[] {
  const { reasons, waiting, baseRef } = verdict
  if (!reasons.some((reason) => reason.code === 'findings')) return []
  const errors = collectRequiredCheckErrors(verdict)
  if (errors.length > 0 && errors.every(({ rule }) => rule === 'config-unreadable'))
    return [
      {
        headline: '❌ Waiting for a maintainer to fix the configuration',
        who: 'a maintainer',
        what: `Fix ${toCodeSpan(configPath)} on ${toCodeSpan(baseRef)}. No action is needed from the author.`,
      },
    ]
  const ownErrors = errors.filter(({ isOnBase }) => isOnBase !== true)
  const baseStep = {
    headline: `❌ Blocked: ${toCodeSpan(baseRef)} is already broken`,
    who: 'a maintainer',
    what: `Fix the errors on ${toCodeSpan(baseRef)}, or revert the commit that introduced them. catalog-bot then checks this pull request again. No action is needed from the author.`,
  }
  if (errors.length > 0 && ownErrors.length === 0) return [baseStep]
  const groups = groupSimilarFindings(ownErrors).length
  const isAll = ownErrors.length === errors.length && reasons.every((reason) => reason.code === 'findings')
  const noun = groups === ownErrors.length ? 'error' : 'problem'
  const headline = `❌ ${groups === 1 ? `One ${noun}` : `${spellOutCount(groups)} ${noun}s`} to fix`
  // A pushed image is no new commit, so only a command starts the checks again.
  const retry = errors.some(({ rule }) => rule === imageMissingRule.id)
    ? `If you push only the image, comment ${toCodeSpan('/recheck')} to start the checks again.`
    : 'After each push, catalog-bot checks the pull request again within seconds.'
  return [
    {
      headline: isAll && !isReportOnly ? `${headline}; catalog-bot then merges this` : headline,
      who: 'you',
      what: ['Push a fix.', retry, ...describeApprovalNeededAfterFix(reasons, waiting)].join(' '),
    },
    ...(ownErrors.length < errors.length ? [baseStep] : []),
  ]
}

function describeApprovalNeededAfterFix(reasons: PullVerdict['reasons'], waiting: PullVerdict['waiting']) {
  if (waiting.length > 0) return ['catalog-bot asks for approvals after the errors are fixed.']
  return reasons.some(({ code }) => code === 'unanswered') ? [] : ['No approval is needed.']
}

function spellOutCount(count: number): string {
  return (
    ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'][count] ?? String(count)
  )
}

const actionFormatterByUnblockingKind: Readonly<
  Record<
    NonNullable<MergeUnblockingAction['how']> | 'approves' | 'merges-approved',
    (open: readonly MergeUnblockingAction[]) => string
  >
> = {
  approves: (open) => {
    const isRoleKnown = open.length === 1 && open.every(({ what }) => parseApproverRole(what, false) !== '')
    const request = `Approve this pull request in a review, or comment ${toCodeSpan('/approve')}.`
    return isRoleKnown ? request : `${formatMergeUnblockingActions(open)} ${request}`
  },
  confirms: (open) =>
    `${formatMergeUnblockingActions(open)} If you expected this push, comment ${toCodeSpan('/approve')}.`,
  withdraws: () =>
    'Once your comments have been addressed, approve this pull request or dismiss your review.',
  'merges-by-hand': (open) =>
    `${formatMergeUnblockingActions(open)} To pass the required check, approve this pull request in a review, or comment ${toCodeSpan('/approve')}. Then merge it manually.`,
  'merges-approved': (open) => `${formatMergeUnblockingActions(open)} The required check has passed.`,
}

const headlineFormatterByUnblockingKind: Readonly<
  Record<keyof typeof actionFormatterByUnblockingKind, (people: string) => string>
> = {
  approves: (people) => `⏳ Waiting for ${people}`,
  confirms: (people) => `⏳ Waiting for ${people} to confirm the push`,
  withdraws: (people) => `⏳ Waiting for ${people}, who requested changes`,
  'merges-by-hand': () => '⏳ Waiting for a maintainer to approve and merge this manually',
  'merges-approved': () => '⏳ Approved: waiting for a maintainer to merge this manually',
}

/** Mentions at most a few users, and only those who can act. */
function getReviewerSteps({ waiting }: PullVerdict): readonly NextStep[] {
  const waitKindOf = ({
    how,
    isAgreed,
  }: MergeUnblockingAction): keyof typeof actionFormatterByUnblockingKind =>
    how === 'merges-by-hand' && isAgreed === true ? 'merges-approved' : (how ?? 'approves')
  const byWaitKind = Map.groupBy(waiting, waitKindOf)
  return (['confirms', 'withdraws', 'approves', 'merges-by-hand', 'merges-approved'] as const).flatMap(
    (waitKind) => {
      const open = byWaitKind.get(waitKind) ?? []
      if (open.length === 0) return []
      const people = collectUnblockingUsers(open)
      const [only] = open
      const role =
        waitKind === 'approves' && open.length === 1 && only !== undefined
          ? parseApproverRole(only.what, people.length > 1)
          : ''
      const mentioned = people.length === 0 ? 'a maintainer' : formatPeopleList(people.map(formatMention))
      const named =
        people.length === 0
          ? 'a maintainer'
          : formatPeopleList(
              people.map((name) => `**${escapeMarkdown(name)}**`),
              2,
            )
      return [
        {
          headline: headlineFormatterByUnblockingKind[waitKind](role === '' ? named : `${named}, ${role}`),
          who: mentioned,
          what: actionFormatterByUnblockingKind[waitKind](open),
        },
      ]
    },
  )
}

/** The role in `an owner of foo must approve`; '' for other forms. */
function parseApproverRole(requirement: string, isPlural: boolean): string {
  const owner = /^an owner of (?<names>.+) must approve$/.exec(requirement)?.groups?.['names']
  if (owner !== undefined) return `${isPlural ? 'owners' : 'an owner'} of ${toCodeSpan(owner)}`
  if (!/^a maintainer must approve/.test(requirement)) return ''
  return isPlural ? 'maintainers' : 'a maintainer'
}

function formatMergeUnblockingActions(open: readonly MergeUnblockingAction[]): string {
  return open.map(({ what }) => formatEscapedSentence(what)).join(' ')
}

function formatPeopleList(people: readonly string[], limit = maxMentionedPeople): string {
  const shown = people.slice(0, limit)
  const left = people.length - shown.length
  if (left > 0) return `${shown.join(', ')} or ${left} more`
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`
}

interface StepWithoutAssignee extends Omit<NextStep, 'what'> {
  /** Follows the reason. */
  readonly hint?: string
}

/** Steps that do not wait for specific users. */
const stepWithoutAssigneeByReasonCode: Partial<Record<VerdictReasonCode, StepWithoutAssignee>> = {
  closed: { headline: '⏳ Closed', who: noActionNeededLabel },
  label: {
    headline: '⏳ Blocked by a label',
    who: 'the person who added the label',
    hint: 'Remove the label to allow merging.',
  },
  held: {
    headline: '⏳ On hold',
    who: 'the person who put it on hold',
    hint: `Comment ${toCodeSpan('/unhold')} to allow merging.`,
  },
  'removed-from-queue': {
    headline: '⏳ Removed from the merge queue',
    who: 'an owner or a maintainer',
    hint: `To add it to the queue again, comment ${toCodeSpan('/merge')} or push a new commit.`,
  },
  stacked: { headline: '⏳ Waiting for another pull request', who: noActionNeededLabel },
  stopped: { headline: '⏳ Merging is frozen', who: 'a maintainer' },
  refused: { headline: '⏳ GitHub rejected the merge', who: 'a maintainer' },
  'merge-disabled': {
    headline: `⏳ Ready to merge: waiting for ${toCodeSpan('/merge')}`,
    who: 'an owner or a maintainer',
    hint: `To merge this pull request, comment ${toCodeSpan('/merge')}.`,
  },
  'author-unknown': {
    headline: '⏳ Waiting for a maintainer',
    who: 'a maintainer',
    hint: 'catalog-bot does not merge pull requests from deleted accounts.',
  },
  'required-check': { headline: '⏳ Waiting for another check', who: noActionNeededLabel },
  'snapshot-stale': { headline: '🔄 Checking again', who: botName },
}

function getStepsWithoutAssignee({ reasons }: PullVerdict): readonly NextStep[] {
  return reasons.flatMap(({ code, text, who: holders = [] }) => {
    const step = stepWithoutAssigneeByReasonCode[code]
    if (step === undefined) return []
    const { headline, who, hint } = step
    const what = [formatEscapedSentence(text), ...(hint === undefined ? [] : [hint])].join(' ')
    if (code !== 'held' || holders.length === 0) return [{ headline, who, what }]
    const named = holders.map((name) => `**${escapeMarkdown(name)}**`).join(', ')
    return [{ headline: `${headline} by ${named}`, who: holders.map(formatMention).join(', '), what }]
  })
}

/** The check runs list the other questions. */
const maxDisplayedPendingLookups = 3

function getPendingLookupStep(
  { reasons }: PullVerdict,
  needsPeople: boolean,
  isReportOnly: boolean,
): NextStep {
  const open = reasons
    .filter((reason) => reason.code === 'unanswered')
    .map(({ text }) => formatEscapedSentence(text))
  const left = open.length - maxDisplayedPendingLookups
  const shown = [
    ...open.slice(0, maxDisplayedPendingLookups),
    ...(left > 0 ? [`And ${left} more.`] : []),
  ].join(' ')
  const retry = `catalog-bot retries automatically. ${needsPeople ? '' : 'No action is needed.'}`.trim()
  return {
    headline: '🔄 Waiting for a registry or GitHub',
    who: isReportOnly ? 'you' : botName,
    what: `${shown} ${isReportOnly ? 'Run the checks again later.' : retry}`,
  }
}

/** False if catalog-bot merges or retries automatically. */
export function needsHumanAction(verdict: PullVerdict): boolean {
  return decideNextSteps(verdict).some(({ who }) => who !== botName && who !== noActionNeededLabel)
}

/** Owner files are untrusted, so only valid GitHub names are mentioned. */
export function formatMention(name: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/.test(name)
    ? `@${name}`
    : toCodeSpan(name)
}

const formatEscapedSentence = (text: string): string =>
  addPeriodIfMissing(escapeSentenceWithCodeSpans(capitalizeFirstLetter(text)))
