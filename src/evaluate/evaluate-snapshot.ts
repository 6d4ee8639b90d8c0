// Evaluates a pull request in a separate process within its budget. What was too large is not tried again until it, its
// base branch or the configuration changes.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type PullSnapshot, toPullRequestKey } from '../pull-request/snapshot.ts'
import { configPath } from '../config/config-path.ts'
import type { CommandDecision } from '../policy/commands.ts'
import {
  decideVerdict,
  createMalformedCommitsReason,
  createUncheckablePullVerdict,
  createTooLargePullReason,
} from '../policy/decide.ts'
import type { VerdictReason, PullVerdict } from '../policy/verdict.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { MergeFreezeStore } from '../ports/merge-records.ts'
import type { PullChangeIdentity, PullHistoryStore } from '../ports/pull-memory.ts'
import type { SnapshotEvaluation } from './evaluate.ts'
import type { EvaluationSchedulingHints } from './worker/evaluation-pool.ts'
import type { EvaluationReport } from '../report/evaluation-report.ts'
import type { StateStore } from '../ports/state.ts'
import { readMergeQueueRemovalUser } from './queue-removals.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { requestEvaluation, type EvaluationInputs } from './request-evaluation.ts'
import { clusterTestCheckName } from '../report/cluster-test-check.ts'
import { readMergeBackoff, type MergeBackoff } from './merge-backoff.ts'

export interface PullEvaluation {
  readonly snapshot: PullSnapshot
  readonly configDigest: string
  readonly epoch: number
  readonly commands: readonly CommandDecision[]
  readonly report: EvaluationReport
  /** The commits that a merge would bring. If absent, it cannot merge. */
  readonly carried?: SnapshotEvaluation['carried']
  /** Approvals bind to this description of the change. */
  readonly described?: PullChangeIdentity | undefined
  readonly verdict: PullVerdict
  readonly hasPreviews: boolean
  readonly onCluster: 'off' | 'asked' | 'automatic'
  readonly requiresCluster: boolean
  /** Seconds until the next scheduled evaluation. */
  readonly requeueAfterSeconds?: number | undefined
}

/** A faster machine may handle it later. */
const tooLargePullTtlSeconds = 30 * 24 * 3600

const tooLargePullSchema = z.object({ state: z.string(), why: z.string() })
/** If lost, it is found again. */
const tooLargePullCache = defineCacheNamespace<z.infer<typeof tooLargePullSchema>>('too large', {
  version: 1,
  read: (stored) => tooLargePullSchema.safeParse(stored).data,
})

type EvaluationStore = Required<PullHistoryStore> & MergeFreezeStore & Cache & StateStore

/** Rejects with a GitError or StoreError. */
export async function evaluateSnapshot(
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
  if (snapshot.excess !== undefined)
    return createRejectedPullEvaluation(
      snapshot,
      configDigest,
      createTooLargePullReason(snapshot.excess),
      ctx,
    )
  const state = computeTooLargeVerdictKey(snapshot, configDigest, ctx)
  const before = (await store.getCached(tooLargePullCache, [key])).get(key)
  if (before?.state === state)
    return createRejectedPullEvaluation(snapshot, configDigest, createTooLargePullReason(before.why), ctx)

  const openPulls = () => forge.openPulls()
  const answer = await requestEvaluation(snapshot, ctx, { memory: store, openPulls, hints, ...how })
  switch (answer.kind) {
    case 'seen': {
      const { kind: _kind, gate, ...evaluation } = answer
      const backoff: MergeBackoff = isMerged ? { stopped: [] } : await readMergeBackoff(snapshot, ctx)
      const commands = [
        ...(await store.commands(snapshot.repository, snapshot.pull)),
        ...evaluation.commands.map(({ record }) => record),
      ]
      const removed = isQueued ? undefined : await readMergeQueueRemovalUser(snapshot, commands, store)
      const verdict = decideVerdict({ ...gate, ...backoff, removedBy: removed })
      const hasPreviews = gate.config.publish.some(({ preview }) => preview !== undefined)
      return {
        ...evaluation,
        snapshot,
        verdict,
        hasPreviews,
        onCluster: gate.config.install.cluster,
        requiresCluster: gate.config.merge.requires.some(({ name }) => name === clusterTestCheckName),
        requeueAfterSeconds: computeMinIgnoringUndefined(verdict.retryAfter, backoff.tryAgainAfter),
      }
    }
    case 'too-large': {
      await store.putCached(
        tooLargePullCache,
        new Map([[key, { state, why: answer.why }]]),
        tooLargePullTtlSeconds,
      )
      return createRejectedPullEvaluation(snapshot, configDigest, createTooLargePullReason(answer.why), ctx)
    }
  }
}

function computeMinIgnoringUndefined(...seconds: readonly (number | undefined)[]): number | undefined {
  const known = seconds.filter((each) => each !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Inputs that a too-large verdict depends on: the pull request, the rules and our limits. */
function computeTooLargeVerdictKey(
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
export async function evaluateMalformedPull(
  snapshot: PullSnapshot,
  why: string,
  ctx: JobContext<PullHistoryStore>,
): Promise<PullEvaluation> {
  return createRejectedPullEvaluation(
    snapshot,
    await readConfigDigest(snapshot, ctx),
    createMalformedCommitsReason(why),
    ctx,
  )
}

async function createRejectedPullEvaluation(
  snapshot: PullSnapshot,
  configDigest: string,
  reason: VerdictReason,
  { app }: JobContext<PullHistoryStore>,
): Promise<PullEvaluation> {
  const { head, baseRef, repository, pull } = snapshot
  return {
    snapshot,
    configDigest,
    epoch: await app.store.observe(repository, pull, { head, baseRef, config: configDigest }),
    commands: [],
    hasPreviews: false,
    onCluster: 'off',
    requiresCluster: false,
    report: { changeLines: [], commandLines: [] },
    verdict: createUncheckablePullVerdict({ snapshot, configDigest }, reason),
  }
}
