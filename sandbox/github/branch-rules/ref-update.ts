// A requested update of a ref, before the ref moves: the input of every rule.
import type { ApiCaller } from '../http/caller.ts'
import type { MergeMethod, MockPull, MockRepository } from '../github-data.ts'

export interface RefUpdate {
  readonly repo: MockRepository
  /** The location of its objects: the repository itself, or the quarantine of a push. */
  readonly path: string
  readonly ref: string
  /** Undefined: the ref is created. */
  readonly old: string | undefined
  /** Undefined: the ref is deleted. */
  readonly now: string | undefined
  readonly by: ApiCaller
  /** Set when GitHub itself merges a pull request. Otherwise the update is a push, or its REST equivalent. */
  readonly merge?: {
    readonly pull: MockPull
    readonly method: MergeMethod
    /** Set if the pull request merges through the merge queue. */
    readonly queued?: boolean
  }
}

/** An update with a new commit, not a deletion. */
export type NonDeletingRefUpdate = RefUpdate & { readonly now: string }

/** One of GitHub's messages, and the commits that it refers to. */
export interface RuleViolation {
  readonly message: string
  readonly commits?: readonly string[]
}

export const getBranchName = ({ ref }: RefUpdate): string => ref.replace('refs/heads/', '')
