// Derives from a verdict who does what next. Names people only when they can act now.
import type { PendingAction } from '../checks/check.ts'
import { collectUnblockers } from '../gate/decide.ts'
import type { VerdictReason, VerdictReasonCode, PullVerdict } from '../gate/verdict.ts'
import { groupSimilarFindings } from './describe-findings.ts'
import { toCodeSpan, escapeMarkdown } from './escape.ts'
import { capitalize, endWithPeriod } from './sentence.ts'

export interface NextStep {
  /** The comment's headline, if this is the first step. */
  readonly headline: string
  /** Markdown; `you` is the author. */
  readonly who: string
  readonly what: string
}

const maxMentions = 5

/** In order; at least one. */
export function decideNextSteps(verdict: PullVerdict): readonly NextStep[] {
  const steps = collectNextSteps(verdict)
  return steps.length > 0
    ? steps
    : [
        {
          headline: '⏳ Waiting',
          who: 'the bot',
          what: 'It looks again when something changes, and from time to time.',
        },
      ]
}

function collectNextSteps(verdict: PullVerdict): readonly NextStep[] {
  const { kind, baseRef } = verdict
  if (kind === 'merge')
    return [
      {
        headline: '✅ All checks passed; merging automatically',
        who: 'the bot',
        what: `It merges exactly what it checked. If ${toCodeSpan(baseRef)} changes first, it checks again.`,
      },
    ]
  const author = getAuthorSteps(verdict)
  const fixes = [...author, ...getErrorSteps(verdict)]
  // The author's fixes may change who must approve, so they come first.
  if (kind === 'blocked') return fixes.length > 0 ? fixes : getOtherSteps(verdict)
  const people = [...getReviewerSteps(verdict), ...getOtherSteps(verdict)]
  if (kind === 'unknown')
    return [...getUnansweredSteps(verdict, author.length + people.length > 0), ...author, ...people]
  return addMergeFollowsNote([...author, ...people], verdict)
}

/** Tells approvers that the merge follows, where only their approval is missing. */
function addMergeFollowsNote(
  steps: readonly NextStep[],
  { reasons, waiting }: PullVerdict,
): readonly NextStep[] {
  const [only, ...others] = steps
  const isAll =
    reasons.every(({ code: reason }) => reason === 'approval') &&
    waiting.every(({ how = 'approves' }) => how === 'approves' || how === 'confirms')
  if (only === undefined || others.length > 0 || !isAll) return steps
  return [{ ...only, what: `${only.what} Then it merges by itself.` }]
}

const authorStepByReason: Partial<
  Record<VerdictReasonCode, (reason: VerdictReason, verdict: PullVerdict) => Omit<NextStep, 'who'>>
> = {
  'too-large': ({ text }) => ({
    headline: '❌ Too large to check: split it',
    what: `${toPlainSentence(text)} Split it into smaller ones, or push a smaller one to this branch: that is checked within seconds. It is not tried again as it is.`,
  }),
  malformed: ({ text }) => ({
    headline: '❌ Make the commits again: git refuses them',
    what: `${toPlainSentence(text)} Make the commits again with an ordinary git, from a fresh clone, and push them. Until then nothing in them is read.`,
  }),
  conflict: ({ text }, { baseRef }) => ({
    headline: `❌ Resolve the conflict with ${toCodeSpan(baseRef)}`,
    what: `${toPlainSentence(text)} Merge ${toCodeSpan(baseRef)} into your branch, resolve the conflict there, and push.`,
  }),
  'nothing-to-merge': ({ text }) => ({
    headline: '❌ Nothing to merge',
    what: `${toPlainSentence(text)} Close it, or push what is missing.`,
  }),
  empty: ({ text }) => ({
    headline: '⏳ Nothing to merge',
    what: `${toPlainSentence(text)} Close it, or push what is missing.`,
  }),
  draft: () => ({
    headline: '⏳ A draft: mark it as ready for review',
    what: 'Mark it as ready for review. Until then nothing is merged.',
  }),
  'required-check-failed': ({ text }) => ({
    headline: '❌ A required check failed',
    what: toPlainSentence(text),
  }),
}

function getAuthorSteps(verdict: PullVerdict): readonly NextStep[] {
  return verdict.reasons.flatMap((reason) => {
    const step = authorStepByReason[reason.code]?.(reason, verdict)
    return step === undefined ? [] : [{ who: 'you', ...step }]
  })
}

function getErrorSteps({ outcomes, reasons, waiting }: PullVerdict): readonly NextStep[] {
  if (!reasons.some((reason) => reason.code === 'findings')) return []
  const errors = outcomes
    .filter(({ isOptional }) => isOptional !== true)
    .flatMap(({ findings }) => findings.filter(({ severity }) => severity === 'error'))
  if (errors.length > 0 && errors.every(({ rule }) => rule === 'config-unreadable'))
    return [
      {
        headline: '❌ Waiting for a maintainer to correct the configuration',
        who: 'a maintainer',
        what: 'Correct the configuration on the base branch. You do not have to do anything.',
      },
    ]
  const things = groupSimilarFindings(errors).length
  const isAll = reasons.every((reason) => reason.code === 'findings')
  const headline = `❌ ${things === 1 ? 'One thing' : `${spellOutCount(things)} things`} to fix`
  const rest = waiting.length > 0 ? 'Whose approval it takes is asked then.' : 'Nobody else has to act.'
  return [
    {
      headline: isAll ? `${headline}, then this merges by itself` : headline,
      who: 'you',
      what: `Push a fix; it is checked again within seconds. ${rest}`,
    },
  ]
}

function spellOutCount(count: number): string {
  return (
    ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'][count] ?? String(count)
  )
}

const requestByWaitKind: Readonly<
  Record<
    NonNullable<PendingAction['how']> | 'approves' | 'merges-approved',
    (open: readonly PendingAction[]) => string
  >
> = {
  approves: (open) => {
    const isRoleKnown = open.length === 1 && open.every(({ what }) => parseApproverRole(what, false) !== '')
    const request = `Approve it in a review, or comment ${toCodeSpan('/approve')}.`
    return isRoleKnown ? request : `${joinRequirements(open)} ${request}`
  },
  confirms: (open) => `${joinRequirements(open)} If it is meant, comment ${toCodeSpan('/approve')}.`,
  withdraws: () => 'Approve, or dismiss the review, once it is as it should be.',
  'merges-by-hand': (open) =>
    `${joinRequirements(open)} Approve it in a review, or comment ${toCodeSpan('/approve')}: that makes the required check green. Then merge it; the bot does not.`,
  'merges-approved': (open) => `${joinRequirements(open)} The check is green; the bot does not merge this.`,
}

const headlineByWaitKind: Readonly<Record<keyof typeof requestByWaitKind, (people: string) => string>> = {
  approves: (people) => `⏳ Waiting for ${people}`,
  confirms: (people) => `⏳ Waiting for ${people} to confirm the push`,
  withdraws: (people) => `⏳ Waiting for ${people}, who requested changes`,
  'merges-by-hand': () => '⏳ Waiting for a maintainer to approve this and merge it by hand',
  'merges-approved': () => '⏳ Approved: waiting for a maintainer to merge it by hand',
}

/** Mentions at most a handful of people, and only those who can act. */
function getReviewerSteps({ waiting }: PullVerdict): readonly NextStep[] {
  const waitKindOf = ({ how, isAgreed }: PendingAction): keyof typeof requestByWaitKind =>
    how === 'merges-by-hand' && isAgreed === true ? 'merges-approved' : (how ?? 'approves')
  const byWaitKind = Map.groupBy(waiting, waitKindOf)
  return (['confirms', 'withdraws', 'approves', 'merges-by-hand', 'merges-approved'] as const).flatMap(
    (waitKind) => {
      const open = byWaitKind.get(waitKind) ?? []
      if (open.length === 0) return []
      const people = collectUnblockers(open)
      const [only] = open
      const role =
        waitKind === 'approves' && open.length === 1 && only !== undefined
          ? parseApproverRole(only.what, people.length > 1)
          : ''
      const mentioned = people.length === 0 ? 'a maintainer' : formatSomePeople(people.map(mention))
      const named =
        people.length === 0
          ? 'a maintainer'
          : formatSomePeople(
              people.map((name) => `**${escapeMarkdown(name)}**`),
              2,
            )
      return [
        {
          headline: headlineByWaitKind[waitKind](role === '' ? named : `${named}, ${role}`),
          who: mentioned,
          what: requestByWaitKind[waitKind](open),
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

function joinRequirements(open: readonly PendingAction[]): string {
  return open.map(({ what }) => toPlainSentence(what)).join(' ')
}

function formatSomePeople(people: readonly string[], limit = maxMentions): string {
  const shown = people.slice(0, limit)
  const left = people.length - shown.length
  if (left > 0) return `${shown.join(', ')} or ${left} more`
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`
}

/** Steps of people whom the bot doesn't wait for by name. */
const otherStepByReason: Partial<Record<VerdictReasonCode, (reason: VerdictReason) => NextStep>> = {
  closed: ({ text }) => ({ headline: '⏳ Closed', who: 'nobody', what: toPlainSentence(text) }),
  label: ({ text }) => ({
    headline: '⏳ Held back by a label',
    who: 'whoever set the label',
    what: `${toPlainSentence(text)} Take it off when this may be merged.`,
  }),
  held: ({ text, who = [] }) => ({
    headline: `⏳ On hold${who.length > 0 ? ` by ${who.map((name) => `**${escapeMarkdown(name)}**`).join(', ')}` : ''}`,
    who: who.length > 0 ? who.map(mention).join(', ') : 'whoever put it on hold',
    what: `${toPlainSentence(text)} Comment ${toCodeSpan('/unhold')} when this may be merged.`,
  }),
  'removed-from-queue': ({ text }) => ({
    headline: '⏳ Removed from the merge queue',
    who: 'an owner or a maintainer',
    what: `${toPlainSentence(text)} To put it back, comment ${toCodeSpan('/merge')}. A new commit ends this, too.`,
  }),
  stacked: ({ text }) => ({
    headline: '⏳ Waiting for another pull request',
    who: 'nobody',
    what: toPlainSentence(text),
  }),
  stopped: ({ text }) => ({
    headline: '⏳ Merging is stopped',
    who: 'a maintainer',
    what: toPlainSentence(text),
  }),
  refused: ({ text }) => ({
    headline: '⏳ GitHub refused to merge it',
    who: 'a maintainer',
    what: toPlainSentence(text),
  }),
  'merge-disabled': ({ text }) => ({
    headline: '⏳ Ready: it is merged when somebody asks for it',
    who: 'an owner or a maintainer',
    what: `${toPlainSentence(text)} Comment ${toCodeSpan('/merge')}.`,
  }),
  'author-unknown': ({ text }) => ({
    headline: '⏳ Waiting for a maintainer',
    who: 'a maintainer',
    what: toPlainSentence(text),
  }),
  'required-check': ({ text }) => ({
    headline: '⏳ Waiting for another check',
    who: 'nobody',
    what: toPlainSentence(text),
  }),
  'snapshot-stale': ({ text }) => ({
    headline: '🔄 Checking again',
    who: 'the bot',
    what: toPlainSentence(text),
  }),
}

function getOtherSteps({ reasons }: PullVerdict): readonly NextStep[] {
  return reasons.flatMap((reason) => {
    const step = otherStepByReason[reason.code]?.(reason)
    return step === undefined ? [] : [step]
  })
}

/** The check runs list the other questions. */
const maxQuestions = 3

function getUnansweredSteps({ reasons }: PullVerdict, needsPeople: boolean): readonly NextStep[] {
  const open = reasons
    .filter((reason) => reason.code === 'unanswered')
    .map(({ text }) => toPlainSentence(text))
  const left = open.length - maxQuestions
  const shown = [...open.slice(0, maxQuestions), ...(left > 0 ? [`And ${left} more.`] : [])].join(' ')
  return [
    {
      headline: '🔄 Waiting for a registry or GitHub; retried automatically',
      who: 'the bot',
      what: `${shown} It asks again automatically. ${needsPeople ? '' : 'Nobody has to act.'}`.trim(),
    },
  ]
}

/** False where the bot merges or retries automatically. */
export function needsHumanAction(verdict: PullVerdict): boolean {
  return decideNextSteps(verdict).some(({ who }) => who !== 'the bot' && who !== 'nobody')
}

/** Owner files are untrusted, so only valid GitHub names are mentioned. */
export function mention(name: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/.test(name)
    ? `@${name}`
    : toCodeSpan(name)
}

const toPlainSentence = (text: string): string => endWithPeriod(escapeMarkdown(capitalize(text)))
