// Why GitHub's merge queue removed a pull request. The `dequeued` webhook and the timeline spell the reasons
// differently.

export interface QueueRemoval {
  readonly id: string
  readonly reason: string
  /** ISO 8601 in UTC. */
  readonly at: string
  /** The person who removed it. Absent if GitHub or an App removed it. */
  readonly by?: string
}

/** From GitHub's webhook schema (`pull_request.dequeued`) and, for the timeline, djinnos/djinn#768. */
const queueRemovalMessageByReason: Readonly<Record<string, string>> = {
  MANUAL: 'the pull request was removed from the merge queue',
  DEQUEUED: 'the pull request was removed from the merge queue',
  MERGE: 'the merge queue merged the pull request',
  MERGED: 'the merge queue merged the pull request',
  ALREADY_MERGED: 'the pull request was already merged',
  MERGE_CONFLICT: 'the pull request conflicts with an earlier one in the merge queue',
  CI_FAILURE: 'a required check failed in the merge queue',
  FAILED_CHECKS: 'a required check failed in the merge queue',
  CI_TIMEOUT: 'a required check timed out in the merge queue',
  QUEUE_CLEARED: 'the merge queue was cleared',
  ROLL_BACK: 'the merge queue rolled back the group that contained this pull request',
  BRANCH_PROTECTIONS: 'the pull request does not satisfy the branch rules',
  GIT_TREE_INVALID: 'GitHub could not create a valid tree for the pull request in the merge queue',
  INVALID_MERGE_COMMIT:
    'GitHub could not create a valid merge commit for the pull request in the merge queue',
  BRANCH_INVALIDATED: 'the branch changed while the pull request was in the merge queue',
}

const normalizeQueueRemovalReason = ({ reason }: Pick<QueueRemoval, 'reason'>) =>
  reason.trim().toUpperCase().replace(/[ -]/g, '_')

/** A clause without a period. */
export function formatQueueRemoval(removal: Pick<QueueRemoval, 'reason'> | undefined): string {
  return (
    (removal && queueRemovalMessageByReason[normalizeQueueRemovalReason(removal)]) ??
    'the merge queue removed the pull request without giving a reason'
  )
}

/** Whether a person removed it. False if it left the queue because it was merged. */
export function isQueueRemovalByPerson(
  removal: QueueRemoval,
): removal is QueueRemoval & { readonly by: string } {
  return (
    removal.by !== undefined &&
    !['MERGE', 'MERGED', 'ALREADY_MERGED'].includes(normalizeQueueRemovalReason(removal))
  )
}
