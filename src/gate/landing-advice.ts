// Advice for maintainers beside the chosen method, as clauses without a full stop; src/messages/landing-plan.ts formats
// them.
import type { BranchRules } from './branch-rules.ts'
import { allows, comparesTrees, listed, mustBeUpToDate, namesOf } from './landing-demands.ts'
import type { Demands, LandingInput } from './landing-demands.ts'
import type { LandingMethod } from './landing-method.ts'
import { temporaryBranchPattern } from './temporary-branch.ts'

export function conditionsOf(
  { rules, permissions, pull }: LandingInput,
  { foreign }: Demands,
  method: LandingMethod | undefined,
): string[] {
  const isPush = method?.kind === 'push'
  const place = method?.kind === 'queue' ? "its group's commit" : 'its head'
  return [
    ...(rules.pullRequest === undefined ? [] : reviewConditions(rules.pullRequest, isPush)),
    ...(isPush && comparesTrees(rules)
      ? ["its merge must have the content of GitHub's own merge; where that is different, it is not merged"]
      : []),
    ...(foreign.length > 0 ? [`${namesOf(foreign)} must be green on ${place}`] : []),
    ...(rules.signatures ? ['every commit must have a verified signature'] : []),
    ...(mustBeUpToDate(rules) && method?.kind === 'github-merge'
      ? ['its head must be up to date with the branch']
      : []),
    ...(rules.workflows ? ['the workflows that the branch requires must be green'] : []),
    ...rules.others.map((name) => `the rule ${name} must be satisfied`),
    ...(pull === undefined && !allows(permissions, 'workflows')
      ? [
          'it must not change .github/workflows/: the App lacks the permission workflows: write, so a person merges that',
        ]
      : []),
  ]
}

function reviewConditions(demand: NonNullable<BranchRules['pullRequest']>, isPush: boolean): string[] {
  const { approvals } = demand
  return [
    ...(isPush ? ['it must be open; one pull request is pushed at a time'] : []),
    ...(approvals > 0
      ? [
          `${approvals === 1 ? 'one approving review' : `${approvals} approving reviews`} of people with write access must stand on GitHub; a command in a comment is none`,
        ]
      : []),
    ...(demand.codeOwners ? ['a code owner of each changed file must approve, where there is one'] : []),
    ...(demand.conversations ? ['every conversation must be resolved'] : []),
    ...(demand.dismissesStale ? ['its approvals must be newer than its last push'] : []),
    ...(demand.lastPushApproval
      ? ['somebody else than the last pusher must approve after the last push']
      : []),
  ]
}

export function fasterWays(
  input: LandingInput,
  demands: Demands,
  method: LandingMethod | undefined,
): string[] {
  const { rules } = input
  return [
    ...missingRulesets(input, method),
    ...(rules.mergeQueue ? queueWays(rules) : []),
    ...(method?.kind === 'github-merge' ? waysToPush(input, demands) : []),
    ...(!rules.mergeQueue && mustBeUpToDate(rules)
      ? [
          'switch off that branches must be up to date: each merge is validated against the tip anyway, and people need not update theirs',
        ]
      : []),
    ...(rules.temporaryBranch.length > 0
      ? [
          `exclude ${temporaryBranchPattern} from the ruleset with ${listed(rules.temporaryBranch)}: the App puts checks on merges there`,
        ]
      : []),
  ]
}

/** A: only the App moves the branch. B: our checks are required. Both are in recommended-rulesets.ts. */
function missingRulesets(
  { rules, app, ownChecks, checksToRequire = ownChecks }: LandingInput,
  method: LandingMethod | undefined,
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

function waysToPush({ rules, wanted }: LandingInput, { foreign }: Demands): string[] {
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
          `list ${namesOf(foreign)} in merge.requires, and do not require ${foreign.length === 1 ? 'it' : 'them'} on the branch: the App waits for ${foreign.length === 1 ? 'it' : 'them'} all the same, and can push`,
        ]
      : []),
  ]
}

function queueWays({ queue }: BranchRules): string[] {
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

export function doubtsOf(
  { rules, permissions }: LandingInput,
  { doubtful }: Demands,
  method: LandingMethod | undefined,
): string[] {
  return [
    ...rules.unread.map((what) => `${what}: GitHub may refuse because of what stands there`),
    ...(permissions === undefined ? ["the App's own permissions could not be read"] : []),
    ...(method?.kind === 'push' ? doubtful.map((why) => `${why}: GitHub may refuse the push`) : []),
  ]
}
