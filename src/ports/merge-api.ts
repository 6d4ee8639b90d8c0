// GitHub's API for merging a pull request and reading the result. Calls that can move a base branch require a merge permit,
// and are never retried automatically (docs/dev/threats.md#t39).
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import type { MergeMethod } from '../policy/branch-rules.ts'
import type { MergePermit } from '../policy/merge-permit.ts'
import type { MergeQueueRemoval } from '../policy/merge-strategy.ts'

/** GitHub's answer to a single request. */
export type MergeApiResponse =
  | { readonly kind: 'done' }
  /** Head or base had moved. Nothing was done; start again. */
  | { readonly kind: 'race'; readonly why: string }
  | { readonly kind: 'refused'; readonly rejection: MergeRejectionMessage }

/** GitHub's message from REST or GraphQL. */
export type MergeRejectionMessage =
  | { readonly by: 'rest'; readonly status: number; readonly message: string }
  | {
      readonly by: 'graphql'
      readonly errors: readonly { readonly type?: string | undefined; readonly message: string }[]
    }

export interface MergeCommitMessage {
  readonly title: string
  readonly body: string
}

/** The result of a merge as the pull request shows it. */
export interface PullMergeState {
  readonly head: CommitSha
  readonly isOpen: boolean
  /** The merge commit according to GitHub. */
  readonly merged?: CommitSha
  readonly mergedBy?: string
  /** The user who enabled auto-merge, if it is enabled. */
  readonly autoMergeBy?: string
}

export interface MergeQueueEntry {
  readonly pull: PullNumber
  readonly head: CommitSha
  /** GitHub's merge of this entry and those before it, once it exists. */
  readonly group?: { readonly head: CommitSha; readonly base: CommitSha }
}

/** GitHub's signed commit with the permit's parents and tree. */
export interface SignedCommit {
  readonly commit: CommitSha
  /** Why GitHub doesn't verify the signature. Absent if it does. */
  readonly unverified?: string
}

/** Methods reject with a ForgeError if the outcome is unknown. */
export interface MergeApi {
  /** `PUT merge`, pinned to the permit's head. GitHub doesn't pin the base, so compare the result afterwards. */
  merge(permit: MergePermit, method: MergeMethod, text: MergeCommitMessage): Promise<MergeApiResponse>
  /** Enqueues the permit's head. Succeeds if it is already in the queue. */
  enqueue(permit: MergePermit): Promise<MergeApiResponse>
  /** Removes a pull request from the queue, if it is in it. */
  dequeue(pull: PullNumber): Promise<void>
  /** Creates a commit with the permit's parents and tree, which must exist on GitHub. Does not move a branch. */
  createSignedCommit(permit: MergePermit, message: string): Promise<SignedCommit>
  /** Moves the existing temporary branch of a merge to a commit that GitHub created. */
  moveStagingBranch(permit: MergePermit, commit: CommitSha): Promise<void>
  /** The branches with this prefix, and their tips. */
  listBranchesWithPrefix(
    prefix: string,
  ): Promise<readonly { readonly name: string; readonly tip: CommitSha }[]>
  /** Not cached. Undefined if the pull request doesn't exist. */
  readMergeState(pull: PullNumber): Promise<PullMergeState | undefined>
  /** When a pull request last left its merge queue. Undefined if it never did. */
  readQueueRemoval(pull: PullNumber): Promise<MergeQueueRemoval | undefined>
  /** The merge queue of a branch, in order. */
  readMergeQueue(branch: string): Promise<readonly MergeQueueEntry[]>
}
