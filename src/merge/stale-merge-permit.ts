// Checks immediately before a merge that GitHub's state still matches the permit.
import type { PullNumber } from '../pull-request/ids.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import { canMergeCloseOtherPulls, findPullsClosedByMerge } from '../evaluate/compare-trees.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import type { Forge } from '../ports/forge.ts'
import type { PullHistoryStore } from '../ports/pull-history.ts'
import type { EvaluatedPullSnapshot } from './merge-types.ts'

type PullSnapshotReader = Pick<Forge, 'readSnapshot' | 'openPulls'>

/** Why the permit is no longer valid. Undefined if it is valid. */
export async function explainStaleMergePermit(
  examined: EvaluatedPullSnapshot,
  forge: PullSnapshotReader,
  /** The base of a batch member is not on the branch yet, so it is not compared. */
  instead: Pick<PullSnapshot, 'base'> | Record<never, never> = {},
): Promise<string | undefined> {
  const fresh = await forge.readSnapshot(examined.snapshot.pull, { skipCache: true })
  if (fresh === null || !areSnapshotsEquivalent({ ...fresh, ...instead }, examined.snapshot))
    return 'the pull request changed'
  return explainChangeInAutoClosedPulls(examined, forge)
}

/**
 * explainStaleMergePermit() for the pull requests of a batch. One request confirms the unchanged ones. The others are read one
 * by one. The push itself verifies the base.
 */
export async function explainStaleMergePermitsInBatch(
  members: readonly EvaluatedPullSnapshot[],
  forge: Forge,
): Promise<ReadonlyMap<PullNumber, string>> {
  const same = await (forge.findUnchanged?.(members.map(({ snapshot }) => snapshot)) ?? new Set<PullNumber>())
  // All share one request for the open pull requests.
  let open: ReturnType<Forge['openPulls']> | undefined
  const source: PullSnapshotReader = {
    readSnapshot: (pull, how) => forge.readSnapshot(pull, how),
    openPulls: () => (open ??= forge.openPulls()),
  }
  const changed = new Map<PullNumber, string>()
  for (const examined of members) {
    const { snapshot } = examined
    const why = same.has(snapshot.pull)
      ? await explainChangeInAutoClosedPulls(examined, source)
      : await explainStaleMergePermit(examined, source, { base: snapshot.base })
    if (why !== undefined) changed.set(snapshot.pull, why)
  }
  return changed
}

async function explainChangeInAutoClosedPulls(
  examined: EvaluatedPullSnapshot,
  forge: PullSnapshotReader,
): Promise<string | undefined> {
  return (await areAutoClosedPullsUnchanged(examined, forge))
    ? undefined
    : 'the merge would now close different pull requests than when it was checked'
}

/**
 * Whether the pull request is still in the epoch in which it was evaluated. Comments on an earlier state do not count if
 * the pull request changed and changed back (docs/dev/threats.md#t21). Only changes that catalog-bot observed are known.
 */
export async function isPullUnchangedSinceEvaluation(
  { epoch, snapshot }: EvaluatedPullSnapshot,
  { config }: Pick<ValidatedMerge, 'config'>,
  store: Pick<PullHistoryStore, 'observe'>,
): Promise<boolean> {
  const { repository, pull, head, baseRef } = snapshot
  return epoch === undefined || (await store.observe(repository, pull, { head, baseRef, config })) === epoch
}

export const pullChangedAndRevertedMessage = 'the pull request changed and then changed back'

/** Whether two snapshots lead to the same verdict, ignoring the order of GitHub's lists. */
export function areSnapshotsEquivalent(a: PullSnapshot, b: PullSnapshot): boolean {
  const text = (snapshot: PullSnapshot) =>
    JSON.stringify(toComparableSnapshot(snapshot), sortJsonKeysReplacer)
  return text(a) === text(b)
}

/**
 * Whether the pull requests that the merge would close are unchanged since the evaluation. Later changes go undetected,
 * because GitHub does not support such a condition for a push.
 */
async function areAutoClosedPullsUnchanged(
  { snapshot, carried }: EvaluatedPullSnapshot,
  forge: PullSnapshotReader,
): Promise<boolean> {
  if (carried === undefined || !canMergeCloseOtherPulls(carried.commits)) return true
  const now = findPullsClosedByMerge(await forge.openPulls(), carried.commits, snapshot)
  const facts = (affected: typeof now) =>
    JSON.stringify(affected.map(({ open: { updatedAt: _, ...state }, by }) => [state, by]))
  return facts(now) === facts(carried.affected)
}

/** A database returns keys in another order. */
function sortJsonKeysReplacer(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function toComparableSnapshot(snapshot: PullSnapshot) {
  const byId = (a: { id: number }, b: { id: number }) => a.id - b.id
  return {
    ...snapshot,
    labels: snapshot.labels.toSorted(),
    reviews: snapshot.reviews.toSorted(byId),
    // catalog-bot edits its comment while it works. Comments by people can be commands, so they must be unchanged.
    comments: snapshot.comments
      .filter(({ author }) => author?.kind === 'user')
      // GitHub's APIs can return two forms of a comment's global id.
      .map(({ node: _, ...comment }) => comment)
      .toSorted(byId),
  }
}
