// The last check before a landing that GitHub still shows what the permit was made for.
import type { PullNumber } from '../change/ids.ts'
import type { PullSnapshot } from '../change/snapshot.ts'
import { canAffectPulls, findAffectedPulls } from '../evaluate/closed-pulls.ts'
import type { ValidatedMerge } from '../gate/merge-permit.ts'
import type { Forge } from '../ports/forge.ts'
import type { PullMemory } from '../ports/pull-memory.ts'
import type { EvaluatedPull } from './merge-options.ts'

type SnapshotSource = Pick<Forge, 'readSnapshot' | 'openPulls'>

/** Why the permit no longer holds. Undefined: it holds. */
export async function findSnapshotChange(
  examined: EvaluatedPull,
  forge: SnapshotSource,
  /** A train member's base isn't on the branch yet, so its base isn't compared. */
  instead: Pick<PullSnapshot, 'base'> | Record<never, never> = {},
): Promise<string | undefined> {
  const fresh = await forge.readSnapshot(examined.snapshot.pull, { skipCache: true })
  if (fresh === null || !isSameSnapshot({ ...fresh, ...instead }, examined.snapshot))
    return 'the pull request has changed'
  return findAffectedPullsChange(examined, forge)
}

/**
 * findSnapshotChange() for the pull requests of a train. One joint request confirms the unchanged ones; the others are read
 * one by one. The push itself checks the base.
 */
export async function findChangedPulls(
  members: readonly EvaluatedPull[],
  forge: Forge,
): Promise<ReadonlyMap<PullNumber, string>> {
  const same = await (forge.findUnchanged?.(members.map(({ snapshot }) => snapshot)) ?? new Set<PullNumber>())
  // They share one reading of the open pull requests.
  let open: ReturnType<Forge['openPulls']> | undefined
  const source: SnapshotSource = {
    readSnapshot: (pull, how) => forge.readSnapshot(pull, how),
    openPulls: () => (open ??= forge.openPulls()),
  }
  const changed = new Map<PullNumber, string>()
  for (const examined of members) {
    const { snapshot } = examined
    const why = same.has(snapshot.pull)
      ? await findAffectedPullsChange(examined, source)
      : await findSnapshotChange(examined, source, { base: snapshot.base })
    if (why !== undefined) changed.set(snapshot.pull, why)
  }
  return changed
}

async function findAffectedPullsChange(
  examined: EvaluatedPull,
  forge: SnapshotSource,
): Promise<string | undefined> {
  return (await hasSameAffectedPulls(examined, forge))
    ? undefined
    : 'it would close other pull requests than those that were judged'
}

/**
 * Whether it is still in the epoch in which it was judged. Comments on an earlier state don't count if it changed and
 * changed back (T21). Only changes that this bot saw are known.
 */
export async function isInSameEpoch(
  { epoch, snapshot }: EvaluatedPull,
  { config }: Pick<ValidatedMerge, 'config'>,
  store: Pick<PullMemory, 'observe'>,
): Promise<boolean> {
  const { repository, pull, head, baseRef } = snapshot
  return epoch === undefined || (await store.observe(repository, pull, { head, baseRef, config })) === epoch
}

export const epochChangedMessage = 'the pull request was something else in between'

/** Whether two snapshots lead to the same verdict, ignoring the order of GitHub's lists. */
function isSameSnapshot(a: PullSnapshot, b: PullSnapshot): boolean {
  const text = (snapshot: PullSnapshot) => JSON.stringify(toComparableSnapshot(snapshot), sortKeysReplacer)
  return text(a) === text(b)
}

/**
 * Whether the pull requests that the landing would close are unchanged since they were judged. Later changes go unseen,
 * because GitHub offers no such condition for a push.
 */
async function hasSameAffectedPulls(
  { snapshot, carried }: EvaluatedPull,
  forge: SnapshotSource,
): Promise<boolean> {
  if (carried === undefined || !canAffectPulls(carried.commits)) return true
  const now = findAffectedPulls(await forge.openPulls(), carried.commits, snapshot)
  const facts = (affected: typeof now) =>
    JSON.stringify(affected.map(({ open: { updatedAt: _, ...state }, by }) => [state, by]))
  return facts(now) === facts(carried.affected)
}

/** A database returns keys in another order. */
function sortKeysReplacer(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function toComparableSnapshot(snapshot: PullSnapshot) {
  const byId = (a: { id: number }, b: { id: number }) => a.id - b.id
  return {
    ...snapshot,
    labels: snapshot.labels.toSorted(),
    reviews: snapshot.reviews.toSorted(byId),
    // The bot edits its own comment while it works. People's comments are commands and must be unchanged.
    comments: snapshot.comments
      .filter(({ author }) => author?.kind === 'user')
      // GitHub's interfaces can show two forms of a comment's global id.
      .map(({ node: _, ...comment }) => comment)
      .toSorted(byId),
  }
}
