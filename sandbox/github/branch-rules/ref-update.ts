// An update of a ref that someone asks for, before anything moved: what every rule judges.
import type { Caller } from '../http/caller.ts'
import type { MergeMethod, MockPull, MockRepository, MockGitHubData } from '../github-data.ts'

export interface RefUpdate {
  readonly world: MockGitHubData
  readonly repo: MockRepository
  /** Where its objects are: the repository itself, or the quarantine of a push. */
  readonly path: string
  readonly ref: string
  /** Undefined: the ref is made. */
  readonly old: string | undefined
  /** Undefined: the ref is deleted. */
  readonly now: string | undefined
  readonly by: Caller
  /** Set when GitHub itself merges a pull request; without it the update is a push, or REST's word for one. */
  readonly merge?: {
    readonly pull: MockPull
    readonly method: MergeMethod
    /** Set when it waits in the merge queue for it. */
    readonly queued?: boolean
  }
}

/** An update that leads to a commit: not a deletion. */
export type NonDeletingRefUpdate = RefUpdate & { readonly now: string }

/** One sentence of GitHub's, and the commits that it is about. */
export interface RuleViolation {
  readonly message: string
  readonly commits?: readonly string[]
}

export const getBranchName = ({ ref }: RefUpdate): string => ref.replace('refs/heads/', '')
