// Fetches the commits of a pull request, and evaluates them in a separate process within its budget. A head that Git
// rejects, or a pull request that was too large, isn't tried again until its head, its base branch, or the configuration
// changes.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { join, resolve } from 'node:path'
import { type PullSnapshot, toPullRequestKey } from '../pull-request/snapshot.ts'
import { configPath } from '../config/config-path.ts'
import {
  decideVerdict,
  createMalformedCommitsReason,
  createUncheckablePullVerdict,
  createTooLargePullReason,
} from '../policy/decide.ts'
import type { VerdictReason } from '../policy/verdict.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { MergeFreezeStore } from '../ports/merge-records.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'
import {
  type PullEvaluation,
  workerPullHistoryMethods,
  type EvaluationResponse,
  type WorkerPullHistoryStore,
  type WorkerCallbackRequest,
} from './pull-evaluation.ts'
import type { EvaluationSchedulingHints, WorkerCallbackHandler } from './worker/evaluation-pool.ts'
import type { StateStore } from '../ports/state.ts'
import {
  readMergeBackoff,
  type MergeBackoff,
  readMergeQueueRemovalUser,
  requiresSignedCommits,
} from './merge-plan-input.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { clusterTestCheckName } from '../report/cluster-test-check.ts'
import type { LookupRequest } from '../checks/lookups.ts'
import {
  createLookupResolver,
  fetchRequiredChecks,
  type LookupResult,
  type LookupResolver,
} from '../catalogs/gather-lookup-results.ts'
import { GitError, isGitError } from '../adapters/git/git-error.ts'
import type { OpenPullSummary } from '../ports/forge.ts'

interface EvaluationInputs {
  readonly memory: Required<WorkerPullHistoryStore>
  readonly openPulls: () => Promise<readonly OpenPullSummary[]>
  readonly demandsSignatures?: boolean
  readonly hints?: EvaluationSchedulingHints | undefined
  /** Answers questions from memory instead of sending requests. */
  readonly ask?: LookupResolver | undefined
  readonly onAnswer?: ((question: LookupRequest, answer: LookupResult) => void) | undefined
}

type PullHistoryStoreMethod = (this: unknown, ...args: unknown[]) => Promise<unknown>

/** A faster machine may handle it later. */
const tooLargePullTtlSeconds = 30 * 24 * 3600
const tooLargePullSchema = z.object({ state: z.string(), why: z.string() })
/** If lost, it is found again. */
const oversizedPullCache = defineCacheNamespace('too large', 1, tooLargePullSchema)

type EvaluationStore = Required<PullHistoryStore> & MergeFreezeStore & Cache & StateStore

/** Rejects with a GitError or StoreError. */
export async function evaluateInWorker(
  snapshot: PullSnapshot,
  ctx: JobContext<EvaluationStore>,
  hints?: EvaluationSchedulingHints,
  /** `isMerged`: a merge freeze does not apply. `isQueued`: it is in the merge queue, even if it was removed before. */
  {
    isMerged = false,
    isQueued = isMerged,
    ...how
  }: Partial<Pick<EvaluationInputs, 'ask' | 'onAnswer' | 'openPulls'>> & {
    readonly isMerged?: boolean
    readonly isQueued?: boolean
  } = {},
): Promise<PullEvaluation> {
  const { app, forge } = ctx
  const { store } = app
  const key = toPullRequestKey(snapshot.repository, snapshot.pull)
  const configDigest = await readConfigDigest(snapshot, ctx)
  const reportTooLarge = (why: string) =>
    createUncheckablePullEvaluation(snapshot, configDigest, createTooLargePullReason(why), ctx)
  if (snapshot.excess !== undefined) return reportTooLarge(snapshot.excess)
  const state = computeTooLargePullCacheKey(snapshot, configDigest, ctx)
  const before = (await store.getCached(oversizedPullCache, [key])).get(key)
  if (before?.state === state) return reportTooLarge(before.why)

  const startedAt = app.clock.now()
  const openPulls = () => forge.openPulls()
  const demandsSignatures = !isQueued && (await requiresSignedCommits(snapshot.baseRef, ctx))
  const inputs = { memory: store, openPulls, demandsSignatures, hints, ...how }
  const answer = await requestEvaluation(snapshot, ctx, inputs)
  switch (answer.kind) {
    case 'seen': {
      const { kind: _, ...evaluation } = answer
      return completePullEvaluation({ ...evaluation, startedAt }, { snapshot, isMerged, isQueued }, ctx)
    }
    case 'too-large': {
      await store.putCached(
        oversizedPullCache,
        new Map([[key, { state, why: answer.why }]]),
        tooLargePullTtlSeconds,
      )
      return reportTooLarge(answer.why)
    }
  }
}

async function completePullEvaluation(
  evaluation: Omit<Extract<EvaluationResponse, { kind: 'seen' }>, 'kind'> & Pick<PullEvaluation, 'startedAt'>,
  { snapshot, isMerged, isQueued }: { snapshot: PullSnapshot; isMerged: boolean; isQueued: boolean },
  ctx: JobContext<EvaluationStore>,
): Promise<PullEvaluation> {
  const { store } = ctx.app
  const { verdictInput } = evaluation
  const backoff: MergeBackoff = isMerged ? { stopped: [] } : await readMergeBackoff(snapshot, ctx)
  const listCommands = async () => [
    ...(await store.commands(snapshot.repository, snapshot.pull)),
    ...evaluation.commands.map(({ record }) => record),
  ]
  const removed = isQueued ? undefined : await readMergeQueueRemovalUser(snapshot, listCommands, store)
  const verdict = decideVerdict({ ...verdictInput, ...backoff, removedBy: removed })
  const hasPreviews = verdictInput.config.publish.some(({ preview }) => preview !== undefined)
  return {
    ...evaluation,
    snapshot,
    verdict,
    hasPreviews,
    onCluster: verdictInput.config.install.cluster,
    requiresCluster: verdictInput.config.merge.requires.some(({ name }) => name === clusterTestCheckName),
    requeueAfterSeconds: computeMinIgnoringUndefined(verdict.retryAfter, backoff.tryAgainAfter),
  }
}

/**
 * Decides again from the inputs of an evaluation, and creates a new permit. Reads again what changes without a commit
 * and can't be seen in a snapshot: required checks, freezes, and rejected merges. Rejects with a StoreError.
 */
export async function decideEvaluationAgain(
  { verdictInput, ...evaluation }: PullEvaluation,
  ctx: JobContext<EvaluationStore>,
): Promise<PullEvaluation | undefined> {
  if (verdictInput === undefined) return undefined
  const { app, forge } = ctx
  const ask = createLookupResolver(forge, app.registries.forEvaluation(), app.store)
  const required = await fetchRequiredChecks(verdictInput, ask)
  const { snapshot } = evaluation
  return completePullEvaluation(
    { ...evaluation, verdictInput: { ...verdictInput, required } },
    { snapshot, isMerged: false, isQueued: false },
    ctx,
  )
}

function computeMinIgnoringUndefined(...seconds: readonly (number | undefined)[]): number | undefined {
  const known = seconds.filter((each) => each !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Inputs of a verdict that a pull request is too large: the pull request, the rules, and the limits. */
function computeTooLargePullCacheKey(
  { head, baseRef }: PullSnapshot,
  configDigest: string,
  { app }: JobContext,
): string {
  const parts = [head, baseRef, configDigest, JSON.stringify(app.settings.budget)]
  return createHash('sha256').update(parts.join('\n')).digest('hex')
}

/** The digest that the evaluation computes, without reading the file. */
async function readConfigDigest({ base }: PullSnapshot, { repository }: JobContext): Promise<string> {
  return (await repository.entry(await repository.treeOf(base), configPath))?.oid ?? 'default'
}

/**
 * Handles a pull request whose commits git rejects. Requires the base branch to be fetched. Rejects with a GitError or
 * StoreError.
 */
export async function evaluatePullWithMalformedCommits(
  snapshot: PullSnapshot,
  why: string,
  ctx: JobContext<PullHistoryStore>,
): Promise<PullEvaluation> {
  return createUncheckablePullEvaluation(
    snapshot,
    await readConfigDigest(snapshot, ctx),
    createMalformedCommitsReason(why),
    ctx,
  )
}

async function createUncheckablePullEvaluation(
  snapshot: PullSnapshot,
  configDigest: string,
  reason: VerdictReason,
  { app }: JobContext<PullHistoryStore>,
): Promise<PullEvaluation> {
  const { head, baseRef, repository, pull } = snapshot
  return {
    snapshot,
    startedAt: app.clock.now(),
    configDigest,
    epoch: await app.store.observe(repository, pull, { head, baseRef, config: configDigest }),
    commands: [],
    runCommands: [],
    hasPreviews: false,
    onCluster: 'off',
    requiresCluster: false,
    report: { changeLines: [], commandLines: [] },
    verdict: createUncheckablePullVerdict({ snapshot, configDigest }, reason),
  }
}

/** Rejects with a GitError or StoreError. A corrupt mirror is fetched again by the next caller. */
export async function requestEvaluation(
  snapshot: PullSnapshot,
  { app, forge, repository, mirror }: JobContext<Cache>,
  inputs: EvaluationInputs,
): Promise<Exclude<EvaluationResponse, { kind: 'git-error' }>> {
  const { dataDirectory, budget, opm } = app.settings
  const facts = join(resolve(dataDirectory), 'facts')
  const answerFromSources =
    inputs.ask ?? createLookupResolver(forge, app.registries.forEvaluation(), app.store)
  const answerAndNotify: LookupResolver = async (question) => {
    const answer = await answerFromSources(question)
    inputs.onAnswer?.(question, answer)
    return answer
  }
  const { demandsSignatures = false } = inputs
  const order = { snapshot, mirror, facts, budget, demandsSignatures, ...(opm !== undefined && { opm }) }
  const answer = await app.evaluationPool.evaluate(
    order,
    createWorkerCallbackHandler(answerAndNotify, inputs),
    inputs.hints,
  )
  if (answer.kind !== 'git-error') return answer
  if (answer.code === 'corrupt' || answer.code === 'missing') repository.markCorrupt?.(answer.code)
  throw new GitError(answer.code, answer.message, { retryable: answer.retryable })
}

function createWorkerCallbackHandler(
  answerQuestion: LookupResolver,
  { memory, openPulls }: EvaluationInputs,
): WorkerCallbackHandler {
  return async (request: WorkerCallbackRequest) => {
    if (request.kind === 'ask') return answerQuestion(request.question)
    if (request.kind === 'open-pulls') return openPulls()
    if (!Object.hasOwn(workerPullHistoryMethods, request.name))
      throw new Error(`an evaluation cannot call ${request.name}`)
    const readings: Readonly<Record<string, unknown>> = memory
    return (readings[request.name] as PullHistoryStoreMethod).apply(memory, request.args)
  }
}

type FetchCommitsResult =
  | { readonly kind: 'here'; readonly snapshot: PullSnapshot }
  /** GitHub and Git do not show the same commits yet. */
  | { readonly kind: 'stale' }
  | { readonly kind: 'malformed'; readonly why: string }

const rejectedPullHeadSchema = z.object({ head: z.string(), why: z.string() })
/** If lost, the heads are fetched and rejected again. */
const rejectedPullHeadCache = defineCacheNamespace('refused head', 1, rejectedPullHeadSchema)
const rejectedPullHeadTtlSeconds = 30 * 24 * 3600

/** Rejects with a GitError that does not concern the head, a ForgeError or a StoreError. */
export async function fetchCommits(
  snapshot: PullSnapshot,
  ctx: JobContext<Cache>,
): Promise<FetchCommitsResult> {
  const { repository, app } = ctx
  const key = toPullRequestKey(snapshot.repository, snapshot.pull)
  const before = (await app.store.getCached(rejectedPullHeadCache, [key])).get(key)
  if (before?.head === snapshot.head) {
    await repository.fetch(snapshot.baseRef)
    return { kind: 'malformed', why: before.why }
  }
  try {
    const fetched = await fetchConsistentPullSnapshot(snapshot, ctx)
    return fetched === undefined ? { kind: 'stale' } : { kind: 'here', snapshot: fetched }
  } catch (error) {
    if (!isGitError(error, 'corrupt')) throw error
    // The author didn't cause errors in the base branch or in the mirror.
    await repository.fetch(snapshot.baseRef)
    const why = parseFsckError(error.message)
    await app.store.putCached(
      rejectedPullHeadCache,
      new Map([[key, { head: snapshot.head, why }]]),
      rejectedPullHeadTtlSeconds,
    )
    return { kind: 'malformed', why }
  }
}

/** Returns the message id and object that `git fsck` reports. */
function parseFsckError(message: string): string {
  const [, object, messageId] = /\bobject ([0-9a-f]{40}): ([A-Za-z]{1,40})\b/.exec(message) ?? []
  return object === undefined ? 'the commits contain a malformed object' : `object ${object}: ${messageId}`
}

/** Fetches the snapshot's commits. If git and GitHub's API disagree, the snapshot is stale. */
export async function fetchConsistentPullSnapshot(
  snapshot: PullSnapshot,
  { repository, forge }: JobContext,
): Promise<PullSnapshot | undefined> {
  let current: PullSnapshot | null = snapshot
  for (let attempt = 0; attempt < 3 && current !== null; attempt++) {
    await repository.fetch(current.baseRef, current.pull)
    const tip = await repository.tip(current.baseRef)
    const head = await repository.pullHead(current.pull)
    if (tip === current.base && head === current.head) return current
    current = await forge.readSnapshot(current.pull)
  }
  return undefined
}
