// Evaluates a pull request in a separate process within its budget. What was too large is not tried again until it, its
// base branch or the configuration changes.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Snapshot } from '../../change/snapshot.ts'
import { pullKey } from '../../change/repository-key.ts'
import { configPath } from '../../config/config-path.ts'
import type { CommandDecision } from '../../gate/commands.ts'
import { decide, malformedReason, refuseUnjudged, tooLargeReason } from '../../gate/decide.ts'
import type { Reason, Verdict } from '../../gate/verdict.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import type { LandingStops } from '../../ports/landing-stops.ts'
import type { DescribedChange, PullMemory } from '../../ports/pull-memory.ts'
import type { Examination } from '../../examine/examine.ts'
import type { LookHints } from '../../examine/looks/look-pool.ts'
import type { Told } from '../../examine/looks/what-to-tell.ts'
import type { State } from '../../ports/state.ts'
import { removedBy } from '../../landing/queue-removals.ts'
import type { JobContext } from './job-context.ts'
import { orderLook, type LookedUp } from './order-look.ts'
import { trialCheckName } from '../../messages/trial-check.ts'
import { whatKeepsBack, type KeptBack } from './refused-pull.ts'

export interface Seen {
  readonly snapshot: Snapshot
  readonly configDigest: string
  readonly epoch: number
  readonly commands: readonly CommandDecision[]
  readonly told: Told
  /** The commits that a merge would bring. If absent, it cannot merge. */
  readonly carried?: Examination['carried']
  /** Approvals bind to this description of the change. */
  readonly described?: DescribedChange | undefined
  readonly verdict: Verdict
  readonly hasPreviews: boolean
  readonly onCluster: 'off' | 'asked' | 'automatic'
  readonly requiresCluster: boolean
  /** Seconds until the next scheduled evaluation. */
  readonly lookAgainAfter?: number | undefined
}

/** A faster machine may handle it later. */
const rememberedSeconds = 30 * 24 * 3600

const tooLargePull = z.object({ state: z.string(), why: z.string() })
/** If lost, it is found again. */
const tooLargePulls = defineCache<z.infer<typeof tooLargePull>>('too large', {
  version: 1,
  read: (stored) => tooLargePull.safeParse(stored).data,
})

type Looking = Required<PullMemory> & LandingStops & Cache & State

/** Rejects with a GitError or StoreError. */
export async function lookAtPull(
  snapshot: Snapshot,
  place: JobContext<Looking>,
  hints?: LookHints,
  /** `isMerged`: a merge freeze does not apply. `isQueued`: it is in the merge queue, even if it was removed before. */
  {
    isMerged = false,
    isQueued = isMerged,
    ...how
  }: Partial<Pick<LookedUp, 'ask' | 'onAnswer' | 'openPulls'>> & {
    readonly isMerged?: boolean
    readonly isQueued?: boolean
  } = {},
): Promise<Seen> {
  const { app, forge } = place
  const { store } = app
  const key = pullKey(snapshot.repository, snapshot.pull)
  const configDigest = await digestOfConfig(snapshot, place)
  if (snapshot.excess !== undefined)
    return unjudged(snapshot, configDigest, tooLargeReason(snapshot.excess), place)
  const state = stateOf(snapshot, configDigest, place)
  const before = (await store.getCached(tooLargePulls, [key])).get(key)
  if (before?.state === state) return unjudged(snapshot, configDigest, tooLargeReason(before.why), place)

  const openPulls = () => forge.openPulls()
  const answer = await orderLook(snapshot, place, { memory: store, openPulls, hints, ...how })
  switch (answer.kind) {
    case 'seen': {
      const { kind: _kind, gate, ...seen } = answer
      const kept: KeptBack = isMerged ? { stopped: [] } : await whatKeepsBack(snapshot, place)
      const commands = [
        ...(await store.commands(snapshot.repository, snapshot.pull)),
        ...seen.commands.map(({ record }) => record),
      ]
      const removed = isQueued ? undefined : await removedBy(snapshot, commands, store)
      const verdict = decide({ ...gate, ...kept, removedBy: removed })
      const hasPreviews = gate.config.publish.some(({ preview }) => preview !== undefined)
      return {
        ...seen,
        snapshot,
        verdict,
        hasPreviews,
        onCluster: gate.config.install.cluster,
        requiresCluster: gate.config.merge.requires.some(({ name }) => name === trialCheckName),
        lookAgainAfter: soonest(verdict.retryAfter, kept.tryAgainAfter),
      }
    }
    case 'too-large': {
      await store.putCached(tooLargePulls, new Map([[key, { state, why: answer.why }]]), rememberedSeconds)
      return unjudged(snapshot, configDigest, tooLargeReason(answer.why), place)
    }
  }
}

function soonest(...seconds: readonly (number | undefined)[]): number | undefined {
  const known = seconds.filter((each) => each !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Inputs that a too-large verdict depends on: the pull request, the rules and our limits. */
function stateOf({ head, baseRef }: Snapshot, configDigest: string, { app }: JobContext): string {
  const parts = [head, baseRef, configDigest, JSON.stringify(app.settings.budget)]
  return createHash('sha256').update(parts.join('\n')).digest('hex')
}

/** Same digest as examine() computes, without reading the file. */
async function digestOfConfig({ base }: Snapshot, { repository }: JobContext): Promise<string> {
  return (await repository.entry(await repository.treeOf(base), configPath))?.oid ?? 'default'
}

/**
 * Handles a pull request whose commits git rejects. Requires the base branch to be fetched. Rejects with a GitError or
 * StoreError.
 */
export async function lookAtMalformed(
  snapshot: Snapshot,
  why: string,
  place: JobContext<PullMemory>,
): Promise<Seen> {
  return unjudged(snapshot, await digestOfConfig(snapshot, place), malformedReason(why), place)
}

async function unjudged(
  snapshot: Snapshot,
  configDigest: string,
  reason: Reason,
  { app }: JobContext<PullMemory>,
): Promise<Seen> {
  const { head, baseRef, repository, pull } = snapshot
  return {
    snapshot,
    configDigest,
    epoch: await app.store.observe(repository, pull, { head, baseRef, config: configDigest }),
    commands: [],
    hasPreviews: false,
    onCluster: 'off',
    requiresCluster: false,
    told: { changeLines: [], commandLines: [] },
    verdict: refuseUnjudged({ snapshot, configDigest }, reason),
  }
}
