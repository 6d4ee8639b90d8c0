// A branch's requirements for pushes and merges, in our terms. choose-merge-strategy.ts decides what follows from it.

export type MergeMethod = 'merge' | 'squash' | 'rebase'

export interface RequiredCheck {
  readonly name: string
  /** The only App that may report it. Absent: a check or status of this name from anyone counts. */
  readonly app?: number
}

/** "Require a pull request before merging". */
export interface PullRequestRequirement {
  readonly approvals: number
  /** True where GitHub compares the tree of a pushed merge with that of its test merge (`refs/pull/N/merge`). */
  readonly dismissesStale: boolean
  readonly lastPushApproval: boolean
  readonly codeOwners: boolean
  readonly conversations: boolean
}

export interface MergeQueueSettings {
  readonly method: MergeMethod
  readonly largestGroup: number
}

export interface BranchRules {
  readonly branch: string
  /** A person's repository has no merge queue, and no App on a bypass list. */
  readonly owner: 'user' | 'organization'
  /** Required checks of all rules together, each name and App once. `strict`: the head must contain the base. */
  readonly checks: { readonly required: readonly RequiredCheck[]; readonly strict: boolean }
  readonly pullRequest?: PullRequestRequirement
  /** A list limits who may move the branch, and our App is not on it. */
  readonly closedToUs: boolean
  /**
   * A list limits who may push, and our App is on it for pull requests only: GitHub's merge passes, a push does not.
   */
  readonly closedToPushes: boolean
  /** A list limits who may move the branch, and our App is on it. */
  readonly reservedForUs: boolean
  readonly locked: boolean
  readonly linearHistory: boolean
  readonly signatures: boolean
  readonly mergeQueue: boolean
  /** Present where `mergeQueue` is and its rule says so. */
  readonly queue?: MergeQueueSettings
  /** A `workflows` rule: pushes are refused whatever they contain. */
  readonly workflows: boolean
  /** GitHub's names of rules whose effect on a push is unknown (`code_scanning`, `required_deployments`, ...). */
  readonly others: readonly string[]
  readonly mergeMethods: readonly MergeMethod[]
  /** GitHub's names of rules that keep us from creating or deleting a temporary branch (temporary-branch.ts). */
  readonly temporaryBranch: readonly string[]
  /** What we could not read, in words: rules may exist that are not listed above. */
  readonly unread: readonly string[]
}
