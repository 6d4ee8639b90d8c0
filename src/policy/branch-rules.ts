export type ConfiguredMergeMethod = 'auto' | 'push' | MergeMethod | 'queue'

export type TokenPermissions = Readonly<Record<string, string | undefined>>

export interface MergePlanInput {
  readonly rules: BranchRules
  readonly setting: ConfiguredMergeMethod
  /** Undefined if unknown. */
  readonly permissions: TokenPermissions | undefined
  readonly app: number
  readonly ownChecks: readonly string[]
  /** The subset that the branch should require. Default: all. */
  readonly checksToRequire?: readonly string[]
  /** Absent: the plan is for any pull request, as on a page about the branch. */
  readonly pull?: { readonly containsBase: boolean; readonly editsWorkflows?: boolean } | undefined
}

export interface MergeRequirements {
  readonly own: readonly RequiredCheck[]
  readonly fromOtherApps: readonly RequiredCheck[]
  /** catalog-bot's checks must be on the merge commit before the push. */
  readonly checksFirst: boolean
  readonly noPush: readonly string[]
  /** Why GitHub may reject a push. The behavior is not documented. */
  readonly doubtful: readonly string[]
  /** The methods by which GitHub can merge under all rules. */
  readonly methods: readonly MergeMethod[]
}

/** Whether a head must contain the tip of its base. The setting has no effect without a required check. */
export const requiresUpToDateHead = ({ checks }: BranchRules): boolean =>
  checks.strict && checks.required.length > 0

/** Whether GitHub compares the tree of a pushed merge with the tree of its test merge. */
export const requiresTestMergeTree = ({ pullRequest }: BranchRules): boolean =>
  pullRequest !== undefined && (pullRequest.dismissesStale || pullRequest.lastPushApproval)

export const formatCheckNames = (checks: readonly RequiredCheck[]): string =>
  `the ${checks.length === 1 ? 'check' : 'checks'} ${formatListWithAnd(
    checks.map(({ name, app }) => `"${name}"${app === undefined ? '' : ` from App ${app}`}`),
  )}`

export const formatRuleNames = (names: readonly string[]): string =>
  `the ${names.length === 1 ? 'rule' : 'rules'} ${formatListWithAnd(names.map((name) => `"${name}"`))}`

export const formatListWithAnd = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`

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
  /** GitHub's names of rules that prevent creating or deleting a temporary branch (merge-strategy.ts). */
  readonly temporaryBranch: readonly string[]
  /** Descriptions of settings that could not be read. They may contain rules that are not listed above. */
  readonly unread: readonly string[]
}

/** Which of a branch's rules allow a push, and which allow GitHub's own merge methods. */
export function computeMergeRequirements(input: MergePlanInput): MergeRequirements {
  const { rules, app, ownChecks, pull } = input
  const isOwn = (check: RequiredCheck) =>
    ownChecks.includes(check.name) && (check.app === undefined || check.app === app)
  const own = rules.checks.required.filter(isOwn)
  const fromOtherApps = rules.checks.required.filter((check) => !isOwn(check))
  // GitHub documents that checks of a head that contains its base count for the merge.
  const isBehind = pull?.containsBase !== true
  // The merge of such a head has the head's tree, which GitHub already has.
  const needsTemporaryBranch = isBehind && (own.length > 0 || rules.signatures)
  return {
    own,
    fromOtherApps,
    checksFirst: isBehind && own.length > 0,
    noPush: [
      ...(rules.linearHistory
        ? ['the branch requires a linear history, so it does not accept merge commits']
        : []),
      ...(rules.workflows ? ['the branch requires workflows, which block every push'] : []),
      ...(rules.closedToPushes ? ['the App can merge pull requests but cannot push'] : []),
      ...(isBehind && fromOtherApps.length > 0
        ? [
            `the branch requires ${formatCheckNames(fromOtherApps)} to pass before the push, but other apps report only on the heads of pull requests`,
          ]
        : []),
      ...(needsTemporaryBranch && rules.temporaryBranch.length > 0
        ? [`a temporary branch for the merge is blocked by ${formatRuleNames(rules.temporaryBranch)}`]
        : []),
    ],
    doubtful: [
      ...(rules.mergeMethods.includes('merge') ? [] : ['merge commits are disabled']),
      ...rules.others.map(
        (name) =>
          `catalog-bot does not recognize ${formatRuleNames([name])} and cannot predict whether it allows pushes`,
      ),
    ],
    methods: rules.mergeMethods.filter(
      (method) =>
        !(method === 'merge' && rules.linearHistory) &&
        // GitHub signs its own merges. It does not sign rebased commits, and lets only a pull request's author squash:
        // https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-signed-commits
        (method === 'merge' || !rules.signatures),
    ),
  }
}

/** Unknown permissions count as granted, because GitHub rejects requests that they do not allow. */
export function hasPermission(
  permissions: TokenPermissions | undefined,
  name: string,
  level: 'read' | 'write' = 'write',
): boolean {
  if (permissions === undefined) return true
  const has = permissions[name]
  return has === 'write' || has === 'admin' || (level === 'read' && has === 'read')
}
