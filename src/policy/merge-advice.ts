// Advice for maintainers in addition to the chosen method, as clauses that src/report/merge-message.ts formats.
import {
  type BranchRules,
  hasPermission,
  requiresTestMergeTree,
  formatRuleNames,
  requiresUpToDateHead,
  formatCheckNames,
  type MergeRequirements,
  type MergePlanInput,
} from './branch-rules.ts'
import { type MergeStrategy, temporaryBranchPattern } from './merge-strategy.ts'

export interface RecommendedRuleset {
  readonly name: string
  readonly target: 'branch'
  readonly enforcement: 'active'
  readonly conditions: {
    readonly ref_name: { readonly include: readonly string[]; readonly exclude: readonly string[] }
  }
  readonly bypass_actors: readonly {
    readonly actor_id: number
    readonly actor_type: 'Integration'
    readonly bypass_mode: 'always'
  }[]
  readonly rules: readonly {
    readonly type: string
    readonly parameters?: Readonly<Record<string, unknown>>
  }[]
}

export function describeMergeConditions(
  { rules, permissions, pull }: MergePlanInput,
  { fromOtherApps }: MergeRequirements,
  method: MergeStrategy | undefined,
): string[] {
  const isPush = method?.kind === 'push'
  const checkLocation = method?.kind === 'queue' ? "the group's commit" : 'the head'
  return [
    ...(rules.pullRequest === undefined ? [] : describeReviewConditions(rules.pullRequest, isPush)),
    ...(isPush && requiresTestMergeTree(rules)
      ? [
          "the merge must have the same content as GitHub's test merge; otherwise, catalog-bot does not merge the pull request",
        ]
      : []),
    ...(fromOtherApps.length > 0 ? [`${formatCheckNames(fromOtherApps)} must pass on ${checkLocation}`] : []),
    ...(rules.signatures ? ['every commit must have a verified signature'] : []),
    ...(requiresUpToDateHead(rules) && method?.kind === 'github-merge'
      ? ['the head must be up to date with the branch']
      : []),
    ...(rules.workflows ? ['the workflows that the branch requires must pass'] : []),
    ...rules.others.map((name) => `${formatRuleNames([name])} must be satisfied`),
    ...(pull === undefined && !hasPermission(permissions, 'workflows')
      ? [
          'a person must merge changes to .github/workflows/, because the App lacks the "workflows: write" permission',
        ]
      : []),
  ]
}

function describeReviewConditions(requirement: NonNullable<BranchRules['pullRequest']>, isPush: boolean) {
  const { approvals } = requirement
  return [
    ...(isPush ? ['the pull request must be open; catalog-bot pushes one pull request at a time'] : []),
    ...(approvals > 0
      ? [
          `GitHub requires ${approvals === 1 ? 'one approving review' : `${approvals} approving reviews`} from users with write access; /approve comments do not count`,
        ]
      : []),
    ...(requirement.codeOwners
      ? ['each changed file that has code owners must be approved by a code owner']
      : []),
    ...(requirement.conversations ? ['every conversation must be resolved'] : []),
    ...(requirement.dismissesStale ? ['approvals must be newer than the last push'] : []),
    ...(requirement.lastPushApproval
      ? ['someone other than the last pusher must approve after the last push']
      : []),
  ]
}

export function suggestFasterMergeSettings(
  input: MergePlanInput,
  requirements: MergeRequirements,
  method: MergeStrategy | undefined,
): string[] {
  const { rules } = input
  return [
    ...suggestMissingRulesets(input, method),
    ...(rules.mergeQueue ? suggestMergeQueueSettings(rules) : []),
    ...(method?.kind === 'github-merge' ? suggestPushMergeSettings(input, requirements) : []),
    ...(!rules.mergeQueue && requiresUpToDateHead(rules)
      ? [
          'turn off the requirement that branches be up to date, because catalog-bot always validates a merge against the latest commit on the branch',
        ]
      : []),
    ...(rules.temporaryBranch.length > 0
      ? [
          `exclude ${temporaryBranchPattern} from the ruleset with ${formatRuleNames(rules.temporaryBranch)}, because catalog-bot adds checks to merges on these branches`,
        ]
      : []),
  ]
}

/** Ruleset A: only the App can update the branch. Ruleset B: catalog-bot's checks are required. See buildRecommendedRulesets(). */
function suggestMissingRulesets(
  { rules, app, ownChecks, checksToRequire = ownChecks }: MergePlanInput,
  method: MergeStrategy | undefined,
): string[] {
  const pinned = new Set(
    rules.checks.required.filter((check) => check.app === app).map((check) => check.name),
  )
  const isMissingChecks = checksToRequire.some((name) => !pinned.has(name))
  const exact = method?.kind === 'github-merge' ? ', and GitHub merges exactly what was validated' : ''
  return [
    ...(rules.reservedForUs
      ? []
      : [
          rules.owner === 'user'
            ? 'move the repository to an organization and add ruleset A there, because user-owned repositories do not support Apps in bypass lists'
            : `add ruleset A, which allows only this App to update the branch, so that no merge has to be validated twice${exact}`,
        ]),
    ...(isMissingChecks
      ? [
          "add ruleset B, which requires this App's checks, so that GitHub itself rejects changes that did not pass",
        ]
      : []),
  ]
}

function suggestPushMergeSettings({ rules, setting }: MergePlanInput, { fromOtherApps }: MergeRequirements) {
  if (setting !== 'auto')
    return [
      'set merge.method to auto, so that catalog-bot pushes the validated merge where the rules allow it',
    ]
  return [
    ...(rules.linearHistory
      ? ['turn off the linear history requirement, so that catalog-bot can push the validated merge']
      : []),
    ...(rules.mergeMethods.includes('merge')
      ? []
      : ['allow merge commits, so that catalog-bot can push the validated merge']),
    ...(rules.workflows
      ? ['require checks instead of workflows, because required workflows block every push']
      : []),
    ...(rules.closedToPushes
      ? ['set the bypass mode of this App to "always" instead of "for pull requests only"']
      : []),
    ...(fromOtherApps.length > 0
      ? [
          `list ${formatCheckNames(fromOtherApps)} in merge.requires instead of requiring ${fromOtherApps.length === 1 ? 'it' : 'them'} on the branch: catalog-bot still waits for ${fromOtherApps.length === 1 ? 'it' : 'them'}, but can then push the validated merge`,
        ]
      : []),
  ]
}

function suggestMergeQueueSettings({ queue }: BranchRules): string[] {
  if (queue === undefined) return ['configure the merge queue to create merge commits, in groups of one']
  return [
    ...(queue.method === 'merge'
      ? []
      : [
          `set the method of the merge queue to merge instead of ${queue.method}, because merge commits preserve the validated commits`,
        ]),
    ...(queue.largestGroup > 1
      ? [
          `limit the groups of the merge queue to one pull request instead of ${queue.largestGroup}, so that every commit on the branch is validated`,
        ]
      : []),
  ]
}

export function describeUncertainMergeRequirements(
  { rules, permissions }: MergePlanInput,
  { doubtful }: MergeRequirements,
  method: MergeStrategy | undefined,
): string[] {
  return [
    ...rules.unread.map((what) => `${what}; GitHub may reject the merge because of these settings`),
    ...(permissions === undefined ? ["catalog-bot could not read the App's permissions"] : []),
    ...(method?.kind === 'push' ? doubtful.map((why) => `${why}: GitHub may reject the push`) : []),
  ]
}

/**
 * The two recommended rulesets for a branch, in GitHub's import format. A: only the App can update the branch. B: the
 * checks of catalog-bot are required, without bypass. There are two because a bypass applies to an entire ruleset.
 */
export function buildRecommendedRulesets(
  branch: string,
  app: number,
  ownChecks: readonly string[],
): { readonly a: RecommendedRuleset; readonly b: RecommendedRuleset } {
  const about = {
    target: 'branch',
    enforcement: 'active',
    conditions: { ref_name: { include: [`refs/heads/${branch}`], exclude: [] } },
  } as const
  return {
    a: {
      name: `catalog-bot A: only the App can update ${branch}`,
      ...about,
      bypass_actors: [{ actor_id: app, actor_type: 'Integration', bypass_mode: 'always' }],
      rules: [{ type: 'update' }],
    },
    b: {
      name: `catalog-bot B: ${branch} requires passing checks`,
      ...about,
      bypass_actors: [],
      rules: [
        { type: 'deletion' },
        { type: 'non_fast_forward' },
        {
          type: 'required_status_checks',
          parameters: {
            // catalog-bot validates every merge against the tip, so branches need no manual update.
            strict_required_status_checks_policy: false,
            required_status_checks: ownChecks.map((context) => ({ context, integration_id: app })),
          },
        },
      ],
    },
  }
}
