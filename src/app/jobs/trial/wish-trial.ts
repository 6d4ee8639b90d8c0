// Notes that a pull request's result may be tried on a cluster. Trying an Operator lets its author run programs there: so only
// where the repository's configuration says so, and only when every check passed (whoever must agree has agreed), or a
// maintainer asked for exactly this commit. The trial is a job of its own.
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

/** What a look found out. */
export interface LookedForTrial {
  readonly snapshot: Snapshot
  readonly verdict: Verdict
  readonly epoch: number
  /** As the base's configuration has it. */
  readonly onCluster: 'off' | 'asked' | 'automatic'
  /** Whether the base's configuration requires the check that tells of them. */
  readonly requiresCluster: boolean
}

/** Undefined where nothing may be tried, or nobody wants it. Pure. */
export function wishedTrial(
  { snapshot, verdict, epoch, onCluster, requiresCluster }: LookedForTrial,
  records: readonly CommandRecord[],
  baseTree: TreeSha,
): TrialWish | undefined {
  const { result, outcomes } = verdict
  if (onCluster === 'off' || result === undefined || snapshot.state !== 'open') return undefined
  const trials = outcomes.find(({ check }) => check === 'install')?.trials ?? []
  if (trials.length === 0) return undefined
  // What does not pass these installs nowhere, or nobody knows which images it would run.
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
  // A base that moved elsewhere changes nothing of it; who asks again gets it again.
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

/** Writes the wish down where it is a new one. A wish that nobody has any more is over: what runs for it is stopped. */
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
    // Questions that are open for the moment take no trial away; another commit does.
    if (known && !known.isOver && known.head !== looked.snapshot.head)
      await app.store.writeState(trialWishes, repository, new Map([[key, { ...known, isOver: true }]]))
    return
  }
  if (known?.key === wish.key && !known.isOver) return
  await app.store.writeState(trialWishes, repository, new Map([[key, wish]]))
  await app.store.enqueue({ kind: 'trial', installation, repository, pull })
}

/** A pull request was closed: what is tried of it is stopped. */
export async function dropTrials(pull: Snapshot['pull'], { app, forge }: JobContext<State>): Promise<void> {
  const { repository } = forge
  const key = String(pull)
  const wish = await app.store.readState(trialWishes, repository, key)
  if (wish === undefined || wish.isOver) return
  await app.store.writeState(trialWishes, repository, new Map([[key, { ...wish, isOver: true }]]))
}
