// What the rules of a branch mean for one landing, sorted: whose checks are required, what stands against a push, by which
// methods GitHub itself could merge.
import type { BranchRules, MergeMethod, RequiredCheck } from './branch-rules.ts'

/** `merge.method` of the configuration. */
export type WantedMethod = 'auto' | 'push' | MergeMethod | 'queue'

/** What a token may do, as GitHub names it: `contents: write`. */
export type TokenPermissions = Readonly<Record<string, string | undefined>>

export interface LandingInput {
  readonly rules: BranchRules
  readonly wanted: WantedMethod
  /** Undefined: nobody said. */
  readonly permissions: TokenPermissions | undefined
  /** Our App's id. */
  readonly app: number
  /** The names of the checks that we report on pull requests. */
  readonly ownChecks: readonly string[]
  /** Those of them that the branch should require. Absent: all. */
  readonly checksToRequire?: readonly string[]
  /** The one pull request that is to land; absent: any, as for a page about the branch. */
  readonly pull?:
    | {
        /** Whether its head contains the tip of its base. */
        readonly containsBase: boolean
        /** Whether it changes anything below `.github/workflows/`. */
        readonly editsWorkflows?: boolean
      }
    | undefined
}

export interface Demands {
  /** Required checks that we report. */
  readonly own: readonly RequiredCheck[]
  /** Those that others do. */
  readonly foreign: readonly RequiredCheck[]
  /** Our checks must stand on the merge itself before it is pushed. */
  readonly checksFirst: boolean
  /** Why no push of this merge is taken. */
  readonly noPush: readonly string[]
  /** Why a push may be refused: nobody knows. */
  readonly doubtful: readonly string[]
  /** The methods by which GitHub itself can merge under all of the rules. */
  readonly methods: readonly MergeMethod[]
}

export function demandsOf(input: LandingInput): Demands {
  const { rules, app, ownChecks, pull } = input
  const isOwn = (check: RequiredCheck) =>
    ownChecks.includes(check.name) && (check.app === undefined || check.app === app)
  const own = rules.checks.required.filter(isOwn)
  const foreign = rules.checks.required.filter((check) => !isOwn(check))
  // The documented leniency: checks of a head that contains its base count for the merge of both.
  const isBehind = pull?.containsBase !== true
  // A merge of such a head has the head's own tree, which GitHub has already.
  const needsTemporaryBranch = isBehind && (own.length > 0 || rules.signatures)
  return {
    own,
    foreign,
    checksFirst: isBehind && own.length > 0,
    noPush: [
      ...(rules.linearHistory ? ['the branch demands a linear history, so it takes no merge commit'] : []),
      ...(rules.workflows ? ['the branch requires workflows, which block every push'] : []),
      ...(rules.closedToPushes ? ['the App may merge pull requests, and may not push'] : []),
      ...(isBehind && foreign.length > 0
        ? [
            `the branch requires ${namesOf(foreign)}, and nobody reports that on a merge that is not pushed yet`,
          ]
        : []),
      ...(needsTemporaryBranch && rules.temporaryBranch.length > 0
        ? [`a temporary branch for the merge is refused by the rule ${listed(rules.temporaryBranch)}`]
        : []),
    ],
    doubtful: [
      ...(rules.mergeMethods.includes('merge') ? [] : ['merge commits are switched off']),
      ...rules.others.map((name) => `nobody knows what the rule ${name} does to a push`),
    ],
    methods: rules.mergeMethods.filter(
      (method) =>
        !(method === 'merge' && rules.linearHistory) &&
        // GitHub signs the merges that it makes. It does not sign what it rebases, and lets only a pull request's author squash:
        // https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/managing-rulesets/available-rules-for-rulesets#require-signed-commits
        (method === 'merge' || !rules.signatures),
    ),
  }
}

/** Whether a head must contain the tip of its base. GitHub: the setting has no effect without a required check. */
export const mustBeUpToDate = ({ checks }: BranchRules): boolean =>
  checks.strict && checks.required.length > 0

/** Whether GitHub compares the tree of a pushed merge with that of its own. */
export const comparesTrees = ({ pullRequest }: BranchRules): boolean =>
  pullRequest !== undefined && (pullRequest.dismissesStale || pullRequest.lastPushApproval)

/** What nobody said is not taken for a lack: GitHub refuses by itself. */
export function allows(
  permissions: TokenPermissions | undefined,
  name: string,
  level: 'read' | 'write' = 'write',
): boolean {
  if (permissions === undefined) return true
  const has = permissions[name]
  return has === 'write' || has === 'admin' || (level === 'read' && has === 'read')
}

export const namesOf = (checks: readonly RequiredCheck[]): string =>
  `the ${checks.length === 1 ? 'check' : 'checks'} ${listed(
    checks.map(({ name, app }) => `"${name}"${app === undefined ? '' : ` of App ${app}`}`),
  )}`

export const listed = (items: readonly string[]): string =>
  items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1) ?? ''}`
