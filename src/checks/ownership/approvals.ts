// Which yes counts: reviews and commands as approvals, each bound to head, base branch, epoch and what the change does
// (I4).
// A later review of the same person replaces an earlier one, a dismissed one counts as none, and there is no way
// back to an older one (T28). Nobody approves their own change, and no App does for anybody (T35).
import type { Review, Snapshot } from '../../change/snapshot.ts'
import type { Approval } from '../approval.ts'
import { isAgreedTo, type Coverage } from './coverage.ts'
import { loginOf } from './principal.ts'

/**
 * The latest review of each person that says yes or no, by account id. Comments say neither.
 * Ordered by when GitHub took them in; the id decides where that is equal.
 */
export function latestReviews(reviews: readonly Review[]): readonly Review[] {
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
 * review of an earlier epoch stays in it, even when the head has come back to the commit it was for (T21). `agreed`
 * says what the change was to each reviewer, by the review's id; a review without it agrees to nothing.
 */
export function approvalsFromReviews(
  snapshot: Snapshot,
  epoch: number,
  seen: ReadonlyMap<number, number>,
  agreed: ReadonlyMap<number, Coverage>,
): Approval[] {
  return latestReviews(snapshot.reviews).flatMap((review): Approval[] => {
    const { author, commit } = review
    if (review.state !== 'approved' || author === null || commit === null) return []
    const covers = agreed.get(review.id)
    return [
      {
        user: author.id,
        login: loginOf(author),
        head: commit,
        baseRef: snapshot.baseRef,
        epoch: seen.get(review.id) ?? epoch,
        source: 'review',
        sourceId: review.id,
        ...(covers && { covers }),
      },
    ]
  })
}

/** People other than the author whose last word is that changes are needed, from whatever head. */
export function objections(snapshot: Snapshot): readonly Review[] {
  return latestReviews(snapshot.reviews).filter(
    ({ state, author }) => state === 'changes-requested' && author?.id !== snapshot.author?.id,
  )
}

/**
 * Whether an approval is for this head, this base branch and this epoch. What the change does is looked at besides:
 * the same head can do something else.
 */
export function isOfState(approval: Approval, snapshot: Snapshot, epoch: number): boolean {
  return approval.head === snapshot.head && approval.baseRef === snapshot.baseRef && approval.epoch === epoch
}

/** Whether an approval is for exactly this state of the pull request, and for all that the change does in it. */
export function isCurrent(
  approval: Approval,
  snapshot: Snapshot,
  epoch: number,
  now: () => Coverage,
): boolean {
  return (
    isOfState(approval, snapshot, epoch) &&
    approval.covers !== undefined &&
    isAgreedTo(now(), approval.covers)
  )
}
