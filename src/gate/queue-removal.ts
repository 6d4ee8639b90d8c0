// Why GitHub's merge queue removed a pull request. The `dequeued` webhook and the timeline spell the reasons
// differently.

export interface QueueRemoval {
  readonly id: string
  readonly reason: string
  /** ISO 8601 in UTC. */
  readonly at: string
  /** The person who removed it. Absent: GitHub or an App did. */
  readonly by?: string
}

/** From GitHub's webhook schema (`pull_request.dequeued`) and, for the timeline, djinnos/djinn#768. */
const removalMessageByReason: Readonly<Record<string, string>> = {
  MANUAL: 'it was removed from the merge queue',
  DEQUEUED: 'it was removed from the merge queue',
  MERGE: 'the merge queue merged it',
  MERGED: 'the merge queue merged it',
  ALREADY_MERGED: 'it was merged already',
  MERGE_CONFLICT: 'it conflicts with what is before it in the merge queue',
  CI_FAILURE: 'a required check failed in the merge queue',
  FAILED_CHECKS: 'a required check failed in the merge queue',
  CI_TIMEOUT: 'a required check did not report in time in the merge queue',
  QUEUE_CLEARED: 'the merge queue was cleared',
  ROLL_BACK: 'the merge queue rolled its group back',
  BRANCH_PROTECTIONS: 'it does not meet the rules of the branch',
  GIT_TREE_INVALID: 'GitHub could not make a valid tree of it in the merge queue',
  INVALID_MERGE_COMMIT: 'GitHub could not make a valid merge commit of it in the merge queue',
  BRANCH_INVALIDATED: 'the branch changed under the merge queue',
}

const normalizeReason = ({ reason }: Pick<QueueRemoval, 'reason'>) =>
  reason.trim().toUpperCase().replace(/[ -]/g, '_')

/** A clause without a full stop. */
export function formatQueueRemoval(removal: Pick<QueueRemoval, 'reason'> | undefined): string {
  return (
    (removal && removalMessageByReason[normalizeReason(removal)]) ??
    'the merge queue let it go without a reason'
  )
}

/** Whether a person removed it, unless it left by being merged. */
export function isRemovedByPerson(removal: QueueRemoval): removal is QueueRemoval & { readonly by: string } {
  return removal.by !== undefined && !['MERGE', 'MERGED', 'ALREADY_MERGED'].includes(normalizeReason(removal))
}
