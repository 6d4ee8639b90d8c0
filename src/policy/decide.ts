// Turns findings and a snapshot into a verdict. Only this file creates merge permits, and only if no reason prevents
// the merge. Empty, unknown or missing input never counts as approval.
import type { CheckOutcome, MergeUnblockingAction } from '../checks/check.ts'
import type { CommitSha, TreeSha } from '../pull-request/ids.ts'
import type { Config } from '../config/config.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { getOmittedFindingCount } from '@catalog-bot/findings/finding-list'
import { formatFreeze, type MergeFreeze } from './merge-freeze.ts'
import { createMergePermit } from './merge-permit.ts'
import type { VerdictReason, VerdictReasonCode, PullVerdict, VerdictKind } from './verdict.ts'
import { checkDefinitions, type CheckId } from '@catalog-bot/findings/checks'
import { toLookupKey, type CheckRunLookupResult, type LookupRequest } from '../checks/lookups.ts'
import type { RequiredExternalCheck } from '../config/merge-settings.ts'
import { formatTruncatedNames } from '../checks/validation/names.ts'

export type TestMergeResult =
  | { readonly kind: 'clean'; readonly commit: CommitSha; readonly tree: TreeSha }
  | { readonly kind: 'conflict'; readonly paths: readonly string[] }
  | { readonly kind: 'nothing' }

export interface VerdictInput {
  readonly snapshot: PullSnapshot
  readonly config: Config
  readonly configDigest: string
  readonly merge: TestMergeResult
  readonly changedPaths: number
  readonly outcomes: readonly CheckOutcome[]
  /** Results of the required checks of other Apps. An absent result does not pass. */
  readonly required?: readonly CompletedCheckRunLookup[] | undefined
  readonly stopped?: readonly MergeFreeze[] | undefined
  /** GitHub's message when it rejected the merge. */
  readonly rejection?: string | undefined
  readonly heldBy?: { readonly login: string; readonly isBack: boolean } | undefined
  /** Who removed this head from GitHub's merge queue, unless a later command requested the merge again. */
  readonly removedBy?: string | undefined
  /** Who requested the merge of this exact state with /merge, for repositories without automatic merging. */
  readonly requestedBy?: string | undefined
}

/** The strongest reason decides the verdict. */
const severityByVerdictKind: Readonly<Record<VerdictKind, number>> = {
  blocked: 3,
  unknown: 2,
  wait: 1,
  merge: 0,
}

interface VerdictReasonWithKind extends VerdictReason {
  readonly kind: VerdictKind
}

/** Decides on one pull request. Pure: the same input gives the same verdict. */
export function decideVerdict(input: VerdictInput): PullVerdict {
  const { snapshot, merge, outcomes } = input
  // Nothing else matters, and no check will run, if the base already contains the head.
  const isNothing = merge.kind === 'nothing'
  const required = isNothing ? [] : [...findVerdictReasonsInRequiredChecks(input)]
  const reasons = isNothing
    ? [...findVerdictReasonsInTestMerge(input)]
    : [
        ...findVerdictReasonsInPullState(input),
        ...findVerdictReasonsInTestMerge(input),
        ...findVerdictReasonsInChecks(input),
        ...required,
      ]
  const sorted = reasons.toSorted((a, b) => severityByVerdictKind[b.kind] - severityByVerdictKind[a.kind])
  const kind = sorted[0]?.kind ?? 'merge'
  const verdict: PullVerdict = {
    kind,
    reasons:
      sorted.length > 0
        ? sorted.map(({ code, text, who }) => ({ code, text, ...(who && { who }) }))
        : [{ code: 'all-checks-passed', text: 'all checks passed' }],
    head: snapshot.head,
    base: snapshot.base,
    baseRef: snapshot.baseRef,
    config: input.configDigest,
    outcomes,
    waiting: outcomes.flatMap((outcome) => outcome.waiting),
    ...(merge.kind === 'clean' && { result: { commit: merge.commit, tree: merge.tree } }),
  }
  if (kind === 'unknown') return { ...verdict, retryAfter: getMinLookupRetrySeconds(outcomes) }
  const others = outcomes.some(({ unanswered }) => unanswered.length > 0)
    ? [getMinLookupRetrySeconds(outcomes)]
    : []
  if (required.length > 0) return { ...verdict, retryAfter: Math.min(requiredCheckRetrySeconds, ...others) }
  // Retry an optional check's open questions while the pull request waits for something else.
  if (kind !== 'merge' || merge.kind !== 'clean')
    return kind === 'wait' && others[0] !== undefined ? { ...verdict, retryAfter: others[0] } : verdict
  return {
    ...verdict,
    permit: createMergePermit({
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
export function createUncheckablePullVerdict(
  { snapshot, configDigest }: Pick<VerdictInput, 'snapshot' | 'configDigest'>,
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

export function createTooLargePullReason(why: string): VerdictReason {
  return { code: 'too-large', text: `this pull request is too large to check: ${why}` }
}

/** `why`: an object and Git's name for the defect. */
export function createMalformedCommitsReason(why: string): VerdictReason {
  return { code: 'malformed', text: `Git rejects the commits of this pull request: ${why}` }
}

function* findVerdictReasonsInPullState(input: VerdictInput): Generator<VerdictReasonWithKind> {
  const { snapshot, config, stopped = [], rejection, heldBy, removedBy, requestedBy } = input
  if (snapshot.state !== 'open')
    yield createVerdictReason('wait', 'closed', `the pull request is ${snapshot.state}`)
  if (snapshot.author === null)
    yield createVerdictReason(
      'wait',
      'author-unknown',
      'the account that opened the pull request no longer exists',
    )
  if (snapshot.draft) yield createVerdictReason('wait', 'draft', 'the pull request is a draft')
  if (snapshot.stacked)
    yield createVerdictReason(
      'wait',
      'stacked',
      'this pull request depends on another pull request, which must be merged first',
    )
  const blocking = new Set(config.merge.blockingLabels.map((label) => label.toLowerCase()))
  for (const label of snapshot.labels)
    if (blocking.has(label.toLowerCase()))
      yield createVerdictReason('wait', 'label', `the label "${label}" blocks merging`)
  if (heldBy !== undefined) {
    const { login, isBack } = heldBy
    const text = isBack
      ? `the hold by ${login} is active again because this pull request has changed since the hold was removed`
      : `this pull request was put on hold by ${login} with /hold`
    yield createVerdictReason('wait', 'held', text, [login])
  }
  if (removedBy !== undefined)
    yield createVerdictReason(
      'wait',
      'removed-from-queue',
      `this pull request was removed from the merge queue by ${removedBy}`,
      [removedBy],
    )
  for (const stop of stopped) yield createVerdictReason('wait', 'stopped', formatFreeze(stop))
  if (rejection !== undefined)
    yield createVerdictReason(
      'wait',
      'refused',
      `GitHub rejected the merge: ${rejection.replace(/[.\s]+$/, '')}. catalog-bot retries periodically and whenever the pull request changes`,
    )
  if (!config.merge.enabled && requestedBy === undefined)
    yield createVerdictReason('wait', 'merge-disabled', 'automatic merging is disabled in this repository')
}

function* findVerdictReasonsInTestMerge(input: VerdictInput): Generator<VerdictReasonWithKind> {
  const { merge, changedPaths, snapshot } = input
  if (merge.kind === 'conflict') {
    const paths = formatTruncatedNames(merge.paths, 3)
    yield createVerdictReason(
      'blocked',
      'conflict',
      `the pull request conflicts with the base branch${paths && ` in ${paths}`}`,
    )
  }
  if (merge.kind === 'nothing')
    yield createVerdictReason(
      'blocked',
      'nothing-to-merge',
      `all commits in the pull request are already on ${snapshot.baseRef}`,
    )
  if (merge.kind === 'clean' && changedPaths === 0)
    yield createVerdictReason('wait', 'empty', 'the pull request does not change any files')
}

/** Every required check must have finished. An absent check does not pass. */
function* findVerdictReasonsInChecks(input: VerdictInput): Generator<VerdictReasonWithKind> {
  const { outcomes, config, requestedBy, merge } = input
  const requiredChecks = getRequiredBotChecks(config)
  for (const id of requiredChecks) {
    // A conflict already blocks the merge, and no check runs until it is resolved.
    if (merge.kind !== 'conflict' && !outcomes.some((outcome) => outcome.check === id))
      yield createVerdictReason('unknown', 'unanswered', `the check ${id} has not finished`)
  }
  for (const outcome of outcomes.filter(({ check }) => requiredChecks.includes(check))) {
    const errors = outcome.findings
      .filter((finding) => finding.severity === 'error')
      .reduce((sum, finding) => sum + (getOmittedFindingCount(finding) || 1), 0)
    if (errors > 0)
      yield createVerdictReason(
        'blocked',
        'findings',
        `${outcome.check}: ${errors} ${errors === 1 ? 'error' : 'errors'}${areAllErrorsOnBaseBranch(outcome.findings) ? ', already on the base branch' : ''}`,
      )
    for (const { question, reason: why } of outcome.unanswered)
      yield createVerdictReason(
        'unknown',
        'unanswered',
        `${outcome.check}: could not determine ${question}: ${why}`,
      )
    for (const { what, who } of outcome.waiting) yield createVerdictReason('wait', 'approval', what, who)
    if (requestedBy === undefined)
      for (const why of outcome.manualMergeReasons ?? [])
        yield createVerdictReason('wait', 'merge-disabled', why)
  }
}

/** Whether the base branch has every error, so that the pull request caused none. */
function areAllErrorsOnBaseBranch(findings: readonly Finding[]): boolean {
  return findings.every(({ severity, isOnBase }) => severity !== 'error' || isOnBase === true)
}

function createVerdictReason(
  kind: VerdictKind,
  code: VerdictReasonCode,
  text: string,
  who?: readonly string[],
): VerdictReasonWithKind {
  return { kind, code, text, ...(who && who.length > 0 && { who }) }
}

/** Seconds until the first open question can be retried. Default: 60. */
function getMinLookupRetrySeconds(outcomes: readonly CheckOutcome[]): number {
  const waits = outcomes.flatMap((outcome) =>
    outcome.unanswered.map((open: { retryAfter: number }) => open.retryAfter),
  )
  // Avoids `Math.min(...waits)`, because there can be more values than a call accepts arguments.
  const first = waits.reduce((min, wait) => Math.min(min, wait), Infinity)
  return first === Infinity ? 60 : Math.max(1, first)
}

/** Who can unblock a verdict, without duplicates, in order of first mention. */
export function collectUnblockingUsers(waiting: readonly MergeUnblockingAction[]): readonly string[] {
  return [...new Set(waiting.flatMap((open) => open.who))]
}

type CheckRunLookupRequest = Extract<LookupRequest, { kind: 'check-run' }>

export interface CompletedCheckRunLookup {
  readonly question: CheckRunLookupRequest
  readonly answer: CheckRunLookupResult
}

export const toRequiredCheckLookups = (
  requires: readonly RequiredExternalCheck[],
  head: CommitSha,
): readonly CheckRunLookupRequest[] =>
  requires.map(({ app, name }) => ({ kind: 'check-run', commit: head, app, name }))

/** Seconds between two requests. Polls, because GitHub's check webhooks do not name a fork's pull request. */
const requiredCheckRetrySeconds = 120

/** Reasons in the checks of other Apps. Each must have passed on this head. An absent one does not pass. */
function* findVerdictReasonsInRequiredChecks({
  config,
  snapshot,
  required = [],
}: VerdictInput): Generator<VerdictReasonWithKind> {
  const known = new Map(required.map(({ question, answer }) => [toLookupKey(question), answer]))
  for (const question of toRequiredCheckLookups(config.merge.requires, snapshot.head)) {
    const which = `the check ${question.name} from App ${question.app}`
    const answer = known.get(toLookupKey(question))
    switch (answer?.kind) {
      case 'green':
        break
      case 'running':
      case 'missing':
        yield createVerdictReason('wait', 'required-check', `waiting for ${which}`)
        break
      case 'red':
        yield createVerdictReason(
          'blocked',
          'required-check-failed',
          `${which} did not pass: ${answer.conclusion}`,
        )
        break
      case 'unknown':
        yield createVerdictReason('unknown', 'unanswered', `could not read ${which}: ${answer.reason}`)
        break
      case undefined:
        yield createVerdictReason('unknown', 'unanswered', `${which} has not been requested yet`)
    }
  }
}

/**
 * The checks of catalog-bot that must pass before a merge: all except those that the configuration makes optional. A
 * configurable check reads the setting with its id. A check without such a setting does not type-check.
 */
export function getRequiredBotChecks(config: Pick<Config, 'install'>): readonly CheckId[] {
  return checkDefinitions
    .filter((check) => check.requirement === 'required' || config[check.id].required)
    .map(({ id }) => id)
}
