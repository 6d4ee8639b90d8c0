// Decides which reviews and commands count as approvals. A later review replaces an earlier one by the same account. A
// dismissed review does not count, and a replaced one never becomes valid again. Authors cannot approve their own
// change, and Apps cannot approve.
import type { PullReview, PullSnapshot } from '../../pull-request/snapshot.ts'
import type { Approval } from '../approval.ts'
import { isChangeCoveredByApproval, type ApprovalCoverage } from './coverage.ts'
import { normalizeLogin } from './principal.ts'

/** Each person's latest review that approves or requests changes, by account id, in order of submission, then id. */
export function findLatestReviews(reviews: readonly PullReview[]): readonly PullReview[] {
  const last = new Map<number, PullReview>()
  const inOrder = reviews.toSorted(
    (a, b) => (a.submittedAt < b.submittedAt ? -1 : a.submittedAt > b.submittedAt ? 1 : 0) || a.id - b.id,
  )
  for (const review of inOrder)
    if (review.author !== null && review.state !== 'commented') last.set(review.author.id, review)
  return [...last.values()]
}

/**
 * Approvals of the current head by review. `firstSeenEpochs`: by review id; a review keeps its
 * epoch even if the head returns to its commit. `agreed`: what the change did for each review id; without it an
 * approval covers nothing.
 */
export function createApprovalsFromReviews(
  snapshot: PullSnapshot,
  epoch: number,
  firstSeenEpochs: ReadonlyMap<number, number>,
  agreed: ReadonlyMap<number, ApprovalCoverage>,
): Approval[] {
  return findLatestReviews(snapshot.reviews).flatMap((review): Approval[] => {
    const { author, commit } = review
    if (review.state !== 'approved' || author === null || commit === null) return []
    const covers = agreed.get(review.id)
    return [
      {
        user: author.id,
        login: normalizeLogin(author),
        head: commit,
        baseRef: snapshot.baseRef,
        epoch: firstSeenEpochs.get(review.id) ?? epoch,
        source: 'review',
        sourceId: review.id,
        ...(covers && { covers }),
      },
    ]
  })
}

/** Reviews by accounts other than the author that request changes and are the account's latest, for any head. */
export function findChangesRequestedReviews(snapshot: PullSnapshot): readonly PullReview[] {
  return findLatestReviews(snapshot.reviews).filter(
    ({ state, author }) => state === 'changes-requested' && author?.id !== snapshot.author?.id,
  )
}

/** Whether an approval is for this head, base branch and epoch. Does not compare what the change does. */
export function isApprovalForSnapshot(approval: Approval, snapshot: PullSnapshot, epoch: number): boolean {
  return approval.head === snapshot.head && approval.baseRef === snapshot.baseRef && approval.epoch === epoch
}

/** Whether an approval is for exactly this state and everything that the change does in it. */
export function isCurrentApproval(
  approval: Approval,
  snapshot: PullSnapshot,
  epoch: number,
  now: () => ApprovalCoverage,
): boolean {
  return (
    isApprovalForSnapshot(approval, snapshot, epoch) &&
    approval.covers !== undefined &&
    isChangeCoveredByApproval(now(), approval.covers)
  )
}
