// Advice for maintainers beside the chosen method, as clauses without a full stop; src/messages/merge-plan.ts formats
// them.
import type { BranchRules } from './branch-rules.ts'
import {
  hasPermission,
  comparesMergeTrees,
  formatList,
  requiresUpToDateHead,
  formatCheckNames,
} from './merge-requirements.ts'
import type { MergeRequirements, MergePlanInput } from './merge-requirements.ts'
import type { MergeStrategy } from './merge-strategy.ts'
import { temporaryBranchPattern } from './temporary-branch.ts'

export function describeMergeConditions(
  { rules, permissions, pull }: MergePlanInput,
  { foreign }: MergeRequirements,
  method: MergeStrategy | undefined,
): string[] {
  const isPush = method?.kind === 'push'
  const checkLocation = method?.kind === 'queue' ? "its group's commit" : 'its head'
  return [
    ...(rules.pullRequest === undefined ? [] : describeReviewConditions(rules.pullRequest, isPush)),
    ...(isPush && comparesMergeTrees(rules)
      ? ["its merge must have the content of GitHub's own merge; where that is different, it is not merged"]
      : []),
    ...(foreign.length > 0 ? [`${formatCheckNames(foreign)} must be green on ${checkLocation}`] : []),
    ...(rules.signatures ? ['every commit must have a verified signature'] : []),
    ...(requiresUpToDateHead(rules) && method?.kind === 'github-merge'
      ? ['its head must be up to date with the branch']
      : []),
    ...(rules.workflows ? ['the workflows that the branch requires must be green'] : []),
    ...rules.others.map((name) => `the rule ${name} must be satisfied`),
    ...(pull === undefined && !hasPermission(permissions, 'workflows')
      ? [
          'it must not change .github/workflows/: the App lacks the permission workflows: write, so a person merges that',
        ]
      : []),
  ]
}

function describeReviewConditions(
  requirement: NonNullable<BranchRules['pullRequest']>,
  isPush: boolean,
): string[] {
  const { approvals } = requirement
  return [
    ...(isPush ? ['it must be open; one pull request is pushed at a time'] : []),
    ...(approvals > 0
      ? [
          `${approvals === 1 ? 'one approving review' : `${approvals} approving reviews`} of people with write access must stand on GitHub; a command in a comment is none`,
        ]
      : []),
    ...(requirement.codeOwners ? ['a code owner of each changed file must approve, where there is one'] : []),
    ...(requirement.conversations ? ['every conversation must be resolved'] : []),
    ...(requirement.dismissesStale ? ['its approvals must be newer than its last push'] : []),
    ...(requirement.lastPushApproval
      ? ['somebody else than the last pusher must approve after the last push']
      : []),
  ]
}

export function suggestFasterSettings(
  input: MergePlanInput,
  requirements: MergeRequirements,
  method: MergeStrategy | undefined,
): string[] {
  const { rules } = input
  return [
    ...suggestMissingRulesets(input, method),
    ...(rules.mergeQueue ? suggestQueueSettings(rules) : []),
    ...(method?.kind === 'github-merge' ? suggestPushSettings(input, requirements) : []),
    ...(!rules.mergeQueue && requiresUpToDateHead(rules)
      ? [
          'switch off that branches must be up to date: each merge is validated against the tip anyway, and people need not update theirs',
        ]
      : []),
    ...(rules.temporaryBranch.length > 0
      ? [
          `exclude ${temporaryBranchPattern} from the ruleset with ${formatList(rules.temporaryBranch)}: the App puts checks on merges there`,
        ]
      : []),
  ]
}

/** A: only the App moves the branch. B: our checks are required. Both are in recommended-rulesets.ts. */
function suggestMissingRulesets(
  { rules, app, ownChecks, checksToRequire = ownChecks }: MergePlanInput,
  method: MergeStrategy | undefined,
): string[] {
  const pinned = new Set(
    rules.checks.required.filter((check) => check.app === app).map((check) => check.name),
  )
  const isMissingChecks = checksToRequire.some((name) => !pinned.has(name))
  const exact = method?.kind === 'github-merge' ? ', and what GitHub merges is what was validated' : ''
  return [
    ...(rules.reservedForUs
      ? []
      : [
          rules.owner === 'user'
            ? "move the repository to an organization: there, ruleset A lets nobody but the App move the branch; a person's repository cannot name an App"
            : `add ruleset A, by which nobody but this App moves the branch: no merge has to be validated twice${exact}`,
        ]),
    ...(isMissingChecks
      ? [
          "add ruleset B, which requires this App's checks from this App: GitHub itself refuses what did not pass",
        ]
      : []),
  ]
}

function suggestPushSettings({ rules, wanted }: MergePlanInput, { foreign }: MergeRequirements): string[] {
  if (wanted !== 'auto')
    return ['set merge.method to auto: the validated merge itself is pushed wherever the rules allow it']
  return [
    ...(rules.linearHistory
      ? ['switch off the linear history: the validated merge itself can be pushed']
      : []),
    ...(rules.mergeMethods.includes('merge')
      ? []
      : ['allow merge commits: the validated merge itself can be pushed']),
    ...(rules.workflows ? ['require checks instead of workflows: those block every push'] : []),
    ...(rules.closedToPushes ? ['let this App bypass that rule always, and not for pull requests only'] : []),
    ...(foreign.length > 0
      ? [
          `list ${formatCheckNames(foreign)} in merge.requires, and do not require ${foreign.length === 1 ? 'it' : 'them'} on the branch: the App waits for ${foreign.length === 1 ? 'it' : 'them'} all the same, and can push`,
        ]
      : []),
  ]
}

function suggestQueueSettings({ queue }: BranchRules): string[] {
  if (queue === undefined) return ['let the merge queue make merge commits, in groups of one']
  return [
    ...(queue.method === 'merge'
      ? []
      : [
          `let the merge queue make merge commits, not ${queue.method}: they keep the commits that were validated`,
        ]),
    ...(queue.largestGroup > 1
      ? [
          `let the merge queue merge groups of one, not of ${queue.largestGroup}: each commit on the branch is then one that was validated`,
        ]
      : []),
  ]
}

export function describeUncertainties(
  { rules, permissions }: MergePlanInput,
  { doubtful }: MergeRequirements,
  method: MergeStrategy | undefined,
): string[] {
  return [
    ...rules.unread.map((what) => `${what}: GitHub may refuse because of what stands there`),
    ...(permissions === undefined ? ["the App's own permissions could not be read"] : []),
    ...(method?.kind === 'push' ? doubtful.map((why) => `${why}: GitHub may refuse the push`) : []),
  ]
}
