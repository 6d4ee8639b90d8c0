// How a pull request is merged into its base branch. docs/explanation/merging.md has a table.
import type { MergeMethod } from './branch-rules.ts'
import { toPullNumber, type PullNumber } from '../pull-request/ids.ts'
import type { ValidatedMerge } from './merge-permit.ts'

export type MergeStrategy =
  /**
   * Compare-and-swap push of the validated merge commit. `checksFirst`: first add catalog-bot's checks to that commit on a
   * temporary branch, because GitHub counts the checks of the pushed commit. `signed`: create the commit with GitHub's API,
   * which signs an App's commits.
   */
  | { readonly kind: 'push'; readonly checksFirst: boolean; readonly signed: boolean }
  /**
   * `PUT merge`, pinned to the head. GitHub does not pin the base, so the resulting tree is compared with the validated
   * tree.
   */
  | { readonly kind: 'github-merge'; readonly method: MergeMethod }
  /** GitHub's merge queue. catalog-bot's checks evaluate the commit of each group. */
  | { readonly kind: 'queue' }

export interface MergePlan {
  /** Absent if no method works; `missing` lists the reasons. */
  readonly method?: MergeStrategy
  /**
   * Whether GitHub accepts a pushed merge only if its tree equals the tree of `refs/pull/N/merge`. If the trees differ,
   * catalog-bot does not merge.
   */
  readonly needsGitHubsTree: boolean
  /** Explains the choice to maintainers. Like the fields below, clauses without a period. */
  readonly because: string
  /** Requirements of the branch that the App does not meet, each with a fix. */
  readonly missing: readonly string[]
  /** Requirements for each pull request that users and other Apps must meet. */
  readonly conditions: readonly string[]
  readonly faster: readonly string[]
  readonly unsure: readonly string[]
}

/**
 * Temporary branches that hold merges on GitHub while checks are added. The common prefix lets rulesets exclude them.
 */
export const temporaryBranchPrefix = 'catalog-bot/tmp-'

/** The pattern for the `exclude` list of a ruleset. */
export const temporaryBranchPattern = `refs/heads/${temporaryBranchPrefix}*`

export const mergeQueueBranchPrefix = 'gh-readonly-queue/'

/** Ends with the commit's first digits to avoid collisions with other branches. */
export function formatTemporaryBranchName(
  merge: Pick<ValidatedMerge, 'pull' | 'baseRef' | 'commit'>,
): string {
  const { pull, baseRef, commit } = merge
  // No slash, because `tmp-*` in a ruleset does not match across slashes.
  return `${temporaryBranchPrefix}${pull}-${encodeURIComponent(baseRef)}-${commit.slice(0, 12)}`
}

/** Parses a temporary branch's name; undefined for every other branch. */
export function parseTemporaryBranchName(
  branch: string,
): { readonly pull: PullNumber; readonly baseRef: string } | undefined {
  if (!branch.startsWith(temporaryBranchPrefix)) return undefined
  const [, number, name] =
    /^([1-9]\d{0,8})-(.+)-[0-9a-f]{12}$/.exec(branch.slice(temporaryBranchPrefix.length)) ?? []
  if (number === undefined || name === undefined) return undefined
  const baseRef = tryDecodeUri(name)
  // Accept only names that formatTemporaryBranchName() returns.
  return baseRef === undefined || encodeURIComponent(baseRef) !== name
    ? undefined
    : { pull: toPullNumber(Number(number)), baseRef }
}

function tryDecodeUri(name: string): string | undefined {
  try {
    return decodeURIComponent(name)
  } catch {
    return undefined
  }
}

/**
 * Why GitHub's merge queue removed a pull request. The `dequeued` webhook and the timeline spell the reasons
 * differently.
 */
export interface MergeQueueRemoval {
  readonly id: string
  readonly reason: string
  /** ISO 8601 in UTC. */
  readonly at: string
  /** The user who removed it. Absent if GitHub or an App removed it. */
  readonly by?: string
}

/** From GitHub's webhook schema (`pull_request.dequeued`) and, for the timeline, djinnos/djinn#768. */
const mergeQueueRemovalMessageByReason: Readonly<Record<string, string>> = {
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

const normalizeMergeQueueRemovalReason = ({ reason }: Pick<MergeQueueRemoval, 'reason'>) =>
  reason.trim().toUpperCase().replace(/[ -]/g, '_')

/** A clause without a period. */
export function formatMergeQueueRemoval(removal: Pick<MergeQueueRemoval, 'reason'> | undefined): string {
  return (
    (removal && mergeQueueRemovalMessageByReason[normalizeMergeQueueRemovalReason(removal)]) ??
    'the merge queue removed the pull request without giving a reason'
  )
}

/** Whether a user removed it. False if it left the queue because it was merged. */
export function isMergeQueueRemovalByUser(
  removal: MergeQueueRemoval,
): removal is MergeQueueRemoval & { readonly by: string } {
  return (
    removal.by !== undefined &&
    !['MERGE', 'MERGED', 'ALREADY_MERGED'].includes(normalizeMergeQueueRemovalReason(removal))
  )
}
