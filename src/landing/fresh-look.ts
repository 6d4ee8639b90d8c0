// The last look before a landing: GitHub says the same as when the permit was made out.
import type { PullNumber } from '../change/ids.ts'
import type { Snapshot } from '../change/snapshot.ts'
import { mayMeetPulls, pullsMet } from '../examine/closed-pulls.ts'
import type { Landing } from '../gate/merge-permit.ts'
import type { Forge } from '../ports/forge.ts'
import type { PullMemory } from '../ports/pull-memory.ts'
import type { Examined } from './landing-options.ts'

type Asking = Pick<Forge, 'readSnapshot' | 'openPulls'>

/** Why the permit holds no more; undefined: it holds. */
export async function whatChanged(
  examined: Examined,
  forge: Asking,
  /** Of what is to stand on commits that the branch does not have yet, the base is no part of the question. */
  instead: Pick<Snapshot, 'base'> | Record<never, never> = {},
): Promise<string | undefined> {
  const fresh = await forge.readSnapshot(examined.snapshot.pull, { anew: true })
  if (fresh === null || !saysTheSame({ ...fresh, ...instead }, examined.snapshot))
    return 'the pull request has changed'
  return whoIsMet(examined, forge)
}

/**
 * As whatChanged(), for several pull requests of a train. Those of which one request for all of them together says that they
 * are as they were have changed no more than that; every other is read as if it came alone. What their base is now the push
 * itself asks.
 */
export async function whoChanged(
  members: readonly Examined[],
  forge: Forge,
): Promise<ReadonlyMap<PullNumber, string>> {
  const same = await (forge.stillAs?.(members.map(({ snapshot }) => snapshot)) ?? new Set<PullNumber>())
  // One reading of the list of open pull requests is as fresh for all of them.
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
 * Whether it is in the epoch in which it was judged: it may have been something else meanwhile, and be again what it was.
 * Then what people said of it is of before (T21). Told by what this bot saw: of what nobody saw nothing can be said.
 */
export async function isInItsEpoch(
  { epoch, snapshot }: Examined,
  { config }: Pick<Landing, 'config'>,
  store: Pick<PullMemory, 'observe'>,
): Promise<boolean> {
  const { repository, pull, head, baseRef } = snapshot
  return epoch === undefined || (await store.observe(repository, pull, { head, baseRef, config })) === epoch
}

/** Why a permit does not hold in another epoch. */
export const wasAnother = 'the pull request was something else in between'

/** Whether two snapshots lead to the same verdict: everything but the order of what GitHub lists. */
function saysTheSame(a: Snapshot, b: Snapshot): boolean {
  const text = (snapshot: Snapshot) => JSON.stringify(comparable(snapshot), inOneOrder)
  return text(a) === text(b)
}

/**
 * Whether the pull requests that the landing would close are those that were judged, in the state in which they were.
 * One that is opened or pushed to between this and the push is closed unseen: GitHub offers no such condition for a push.
 */
async function meetsTheSame({ snapshot, carried }: Examined, forge: Asking): Promise<boolean> {
  if (carried === undefined || !mayMeetPulls(carried.commits)) return true
  const now = pullsMet(await forge.openPulls(), carried.commits, snapshot)
  const facts = (met: typeof now) =>
    JSON.stringify(met.map(({ open: { updatedAt: _, ...state }, by }) => [state, by]))
  return facts(now) === facts(carried.met)
}

/** What was kept in a database comes back with its keys in another order. */
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
    // The bot's own comment changes while it works; comments of people are commands and must still be as they were.
    comments: snapshot.comments
      .filter(({ author }) => author?.kind === 'user')
      // Of one and the same comment, GitHub's interfaces may show global ids of two forms.
      .map(({ node: _, ...comment }) => comment)
      .toSorted(byId),
  }
}
