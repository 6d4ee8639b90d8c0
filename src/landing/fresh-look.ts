// The last check before a landing that GitHub still shows what the permit was made for.
import type { PullNumber } from '../change/ids.ts'
import type { Snapshot } from '../change/snapshot.ts'
import { mayMeetPulls, pullsMet } from '../examine/closed-pulls.ts'
import type { Landing } from '../gate/merge-permit.ts'
import type { Forge } from '../ports/forge.ts'
import type { PullMemory } from '../ports/pull-memory.ts'
import type { Examined } from './landing-options.ts'

type Asking = Pick<Forge, 'readSnapshot' | 'openPulls'>

/** Why the permit no longer holds. Undefined: it holds. */
export async function whatChanged(
  examined: Examined,
  forge: Asking,
  /** A train member's base isn't on the branch yet, so its base isn't compared. */
  instead: Pick<Snapshot, 'base'> | Record<never, never> = {},
): Promise<string | undefined> {
  const fresh = await forge.readSnapshot(examined.snapshot.pull, { anew: true })
  if (fresh === null || !saysTheSame({ ...fresh, ...instead }, examined.snapshot))
    return 'the pull request has changed'
  return whoIsMet(examined, forge)
}

/**
 * whatChanged() for the pull requests of a train. One joint request confirms the unchanged ones; the others are read
 * one by one. The push itself checks the base.
 */
export async function whoChanged(
  members: readonly Examined[],
  forge: Forge,
): Promise<ReadonlyMap<PullNumber, string>> {
  const same = await (forge.stillAs?.(members.map(({ snapshot }) => snapshot)) ?? new Set<PullNumber>())
  // They share one reading of the open pull requests.
  let open: ReturnType<Forge['openPulls']> | undefined
  const asking: Asking = {
    readSnapshot: (pull, how) => forge.readSnapshot(pull, how),
    openPulls: () => (open ??= forge.openPulls()),
  }
  const changed = new Map<PullNumber, string>()
  for (const examined of members) {
    const { snapshot } = examined
    const why = same.has(snapshot.pull)
      ? await whoIsMet(examined, asking)
      : await whatChanged(examined, asking, { base: snapshot.base })
    if (why !== undefined) changed.set(snapshot.pull, why)
  }
  return changed
}

async function whoIsMet(examined: Examined, forge: Asking): Promise<string | undefined> {
  return (await meetsTheSame(examined, forge))
    ? undefined
    : 'it would close other pull requests than those that were judged'
}

/**
 * Whether it is still in the epoch in which it was judged. Comments on an earlier state don't count if it changed and
 * changed back (T21). Only changes that this bot saw are known.
 */
export async function isInItsEpoch(
  { epoch, snapshot }: Examined,
  { config }: Pick<Landing, 'config'>,
  store: Pick<PullMemory, 'observe'>,
): Promise<boolean> {
  const { repository, pull, head, baseRef } = snapshot
  return epoch === undefined || (await store.observe(repository, pull, { head, baseRef, config })) === epoch
}

export const wasAnother = 'the pull request was something else in between'

/** Whether two snapshots lead to the same verdict, ignoring the order of GitHub's lists. */
function saysTheSame(a: Snapshot, b: Snapshot): boolean {
  const text = (snapshot: Snapshot) => JSON.stringify(comparable(snapshot), inOneOrder)
  return text(a) === text(b)
}

/**
 * Whether the pull requests that the landing would close are unchanged since they were judged. Later changes go unseen,
 * because GitHub offers no such condition for a push.
 */
async function meetsTheSame({ snapshot, carried }: Examined, forge: Asking): Promise<boolean> {
  if (carried === undefined || !mayMeetPulls(carried.commits)) return true
  const now = pullsMet(await forge.openPulls(), carried.commits, snapshot)
  const facts = (met: typeof now) =>
    JSON.stringify(met.map(({ open: { updatedAt: _, ...state }, by }) => [state, by]))
  return facts(now) === facts(carried.met)
}

/** A database returns keys in another order. */
function inOneOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function comparable(snapshot: Snapshot) {
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
