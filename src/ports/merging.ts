// GitHub's own ways to put a pull request onto its base branch, and to read what became of it. Whatever can move a base
// branch takes a merge permit; nothing here is ever repeated by itself (T39).
import type { CommitSha, PullNumber } from '../change/ids.ts'
import type { MergeMethod } from '../gate/branch-rules.ts'
import type { MergePermit } from '../gate/merge-permit.ts'
import type { QueueRemoval } from '../gate/queue-removal.ts'

/** What GitHub said to something that it was asked to do once. */
export type Answer =
  | { readonly kind: 'done' }
  /** Head or base were not what they should have been: nothing was done, start again. */
  | { readonly kind: 'race'; readonly why: string }
  | { readonly kind: 'refused'; readonly words: RefusalWords }

/** GitHub's own words, as the interface gave them that was asked. */
export type RefusalWords =
  | { readonly by: 'rest'; readonly status: number; readonly message: string }
  | {
      readonly by: 'graphql'
      readonly errors: readonly { readonly type?: string | undefined; readonly message: string }[]
    }

export interface MergeText {
  /** One line. */
  readonly title: string
  readonly body: string
}

/** A pull request, as far as it shows what became of a landing. */
export interface PullOutcome {
  readonly head: CommitSha
  readonly isOpen: boolean
  /** What GitHub names as its merge, once it is merged. */
  readonly merged?: CommitSha
  readonly mergedBy?: string
  /** Who enabled GitHub's auto-merge, where that is on. */
  readonly autoMergeBy?: string
}

/** A pull request in its branch's merge queue. */
export interface QueuedPull {
  readonly pull: PullNumber
  readonly head: CommitSha
  /** What GitHub made of it and of those before it; absent until it is made. */
  readonly group?: { readonly head: CommitSha; readonly base: CommitSha }
}

/** A commit with the permit's parents and tree, made and signed by GitHub. */
export interface SignedCommit {
  readonly commit: CommitSha
  /** Why GitHub does not verify it; absent: it does. */
  readonly unverified?: string
}

/** One repository on GitHub. Every method rejects with a ForgeError when nobody knows whether it was done. */
export interface Merging {
  /** `PUT merge`, pinned to the permit's head. GitHub pins no base: what landed must be read and compared afterwards. */
  merge(permit: MergePermit, method: MergeMethod, text: MergeText): Promise<Answer>
  /** Puts the pull request into the merge queue with the permit's head. One that is in it already is done. */
  enqueue(permit: MergePermit): Promise<Answer>
  /** Takes a pull request out of the queue; one that is not in it is fine. */
  dequeue(pull: PullNumber): Promise<void>
  /** Makes a commit with the permit's parents and tree, which must be on GitHub already. Moves nothing. */
  sign(permit: MergePermit, message: string): Promise<SignedCommit>
  /** Moves the landing's own temporary branch, which is there already, to a commit that GitHub made. */
  moveStaged(permit: MergePermit, commit: CommitSha): Promise<void>
  /** Branches whose names begin so, with their tips. */
  branchesBelow(prefix: string): Promise<readonly { readonly name: string; readonly tip: CommitSha }[]>
  /** What became of a pull request, read anew. Undefined when it does not exist. */
  outcomeOf(pull: PullNumber): Promise<PullOutcome | undefined>
  /** The last time that a pull request left its merge queue. Undefined when it never did. */
  queueRemoval(pull: PullNumber): Promise<QueueRemoval | undefined>
  /** A branch's merge queue, first to last. */
  queueOf(branch: string): Promise<readonly QueuedPull[]>
}
