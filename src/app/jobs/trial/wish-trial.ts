// Requests a cluster trial. A trial lets the author run programs in the cluster, so it needs the repository's
// configuration and either all checks passed or a maintainer's request for this commit. A separate job runs it.
import { createHash } from 'node:crypto'
import type { CheckOutcome } from '../../../checks/check.ts'
import { checkIds } from '../../../findings/checks.ts'
import type { CommandRecord } from '../../../gate/commands.ts'
import type { Verdict } from '../../../gate/verdict.ts'
import type { Snapshot } from '../../../change/snapshot.ts'
import type { TreeSha } from '../../../change/ids.ts'
import type { Jobs } from '../../../ports/jobs.ts'
import type { PullMemory } from '../../../ports/pull-memory.ts'
import type { State } from '../../../ports/state.ts'
import type { JobContext } from '../job-context.ts'
import { trialWishes, type TrialWish } from './trial-state.ts'

export interface LookedForTrial {
  readonly snapshot: Snapshot
  readonly verdict: Verdict
  readonly epoch: number
  readonly onCluster: 'off' | 'asked' | 'automatic'
  readonly requiresCluster: boolean
}

/** Returns undefined if a trial is not allowed or not requested. Pure. */
export function wishedTrial(
  { snapshot, verdict, epoch, onCluster, requiresCluster }: LookedForTrial,
  records: readonly CommandRecord[],
  baseTree: TreeSha,
): TrialWish | undefined {
  const { result, outcomes } = verdict
  if (onCluster === 'off' || result === undefined || snapshot.state !== 'open') return undefined
  const trials = outcomes.find(({ check }) => check === 'install')?.trials ?? []
  if (trials.length === 0) return undefined
  // Without these checks it cannot be installed, or its images are unknown.
  const isSound = (['validation', 'images', 'install'] as const).every((id) =>
    outcomes.some((outcome) => outcome.check === id && passed(outcome)),
  )
  if (!isSound) return undefined
  const comment = records.findLast(
    (record) =>
      record.command === 'test-install' &&
      record.outcome === 'done' &&
      record.head === snapshot.head &&
      record.epoch === epoch,
  )?.comment
  const allAgree = checkIds.every((id) =>
    outcomes.some((outcome) => outcome.check === id && passed(outcome) && outcome.waiting.length === 0),
  )
  if (comment === undefined && !(onCluster === 'automatic' && allAgree)) return undefined
  // Independent of the base; a repeated request by comment runs again.
  const about = JSON.stringify([snapshot.head, comment ?? 0, trials])
  return {
    head: snapshot.head,
    tree: result.tree,
    baseTree,
    trials: structuredClone(trials) as TrialWish['trials'],
    key: createHash('sha256').update(about).digest('hex').slice(0, 24),
    isRequired: requiresCluster,
    isOver: false,
  }
}

function passed({ findings, unanswered }: CheckOutcome): boolean {
  return unanswered.length === 0 && !findings.some(({ severity }) => severity === 'error')
}

/** Withdrawn requests end, and their trials stop. */
export async function wishTrial(
  looked: LookedForTrial,
  { app, forge, installation, repository: mirror }: JobContext<State & Jobs & PullMemory>,
): Promise<void> {
  const { repository } = forge
  const { pull, base } = looked.snapshot
  const key = String(pull)
  const known = await app.store.readState(trialWishes, repository, key)
  if (looked.onCluster === 'off' && known === undefined) return
  const records = await app.store.commands(repository, pull)
  const wish = wishedTrial(looked, records, await mirror.treeOf(base))
  if (wish === undefined) {
    // Only another commit ends a trial, not a temporarily unanswered question.
    if (known && !known.isOver && known.head !== looked.snapshot.head)
      await app.store.writeState(trialWishes, repository, new Map([[key, { ...known, isOver: true }]]))
    return
  }
  if (known?.key === wish.key && !known.isOver) return
  await app.store.writeState(trialWishes, repository, new Map([[key, wish]]))
  await app.store.enqueue({ kind: 'trial', installation, repository, pull })
}

export async function dropTrials(pull: Snapshot['pull'], { app, forge }: JobContext<State>): Promise<void> {
  const { repository } = forge
  const key = String(pull)
  const wish = await app.store.readState(trialWishes, repository, key)
  if (wish === undefined || wish.isOver) return
  await app.store.writeState(trialWishes, repository, new Map([[key, { ...wish, isOver: true }]]))
}
