// The last look before a landing: GitHub says the same as when the permit was made out.
import type { Snapshot } from '../change/snapshot.ts'
import { mayMeetPulls, pullsMet } from '../examine/closed-pulls.ts'
import type { Forge } from '../ports/forge.ts'
import type { Examined } from './landing-options.ts'

/** Why the permit holds no more; undefined: it holds. */
export async function whatChanged(examined: Examined, forge: Forge): Promise<string | undefined> {
  const fresh = await forge.readSnapshot(examined.snapshot.pull, { anew: true })
  if (fresh === null || !saysTheSame(fresh, examined.snapshot)) return 'the pull request has changed'
  if (!(await meetsTheSame(examined, forge)))
    return 'it would close other pull requests than those that were judged'
  return undefined
}

/** Whether two snapshots lead to the same verdict: everything but the order of what GitHub lists. */
function saysTheSame(a: Snapshot, b: Snapshot): boolean {
  return JSON.stringify(comparable(a)) === JSON.stringify(comparable(b))
}

/**
 * Whether the pull requests that the landing would close are those that were judged, in the state in which they were.
 * One that is opened or pushed to between this and the push is closed unseen: GitHub offers no such condition for a push.
 */
async function meetsTheSame({ snapshot, carried }: Examined, forge: Forge): Promise<boolean> {
  if (carried === undefined || !mayMeetPulls(carried.commits)) return true
  const now = pullsMet(await forge.openPulls(), carried.commits, snapshot)
  const facts = (met: typeof now) =>
    JSON.stringify(met.map(({ open: { updatedAt: _, ...state }, by }) => [state, by]))
  return facts(now) === facts(carried.met)
}

function comparable(snapshot: Snapshot) {
  const byId = (a: { id: number }, b: { id: number }) => a.id - b.id
  return {
    ...snapshot,
    labels: snapshot.labels.toSorted(),
    reviews: snapshot.reviews.toSorted(byId),
    // The bot's own comment changes while it works; comments of people are commands and must still be as they were.
    comments: snapshot.comments.filter(({ author }) => author?.kind === 'user').toSorted(byId),
  }
}
