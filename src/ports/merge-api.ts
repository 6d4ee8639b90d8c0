// GitHub's own ways to merge a pull request and to read the result. Calls that can move a base branch take a merge
// permit; none is repeated automatically (T39).
import type { CommitSha, PullNumber } from '../change/ids.ts'
import type { MergeMethod } from '../gate/branch-rules.ts'
import type { MergePermit } from '../gate/merge-permit.ts'
import type { QueueRemoval } from '../gate/queue-removal.ts'

/** GitHub's answer to a single request. */
export type MergeResponse =
  | { readonly kind: 'done' }
  /** Head or base had moved. Nothing was done; start again. */
  | { readonly kind: 'race'; readonly why: string }
  | { readonly kind: 'refused'; readonly rejection: RejectionMessage }

/** GitHub's words as REST or GraphQL gave them. */
export type RejectionMessage =
  | { readonly by: 'rest'; readonly status: number; readonly message: string }
  | {
      readonly by: 'graphql'
      readonly errors: readonly { readonly type?: string | undefined; readonly message: string }[]
    }

export interface MergeCommitMessage {
  readonly title: string
  readonly body: string
}

/** What a pull request shows of a landing's result. */
export interface PullMergeState {
  readonly head: CommitSha
  readonly isOpen: boolean
  /** The merge commit that GitHub names. */
  readonly merged?: CommitSha
  readonly mergedBy?: string
  /** Who enabled auto-merge, if it is on. */
  readonly autoMergeBy?: string
}

export interface MergeQueueEntry {
  readonly pull: PullNumber
  readonly head: CommitSha
  /** GitHub's merge of this entry and those before it, once made. */
  readonly group?: { readonly head: CommitSha; readonly base: CommitSha }
}

/** GitHub's signed commit with the permit's parents and tree. */
export interface SignedCommit {
  readonly commit: CommitSha
  /** Why GitHub doesn't verify it. Absent: it does. */
  readonly unverified?: string
}

/** Methods reject with a ForgeError when the outcome is unknown. */
export interface MergeApi {
  /** `PUT merge`, pinned to the permit's head. GitHub pins no base, so compare the result afterwards. */
  merge(permit: MergePermit, method: MergeMethod, text: MergeCommitMessage): Promise<MergeResponse>
  /** Enqueues the permit's head. Being in the queue already counts as done. */
  enqueue(permit: MergePermit): Promise<MergeResponse>
  /** Removes a pull request from the queue, if it is there. */
  dequeue(pull: PullNumber): Promise<void>
  /** Makes a commit with the permit's parents and tree, which must be on GitHub. Moves nothing. */
  createSignedCommit(permit: MergePermit, message: string): Promise<SignedCommit>
  /** Moves the landing's existing temporary branch to a commit that GitHub made. */
  moveStagingBranch(permit: MergePermit, commit: CommitSha): Promise<void>
  /** Branches with this prefix and their tips. */
  listBranchesWithPrefix(
    prefix: string,
  ): Promise<readonly { readonly name: string; readonly tip: CommitSha }[]>
  /** Read fresh. Undefined: the pull request doesn't exist. */
  readMergeState(pull: PullNumber): Promise<PullMergeState | undefined>
  /** When a pull request last left its merge queue. Undefined: never. */
  readQueueRemoval(pull: PullNumber): Promise<QueueRemoval | undefined>
  /** A branch's merge queue in order. */
  readMergeQueue(branch: string): Promise<readonly MergeQueueEntry[]>
}
