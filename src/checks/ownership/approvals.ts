// Which yes counts: reviews and commands as approvals, each bound to head, base branch and epoch (I4).
// A later review of the same person replaces an earlier one, a dismissed one counts as none, and there is no way
// back to an older one (T28). Nobody approves their own change, and no App does for anybody (T35).
import type { Change, TouchedPath } from '../../change/change.ts'
import type { Review, Snapshot } from '../../change/snapshot.ts'
import type { Approval } from '../approval.ts'
import { loginOf } from './principal.ts'

/**
 * The latest review of each person that says yes or no, by account id. Comments say neither.
 * Ordered by when GitHub took them in; the id decides where that is equal.
 */
export function lastWords(reviews: readonly Review[]): readonly Review[] {
  const last = new Map<number, Review>()
  const inOrder = reviews.toSorted(
    (a, b) => (a.submittedAt < b.submittedAt ? -1 : a.submittedAt > b.submittedAt ? 1 : 0) || a.id - b.id,
  )
  for (const review of inOrder)
    if (review.author !== null && review.state !== 'commented') last.set(review.author.id, review)
  return [...last.values()]
}

/**
 * Approvals by review of the head as it is. `seen` says in which epoch each review was first seen, by its id: a
 * review of an earlier epoch stays in it, even when the head has come back to the commit it was for (T21).
 */
export function approvalsFromReviews(
  snapshot: Snapshot,
  epoch: number,
  seen: ReadonlyMap<number, number> = new Map(),
): Approval[] {
  return lastWords(snapshot.reviews).flatMap((review): Approval[] => {
    const { author, commit } = review
    if (review.state !== 'approved' || author === null || commit === null) return []
    return [
      {
        user: author.id,
        login: loginOf(author),
        head: commit,
        baseRef: snapshot.baseRef,
        epoch: seen.get(review.id) ?? epoch,
        source: 'review',
        sourceId: review.id,
      },
    ]
  })
}

/** People other than the author whose last word is that changes are needed, from whatever head. */
export function objections(snapshot: Snapshot): readonly Review[] {
  return lastWords(snapshot.reviews).filter(
    ({ state, author }) => state === 'changes-requested' && author?.id !== snapshot.author?.id,
  )
}

/** Whether an approval is for exactly this state of the pull request. */
export function isCurrent(approval: Approval, snapshot: Snapshot, epoch: number): boolean {
  return approval.head === snapshot.head && approval.baseRef === snapshot.baseRef && approval.epoch === epoch
}

/**
 * What the change does to each package directory, as text that is equal exactly when paths, modes and blobs on
 * both sides are. Paths outside packages are under ''.
 */
export function coverage(change: Change): ReadonlyMap<string, string> {
  const lines = new Map<string, string[]>()
  for (const path of change.paths) {
    const directory = 'directory' in path.role ? (path.role.directory ?? '') : ''
    const list = lines.get(directory) ?? []
    list.push(side(path))
    lines.set(directory, list)
  }
  return new Map([...lines].map(([directory, list]) => [directory, list.toSorted().join('\n')]))
}

function side({ path, before, after }: TouchedPath): string {
  const text = (entry: TouchedPath['before']): string => (entry ? `${entry.mode} ${entry.oid}` : 'none')
  return `${JSON.stringify(path)} ${text(before)} ${text(after)}`
}
