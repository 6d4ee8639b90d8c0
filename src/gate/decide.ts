// Turns findings and a snapshot into a verdict. The only code that creates a merge permit, and only when nothing speaks
// against the merge: empty, unknown or missing input never counts as a yes.
import type { CheckOutcome, Waiting } from '../checks/check.ts'
import type { CommitSha, TreeSha } from '../change/ids.ts'
import type { Config } from '../config/config.ts'
import type { Snapshot } from '../change/snapshot.ts'
import { leftOutBy } from '../findings/finding-list.ts'
import { demandedChecks } from './demanded-checks.ts'
import { sayStop, type LandingStop } from './landing-stop.ts'
import { mint } from './merge-permit.ts'
import { reasonsOfRequired, requiredSeconds, type RequiredAnswer } from './required-checks.ts'
import type { Reason, ReasonCode, Verdict, VerdictKind } from './verdict.ts'

export type MergeOutcome =
  | { readonly kind: 'clean'; readonly commit: CommitSha; readonly tree: TreeSha }
  | { readonly kind: 'conflict'; readonly paths: readonly string[] }
  | { readonly kind: 'nothing' }

export interface GateInput {
  readonly snapshot: Snapshot
  readonly config: Config
  readonly configDigest: string
  readonly merge: MergeOutcome
  readonly changedPaths: number
  readonly outcomes: readonly CheckOutcome[]
  /** Results of other Apps' required checks. An absent one does not pass. */
  readonly required?: readonly RequiredAnswer[] | undefined
  readonly stopped?: readonly LandingStop[] | undefined
  /** GitHub's words when it refused to merge this pull request. */
  readonly refused?: string | undefined
  readonly heldBy?: { readonly login: string; readonly isBack: boolean } | undefined
  /** Who removed this head from GitHub's merge queue, unless someone asked for the merge again since. */
  readonly removedBy?: string | undefined
  /** Who asked to merge this exact state with /merge, for repositories without automatic merging. */
  readonly requestedBy?: string | undefined
}

/** The strongest reason decides the verdict. */
const weight: Readonly<Record<VerdictKind, number>> = { blocked: 3, unknown: 2, wait: 1, merge: 0 }

interface Weighed extends Reason {
  readonly kind: VerdictKind
}

/** Decides on one pull request. Pure: the same input gives the same verdict. */
export function decide(input: GateInput): Verdict {
  const { snapshot, merge, outcomes } = input
  const required = [...reasonsOfRequired(input.config.merge.requires, snapshot.head, input.required)]
  const reasons = [...reasonsOfState(input), ...reasonsOfMerge(input), ...reasonsOfChecks(input), ...required]
  const kind = reasons.reduce<VerdictKind>(
    (worst, reason) => (weight[reason.kind] > weight[worst] ? reason.kind : worst),
    'merge',
  )
  const verdict: Verdict = {
    kind,
    reasons:
      reasons.length > 0
        ? reasons
            .toSorted((a, b) => weight[b.kind] - weight[a.kind])
            .map(({ code, text, who }) => ({ code, text, ...(who && { who }) }))
        : [{ code: 'all-checks-passed', text: 'all checks passed' }],
    head: snapshot.head,
    base: snapshot.base,
    baseRef: snapshot.baseRef,
    config: input.configDigest,
    outcomes,
    waiting: outcomes.flatMap((outcome) => outcome.waiting),
    ...(merge.kind === 'clean' && { result: { commit: merge.commit, tree: merge.tree } }),
  }
  if (kind === 'unknown') return { ...verdict, retryAfter: soonest(outcomes) }
  const others = outcomes.some(({ unanswered }) => unanswered.length > 0) ? [soonest(outcomes)] : []
  if (required.length > 0) return { ...verdict, retryAfter: Math.min(requiredSeconds, ...others) }
  // Ask an optional check's open questions again as long as the pull request waits for something else.
  if (kind !== 'merge' || merge.kind !== 'clean')
    return kind === 'wait' && others[0] !== undefined ? { ...verdict, retryAfter: others[0] } : verdict
  return {
    ...verdict,
    permit: mint({
      repository: snapshot.repository,
      pull: snapshot.pull,
      baseRef: snapshot.baseRef,
      base: snapshot.base,
      head: snapshot.head,
      commit: merge.commit,
      tree: merge.tree,
      config: input.configDigest,
    }),
  }
}

/**
 * The verdict on a pull request that we cannot check because it is too large or git rejects it. Final: retrying does
 * not help. Never a permit.
 */
export function refuseUnjudged(
  { snapshot, configDigest }: Pick<GateInput, 'snapshot' | 'configDigest'>,
  reason: Reason,
): Verdict {
  return {
    kind: 'blocked',
    reasons: [reason],
    head: snapshot.head,
    base: snapshot.base,
    baseRef: snapshot.baseRef,
    config: configDigest,
    outcomes: [],
    waiting: [],
  }
}

export function tooLargeReason(why: string): Reason {
  return { code: 'too-large', text: `this pull request is too large to check: ${why}` }
}

/** `why`: an object and git's name for the defect. */
export function malformedReason(why: string): Reason {
  return { code: 'malformed', text: `git refuses the commits of this pull request: ${why}` }
}

function* reasonsOfState({
  snapshot,
  config,
  stopped = [],
  refused,
  heldBy,
  removedBy,
  requestedBy,
}: GateInput): Generator<Weighed> {
  if (snapshot.state !== 'open') yield reason('wait', 'closed', `the pull request is ${snapshot.state}`)
  if (snapshot.author === null)
    yield reason('wait', 'author-unknown', 'the account that opened the pull request no longer exists')
  if (snapshot.draft) yield reason('wait', 'draft', 'the pull request is a draft')
  if (snapshot.stacked)
    yield reason(
      'wait',
      'stacked',
      'the pull request depends on another pull request, which must be merged first',
    )
  const blocking = new Set(config.merge.blockingLabels.map((label) => label.toLowerCase()))
  for (const label of snapshot.labels)
    if (blocking.has(label.toLowerCase()))
      yield reason('wait', 'label', `the label "${label}" blocks merging`)
  if (heldBy !== undefined) {
    const { login, isBack } = heldBy
    const back = isBack ? ': that was lifted for something else than it is now' : ''
    yield reason('wait', 'held', `${login} put it on hold with /hold${back}`, [login])
  }
  if (removedBy !== undefined)
    yield reason('wait', 'removed-from-queue', `it was removed from the merge queue by ${removedBy}`, [
      removedBy,
    ])
  for (const stop of stopped) yield reason('wait', 'stopped', sayStop(stop))
  if (refused !== undefined)
    yield reason(
      'wait',
      'refused',
      `GitHub refused to merge it: ${refused.replace(/[.\s]+$/, '')}. The bot tries again when the pull request changes, and from time to time`,
    )
  if (!config.merge.enabled && requestedBy === undefined)
    yield reason('wait', 'merge-disabled', 'automatic merging is switched off in this repository')
}

function* reasonsOfMerge({ merge, changedPaths }: GateInput): Generator<Weighed> {
  if (merge.kind === 'conflict') {
    const shown = merge.paths.slice(0, 3).join(', ')
    const more = merge.paths.length > 3 ? ` and ${merge.paths.length - 3} more` : ''
    yield reason(
      'blocked',
      'conflict',
      `the pull request conflicts with the base branch${shown ? ` in ${shown}${more}` : ''}`,
    )
  }
  if (merge.kind === 'nothing')
    yield reason(
      'blocked',
      'nothing-to-merge',
      'the base branch already contains all commits of the pull request',
    )
  if (merge.kind === 'clean' && changedPaths === 0)
    yield reason('wait', 'empty', 'the pull request changes no file of the base branch')
}

/** Every required check must have finished; an absent check does not pass. */
function* reasonsOfChecks({ outcomes, config, requestedBy }: GateInput): Generator<Weighed> {
  const demanded = demandedChecks(config)
  for (const id of demanded) {
    if (!outcomes.some((outcome) => outcome.check === id))
      yield reason('unknown', 'unanswered', `the check ${id} has not finished`)
  }
  for (const outcome of outcomes.filter(({ check }) => demanded.includes(check))) {
    const errors = outcome.findings
      .filter((finding) => finding.severity === 'error')
      .reduce((sum, finding) => sum + (leftOutBy(finding) || 1), 0)
    if (errors > 0)
      yield reason('blocked', 'findings', `${outcome.check}: ${errors} ${errors === 1 ? 'error' : 'errors'}`)
    for (const { question, reason: why } of outcome.unanswered)
      yield reason('unknown', 'unanswered', `${outcome.check}: ${question}: ${why}`)
    for (const { what, who } of outcome.waiting) yield reason('wait', 'approval', what, who)
    if (requestedBy === undefined)
      for (const why of outcome.byHand ?? []) yield reason('wait', 'merge-disabled', why)
  }
}

function reason(kind: VerdictKind, code: ReasonCode, text: string, who?: readonly string[]): Weighed {
  return { kind, code, text, ...(who && who.length > 0 && { who }) }
}

/** Seconds until the first open question may be asked again; 60 by default. */
function soonest(outcomes: readonly CheckOutcome[]): number {
  const waits = outcomes.flatMap((outcome) =>
    outcome.unanswered.map((open: { retryAfter: number }) => open.retryAfter),
  )
  // Not `Math.min(...waits)`: there can be more than a call takes arguments.
  const first = waits.reduce((least, wait) => Math.min(least, wait), Infinity)
  return first === Infinity ? 60 : Math.max(1, first)
}

/** Who can unblock a verdict, without duplicates, in order of first mention. */
export function unblockers(waiting: readonly Waiting[]): readonly string[] {
  return [...new Set(waiting.flatMap((open) => open.who))]
}
