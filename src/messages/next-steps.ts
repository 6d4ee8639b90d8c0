// Derives from a verdict who does what next. Names people only when they can act now.
import type { Waiting } from '../checks/check.ts'
import { unblockers } from '../gate/decide.ts'
import type { Reason, ReasonCode, Verdict } from '../gate/verdict.ts'
import { groupAlike } from './describe-findings.ts'
import { code, plain } from './escape.ts'
import { capitalised, ended } from './sentence.ts'

export interface NextStep {
  /** The comment's headline, if this is the first step. */
  readonly headline: string
  /** Markdown; `you` is the author. */
  readonly who: string
  readonly what: string
}

const maxMentions = 5

/** In order; at least one. */
export function nextSteps(verdict: Verdict): readonly NextStep[] {
  const steps = stepsOf(verdict)
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

function stepsOf(verdict: Verdict): readonly NextStep[] {
  const { kind, baseRef } = verdict
  if (kind === 'merge')
    return [
      {
        headline: '✅ All checks passed; merging automatically',
        who: 'the bot',
        what: `It merges exactly what it checked. If ${code(baseRef)} changes first, it checks again.`,
      },
    ]
  const author = ofReasons(verdict)
  const mends = [...author, ...ofErrors(verdict)]
  // The author's fixes may change who must approve, so they come first.
  if (kind === 'blocked') return mends.length > 0 ? mends : ofOthers(verdict)
  const people = [...ofPeople(verdict), ...ofOthers(verdict)]
  if (kind === 'unknown')
    return [...ofWorld(verdict, author.length + people.length > 0), ...author, ...people]
  return thenMerged([...author, ...people], verdict)
}

/** Tells approvers that the merge follows, where only their approval is missing. */
function thenMerged(steps: readonly NextStep[], { reasons, waiting }: Verdict): readonly NextStep[] {
  const [only, ...others] = steps
  const isAll =
    reasons.every(({ code: reason }) => reason === 'approval') &&
    waiting.every(({ how = 'approves' }) => how === 'approves' || how === 'confirms')
  if (only === undefined || others.length > 0 || !isAll) return steps
  return [{ ...only, what: `${only.what} Then it merges by itself.` }]
}

const ofAuthor: Partial<Record<ReasonCode, (reason: Reason, verdict: Verdict) => Omit<NextStep, 'who'>>> = {
  'too-large': ({ text }) => ({
    headline: '❌ Too large to check: split it',
    what: `${sentence(text)} Split it into smaller ones, or push a smaller one to this branch: that is checked within seconds. It is not tried again as it is.`,
  }),
  malformed: ({ text }) => ({
    headline: '❌ Make the commits again: git refuses them',
    what: `${sentence(text)} Make the commits again with an ordinary git, from a fresh clone, and push them. Until then nothing in them is read.`,
  }),
  conflict: ({ text }, { baseRef }) => ({
    headline: `❌ Resolve the conflict with ${code(baseRef)}`,
    what: `${sentence(text)} Merge ${code(baseRef)} into your branch, resolve the conflict there, and push.`,
  }),
  'nothing-to-merge': ({ text }) => ({
    headline: '❌ Nothing to merge',
    what: `${sentence(text)} Close it, or push what is missing.`,
  }),
  empty: ({ text }) => ({
    headline: '⏳ Nothing to merge',
    what: `${sentence(text)} Close it, or push what is missing.`,
  }),
  draft: () => ({
    headline: '⏳ A draft: mark it as ready for review',
    what: 'Mark it as ready for review. Until then nothing is merged.',
  }),
  'required-check-failed': ({ text }) => ({ headline: '❌ A required check failed', what: sentence(text) }),
}

function ofReasons(verdict: Verdict): readonly NextStep[] {
  return verdict.reasons.flatMap((reason) => {
    const step = ofAuthor[reason.code]?.(reason, verdict)
    return step === undefined ? [] : [{ who: 'you', ...step }]
  })
}

function ofErrors({ outcomes, reasons, waiting }: Verdict): readonly NextStep[] {
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
  const things = groupAlike(errors).length
  const isAll = reasons.every((reason) => reason.code === 'findings')
  const headline = `❌ ${things === 1 ? 'One thing' : `${spelt(things)} things`} to fix`
  const rest = waiting.length > 0 ? 'Whose approval it takes is asked then.' : 'Nobody else has to act.'
  return [
    {
      headline: isAll ? `${headline}, then this merges by itself` : headline,
      who: 'you',
      what: `Push a fix; it is checked again within seconds. ${rest}`,
    },
  ]
}

function spelt(count: number): string {
  return (
    ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine'][count] ?? String(count)
  )
}

const ways: Readonly<
  Record<NonNullable<Waiting['how']> | 'approves' | 'merges-approved', (open: readonly Waiting[]) => string>
> = {
  approves: (open) => {
    const isSaid = open.length === 1 && open.every(({ what }) => roleIn(what, false) !== '')
    const ask = `Approve it in a review, or comment ${code('/approve')}.`
    return isSaid ? ask : `${listed(open)} ${ask}`
  },
  confirms: (open) => `${listed(open)} If it is meant, comment ${code('/approve')}.`,
  withdraws: () => 'Approve, or dismiss the review, once it is as it should be.',
  'merges-by-hand': (open) =>
    `${listed(open)} Approve it in a review, or comment ${code('/approve')}: that makes the required check green. Then merge it; the bot does not.`,
  'merges-approved': (open) => `${listed(open)} The check is green; the bot does not merge this.`,
}

const headlines: Readonly<Record<keyof typeof ways, (people: string) => string>> = {
  approves: (people) => `⏳ Waiting for ${people}`,
  confirms: (people) => `⏳ Waiting for ${people} to confirm the push`,
  withdraws: (people) => `⏳ Waiting for ${people}, who requested changes`,
  'merges-by-hand': () => '⏳ Waiting for a maintainer to approve this and merge it by hand',
  'merges-approved': () => '⏳ Approved: waiting for a maintainer to merge it by hand',
}

/** Mentions at most a handful of people, and only those who can act. */
function ofPeople({ waiting }: Verdict): readonly NextStep[] {
  const wayOf = ({ how, isAgreed }: Waiting): keyof typeof ways =>
    how === 'merges-by-hand' && isAgreed === true ? 'merges-approved' : (how ?? 'approves')
  const byWay = Map.groupBy(waiting, wayOf)
  return (['confirms', 'withdraws', 'approves', 'merges-by-hand', 'merges-approved'] as const).flatMap(
    (way) => {
      const open = byWay.get(way) ?? []
      if (open.length === 0) return []
      const people = unblockers(open)
      const [only] = open
      const role =
        way === 'approves' && open.length === 1 && only !== undefined
          ? roleIn(only.what, people.length > 1)
          : ''
      const who = people.length === 0 ? 'a maintainer' : someOf(people.map(mention))
      const named =
        people.length === 0
          ? 'a maintainer'
          : someOf(
              people.map((name) => `**${plain(name)}**`),
              2,
            )
      return [
        {
          headline: headlines[way](role === '' ? named : `${named}, ${role}`),
          who,
          what: ways[way](open),
        },
      ]
    },
  )
}

/** The role in `an owner of foo must approve`; '' for other forms. */
function roleIn(what: string, isPlural: boolean): string {
  const owner = /^an owner of (?<names>.+) must approve$/.exec(what)?.groups?.['names']
  if (owner !== undefined) return `${isPlural ? 'owners' : 'an owner'} of ${code(owner)}`
  if (!/^a maintainer must approve/.test(what)) return ''
  return isPlural ? 'maintainers' : 'a maintainer'
}

function listed(open: readonly Waiting[]): string {
  return open.map(({ what }) => sentence(what)).join(' ')
}

function someOf(people: readonly string[], most = maxMentions): string {
  const shown = people.slice(0, most)
  const left = people.length - shown.length
  if (left > 0) return `${shown.join(', ')} or ${left} more`
  const last = shown.pop() ?? ''
  return shown.length === 0 ? last : `${shown.join(', ')} or ${last}`
}

/** Steps of people whom the bot doesn't wait for by name. */
const ofOther: Partial<Record<ReasonCode, (reason: Reason) => NextStep>> = {
  closed: ({ text }) => ({ headline: '⏳ Closed', who: 'nobody', what: sentence(text) }),
  label: ({ text }) => ({
    headline: '⏳ Held back by a label',
    who: 'whoever set the label',
    what: `${sentence(text)} Take it off when this may be merged.`,
  }),
  held: ({ text, who = [] }) => ({
    headline: `⏳ On hold${who.length > 0 ? ` by ${who.map((name) => `**${plain(name)}**`).join(', ')}` : ''}`,
    who: who.length > 0 ? who.map(mention).join(', ') : 'whoever put it on hold',
    what: `${sentence(text)} Comment ${code('/unhold')} when this may be merged.`,
  }),
  'removed-from-queue': ({ text }) => ({
    headline: '⏳ Removed from the merge queue',
    who: 'an owner or a maintainer',
    what: `${sentence(text)} To put it back, comment ${code('/merge')}. A new commit ends this, too.`,
  }),
  stacked: ({ text }) => ({
    headline: '⏳ Waiting for another pull request',
    who: 'nobody',
    what: sentence(text),
  }),
  stopped: ({ text }) => ({ headline: '⏳ Merging is stopped', who: 'a maintainer', what: sentence(text) }),
  refused: ({ text }) => ({
    headline: '⏳ GitHub refused to merge it',
    who: 'a maintainer',
    what: sentence(text),
  }),
  'merge-disabled': ({ text }) => ({
    headline: '⏳ Ready: it is merged when somebody asks for it',
    who: 'an owner or a maintainer',
    what: `${sentence(text)} Comment ${code('/merge')}.`,
  }),
  'author-unknown': ({ text }) => ({
    headline: '⏳ Waiting for a maintainer',
    who: 'a maintainer',
    what: sentence(text),
  }),
  'required-check': ({ text }) => ({
    headline: '⏳ Waiting for another check',
    who: 'nobody',
    what: sentence(text),
  }),
  'snapshot-stale': ({ text }) => ({ headline: '🔄 Checking again', who: 'the bot', what: sentence(text) }),
}

function ofOthers({ reasons }: Verdict): readonly NextStep[] {
  return reasons.flatMap((reason) => {
    const step = ofOther[reason.code]?.(reason)
    return step === undefined ? [] : [step]
  })
}

/** The check runs list the other questions. */
const maxQuestions = 3

function ofWorld({ reasons }: Verdict, needsPeople: boolean): readonly NextStep[] {
  const open = reasons.filter((reason) => reason.code === 'unanswered').map(({ text }) => sentence(text))
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
export function needsPeople(verdict: Verdict): boolean {
  return nextSteps(verdict).some(({ who }) => who !== 'the bot' && who !== 'nobody')
}

/** Owner files are untrusted, so only valid GitHub names are mentioned. */
export function mention(name: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9-]{0,38}(?:\/[A-Za-z0-9][A-Za-z0-9._-]{0,99})?$/.test(name)
    ? `@${name}`
    : code(name)
}

const sentence = (text: string): string => ended(plain(capitalised(text)))
