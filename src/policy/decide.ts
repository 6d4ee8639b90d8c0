// Turns findings and a snapshot into a verdict. Only this file creates merge permits, and only if no reason speaks against
// the merge. Empty, unknown or missing input never counts as approval.
import type { CheckOutcome, UnblockingAction } from '../checks/check.ts'
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import type { Config } from '../config/config.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { getOmittedCount } from '@catalog-bot/findings/finding-list'
import { getRequiredOwnChecks } from './required-own-checks.ts'
import { formatFreeze, type MergeFreeze } from './merge-freeze.ts'
import { mintMergePermit } from './merge-permit.ts'
import {
  findRequiredCheckReasons,
  requiredCheckRetrySeconds,
  type RequiredCheckAnswer,
} from './required-checks.ts'
import type { VerdictReason, VerdictReasonCode, PullVerdict, VerdictKind } from './verdict.ts'

export type TestMergeResult =
  | { readonly kind: 'clean'; readonly commit: CommitSha; readonly tree: TreeSha }
  | { readonly kind: 'conflict'; readonly paths: readonly string[] }
  | { readonly kind: 'nothing' }

export interface GateInput {
  readonly snapshot: PullSnapshot
  readonly config: Config
  readonly configDigest: string
  readonly merge: TestMergeResult
  readonly changedPaths: number
  readonly outcomes: readonly CheckOutcome[]
  /** Results of the required checks of other Apps. An absent result does not pass. */
  readonly required?: readonly RequiredCheckAnswer[] | undefined
  readonly stopped?: readonly MergeFreeze[] | undefined
  /** GitHub's message when it rejected the merge. */
  readonly refused?: string | undefined
  readonly heldBy?: { readonly login: string; readonly isBack: boolean } | undefined
  /** Who removed this head from GitHub's merge queue, unless a later command requested the merge again. */
  readonly removedBy?: string | undefined
  /** Who requested the merge of this exact state with /merge, for repositories without automatic merging. */
  readonly requestedBy?: string | undefined
}

/** The strongest reason decides the verdict. */
const severityByVerdict: Readonly<Record<VerdictKind, number>> = { blocked: 3, unknown: 2, wait: 1, merge: 0 }

interface ReasonWithVerdictKind extends VerdictReason {
  readonly kind: VerdictKind
}

/** Decides on one pull request. Pure: the same input gives the same verdict. */
export function decideVerdict(input: GateInput): PullVerdict {
  const { snapshot, merge, outcomes } = input
  // Nothing else matters, and no check will run, if the base already contains the head.
  const isNothing = merge.kind === 'nothing'
  const required = isNothing
    ? []
    : [...findRequiredCheckReasons(input.config.merge.requires, snapshot.head, input.required)]
  const reasons = isNothing
    ? [...findMergeReasons(input)]
    : [...findPullStateReasons(input), ...findMergeReasons(input), ...findCheckReasons(input), ...required]
  const kind = reasons.reduce<VerdictKind>(
    (worst, reason) => (severityByVerdict[reason.kind] > severityByVerdict[worst] ? reason.kind : worst),
    'merge',
  )
  const verdict: PullVerdict = {
    kind,
    reasons:
      reasons.length > 0
        ? reasons
            .toSorted((a, b) => severityByVerdict[b.kind] - severityByVerdict[a.kind])
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
  if (kind === 'unknown') return { ...verdict, retryAfter: getMinRetrySeconds(outcomes) }
  const others = outcomes.some(({ unanswered }) => unanswered.length > 0)
    ? [getMinRetrySeconds(outcomes)]
    : []
  if (required.length > 0) return { ...verdict, retryAfter: Math.min(requiredCheckRetrySeconds, ...others) }
  // Retry an optional check's open questions while the pull request waits for something else.
  if (kind !== 'merge' || merge.kind !== 'clean')
    return kind === 'wait' && others[0] !== undefined ? { ...verdict, retryAfter: others[0] } : verdict
  return {
    ...verdict,
    permit: mintMergePermit({
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
 * The verdict on a pull request that cannot be checked because it is too large or Git rejects it. Retrying does not help.
 * Never has a permit.
 */
export function createUncheckedVerdict(
  { snapshot, configDigest }: Pick<GateInput, 'snapshot' | 'configDigest'>,
  reason: VerdictReason,
): PullVerdict {
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

export function createTooLargeReason(why: string): VerdictReason {
  return { code: 'too-large', text: `this pull request is too large to check: ${why}` }
}

/** `why`: an object and Git's name for the defect. */
export function createMalformedReason(why: string): VerdictReason {
  return { code: 'malformed', text: `Git rejects the commits of this pull request: ${why}` }
}

function* findPullStateReasons({
  snapshot,
  config,
  stopped = [],
  refused,
  heldBy,
  removedBy,
  requestedBy,
}: GateInput): Generator<ReasonWithVerdictKind> {
  if (snapshot.state !== 'open') yield createReason('wait', 'closed', `the pull request is ${snapshot.state}`)
  if (snapshot.author === null)
    yield createReason('wait', 'author-unknown', 'the account that opened the pull request no longer exists')
  if (snapshot.draft) yield createReason('wait', 'draft', 'the pull request is a draft')
  if (snapshot.stacked)
    yield createReason(
      'wait',
      'stacked',
      'this pull request depends on another pull request, which must be merged first',
    )
  const blocking = new Set(config.merge.blockingLabels.map((label) => label.toLowerCase()))
  for (const label of snapshot.labels)
    if (blocking.has(label.toLowerCase()))
      yield createReason('wait', 'label', `the label "${label}" blocks merging`)
  if (heldBy !== undefined) {
    const { login, isBack } = heldBy
    const text = isBack
      ? `the hold by ${login} is active again because this pull request has changed since the hold was removed`
      : `this pull request was put on hold by ${login} with /hold`
    yield createReason('wait', 'held', text, [login])
  }
  if (removedBy !== undefined)
    yield createReason(
      'wait',
      'removed-from-queue',
      `this pull request was removed from the merge queue by ${removedBy}`,
      [removedBy],
    )
  for (const stop of stopped) yield createReason('wait', 'stopped', formatFreeze(stop))
  if (refused !== undefined)
    yield createReason(
      'wait',
      'refused',
      `GitHub rejected the merge: ${refused.replace(/[.\s]+$/, '')}. catalog-bot retries when the pull request changes, and periodically`,
    )
  if (!config.merge.enabled && requestedBy === undefined)
    yield createReason('wait', 'merge-disabled', 'automatic merging is disabled in this repository')
}

function* findMergeReasons({ merge, changedPaths, snapshot }: GateInput): Generator<ReasonWithVerdictKind> {
  if (merge.kind === 'conflict') {
    const shown = merge.paths.slice(0, 3).join(', ')
    const more = merge.paths.length > 3 ? ` and ${merge.paths.length - 3} more` : ''
    yield createReason(
      'blocked',
      'conflict',
      `the pull request conflicts with the base branch${shown ? ` in ${shown}${more}` : ''}`,
    )
  }
  if (merge.kind === 'nothing')
    yield createReason(
      'blocked',
      'nothing-to-merge',
      `the pull request has no commits that ${snapshot.baseRef} lacks`,
    )
  if (merge.kind === 'clean' && changedPaths === 0)
    yield createReason('wait', 'empty', 'the pull request does not change any files')
}

/** Every required check must have finished. An absent check does not pass. */
function* findCheckReasons({
  outcomes,
  config,
  requestedBy,
  merge,
}: GateInput): Generator<ReasonWithVerdictKind> {
  const requiredChecks = getRequiredOwnChecks(config)
  for (const id of requiredChecks) {
    // A conflict already blocks the merge, and no check runs until it is resolved.
    if (merge.kind !== 'conflict' && !outcomes.some((outcome) => outcome.check === id))
      yield createReason('unknown', 'unanswered', `the check ${id} has not finished`)
  }
  for (const outcome of outcomes.filter(({ check }) => requiredChecks.includes(check))) {
    const errors = outcome.findings
      .filter((finding) => finding.severity === 'error')
      .reduce((sum, finding) => sum + (getOmittedCount(finding) || 1), 0)
    if (errors > 0)
      yield createReason(
        'blocked',
        'findings',
        `${outcome.check}: ${errors} ${errors === 1 ? 'error' : 'errors'}${areAllErrorsOnBase(outcome.findings) ? ', already on the base branch' : ''}`,
      )
    for (const { question, reason: why } of outcome.unanswered)
      yield createReason('unknown', 'unanswered', `${outcome.check}: could not determine ${question}: ${why}`)
    for (const { what, who } of outcome.waiting) yield createReason('wait', 'approval', what, who)
    if (requestedBy === undefined)
      for (const why of outcome.manualMergeReasons ?? []) yield createReason('wait', 'merge-disabled', why)
  }
}

/** Whether the base branch has every error, so that the pull request caused none. */
function areAllErrorsOnBase(findings: readonly Finding[]): boolean {
  return findings.every(({ severity, isOnBase }) => severity !== 'error' || isOnBase === true)
}

function createReason(
  kind: VerdictKind,
  code: VerdictReasonCode,
  text: string,
  who?: readonly string[],
): ReasonWithVerdictKind {
  return { kind, code, text, ...(who && who.length > 0 && { who }) }
}

/** Seconds until the first open question can be retried. Default: 60. */
function getMinRetrySeconds(outcomes: readonly CheckOutcome[]): number {
  const waits = outcomes.flatMap((outcome) =>
    outcome.unanswered.map((open: { retryAfter: number }) => open.retryAfter),
  )
  // Avoids `Math.min(...waits)`, because there can be more values than a call accepts arguments.
  const first = waits.reduce((min, wait) => Math.min(min, wait), Infinity)
  return first === Infinity ? 60 : Math.max(1, first)
}

/** Who can unblock a verdict, without duplicates, in order of first mention. */
export function collectUnblockingPeople(waiting: readonly UnblockingAction[]): readonly string[] {
  return [...new Set(waiting.flatMap((open) => open.who))]
}
