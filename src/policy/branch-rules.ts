// A branch's requirements for pushes and merges, in catalog-bot's terms. choose-merge-strategy.ts evaluates them.

export type MergeMethod = 'merge' | 'squash' | 'rebase'

export interface RequiredCheck {
  readonly name: string
  /** The only App that can report the check. Absent: a check or status with this name counts from any source. */
  readonly app?: number
}

/** "Require a pull request before merging". */
export interface PullRequestRuleSettings {
  readonly approvals: number
  /** If true, GitHub compares the tree of a pushed merge with the tree of its test merge (`refs/pull/N/merge`). */
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
  /** A user's repository does not support merge queues or Apps on bypass lists. */
  readonly owner: 'user' | 'organization'
  /** Required checks of all rules, without duplicates. `strict`: the head must contain the base. */
  readonly checks: { readonly required: readonly RequiredCheck[]; readonly strict: boolean }
  readonly pullRequest?: PullRequestRuleSettings
  /** A list limits who can update the branch, and the App is not on it. */
  readonly closedToUs: boolean
  /**
   * A list limits who can push, and the App is on it for pull requests only. GitHub's merge passes, but a push does not.
   */
  readonly closedToPushes: boolean
  /** A list limits who can update the branch, and the App is on it. */
  readonly reservedForUs: boolean
  readonly locked: boolean
  readonly linearHistory: boolean
  readonly signatures: boolean
  readonly mergeQueue: boolean
  /** Present if `mergeQueue` is true and the rule contains the settings. */
  readonly queue?: MergeQueueSettings
  /** A `workflows` rule exists, so GitHub rejects every push. */
  readonly workflows: boolean
  /** GitHub's names of rules whose effect on a push is unknown (`code_scanning`, `required_deployments`, ...). */
  readonly others: readonly string[]
  readonly mergeMethods: readonly MergeMethod[]
  /** GitHub's names of rules that prevent creating or deleting a temporary branch (temporary-branch.ts). */
  readonly temporaryBranch: readonly string[]
  /** Descriptions of settings that could not be read. They may contain rules that are not listed above. */
  readonly unread: readonly string[]
}
