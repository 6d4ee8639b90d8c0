// What a branch demands of whoever moves it: rulesets, classic protection and the repository's merge settings, in our own
// words and as far as they bind our App. Facts alone; what follows from them is in choose-landing-method.ts.

/** How GitHub itself can merge a pull request. */
export type MergeMethod = 'merge' | 'squash' | 'rebase'

export interface RequiredCheck {
  readonly name: string
  /** The App that alone may report it; absent: anybody's check or status of this name counts. */
  readonly app?: number
}

/** "Require a pull request before merging". */
export interface PullRequirement {
  readonly approvals: number
  /** Either makes GitHub compare the tree of a pushed merge with that of its own (`refs/pull/N/merge`). */
  readonly dismissesStale: boolean
  readonly lastPushApproval: boolean
  readonly codeOwners: boolean
  readonly conversations: boolean
}

/** How GitHub's merge queue merges. */
export interface QueueSettings {
  readonly method: MergeMethod
  /** How many pull requests it merges together at most. */
  readonly largestGroup: number
}

export interface BranchRules {
  readonly branch: string
  /** Whose repository it is: a person's has no merge queue, and no App on a bypass list. */
  readonly owner: 'user' | 'organization'
  /** Required checks of all rules together, each name and App once. `strict`: the head must contain the base. */
  readonly checks: { readonly required: readonly RequiredCheck[]; readonly strict: boolean }
  readonly pullRequest?: PullRequirement
  /** Only those on a list may move the branch, and our App is not on it. */
  readonly closedToUs: boolean
  /** Only those on a list may push, and our App is on it for pull requests alone: GitHub's merge passes, a push does not. */
  readonly closedToPushes: boolean
  /** Only those on a list may move the branch, and our App is on it. */
  readonly reservedForUs: boolean
  readonly locked: boolean
  readonly linearHistory: boolean
  readonly signatures: boolean
  readonly mergeQueue: boolean
  /** Present where `mergeQueue` is and its rule says so. */
  readonly queue?: QueueSettings
  /** A `workflows` rule: pushes are refused whatever they contain. */
  readonly workflows: boolean
  /** Rules that we do not know, or that nobody knows the effect of on a push (`code_scanning`, `required_deployments`, ...), by GitHub's names. */
  readonly others: readonly string[]
  /** What repository and rules allow together. */
  readonly mergeMethods: readonly MergeMethod[]
  /**
   * Rules, by GitHub's names, because of which a temporary branch of ours (temporary-branch.ts) cannot be made or taken
   * away again: a ruleset for all branches hits it, too.
   */
  readonly temporaryBranch: readonly string[]
  /** What could not be read, in words: rules may be there that are not above. */
  readonly unread: readonly string[]
}
