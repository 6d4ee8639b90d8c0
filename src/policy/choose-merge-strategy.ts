// Chooses how a pull request is merged. decide.ts decides whether it is merged. docs/explanation/merging.md describes
// the choice in a table. If the effect of a push is unknown, GitHub merges.
import {
  type BranchRules,
  type MergeMethod,
  hasPermission,
  requiresTestMergeTree,
  computeMergeRequirements,
  formatListWithAnd,
  requiresUpToDateHead,
  type MergeRequirements,
  type MergePlanInput,
  type ConfiguredMergeMethod,
} from './branch-rules.ts'
import {
  describeMergeConditions,
  describeUncertainMergeRequirements,
  suggestFasterMergeSettings,
} from './merge-advice.ts'
import type { MergeStrategy, MergePlan } from './merge-strategy.ts'

export function chooseMergeStrategy(input: MergePlanInput): MergePlan {
  const requirements = computeMergeRequirements(input)
  const { method, because, missing } = chooseStrategyForBranch(input, requirements)
  const shut = [
    ...findMergeBlockers(input),
    ...missing,
    ...(method === undefined ? [] : findMissingPermissions(input, method)),
  ]
  const isOpen = method !== undefined && shut.length === 0
  return {
    ...(isOpen && { method }),
    needsGitHubsTree: isOpen && method.kind === 'push' && requiresTestMergeTree(input.rules),
    because: isOpen ? because : 'GitHub would not accept any merge method that catalog-bot can use',
    missing: [...shut, ...findChecksRequiredFromOtherApps(input)],
    conditions: describeMergeConditions(input, requirements, method),
    faster: suggestFasterMergeSettings(input, requirements, method),
    unsure: describeUncertainMergeRequirements(input, requirements, method),
  }
}

interface MergeStrategyChoice {
  readonly method?: MergeStrategy
  readonly because: string
  readonly missing: readonly string[]
}

const createChoiceWithoutStrategy = (...missing: string[]): MergeStrategyChoice => ({ because: '', missing })

function chooseStrategyForBranch(
  input: MergePlanInput,
  requirements: MergeRequirements,
): MergeStrategyChoice {
  const { rules, setting } = input
  if (rules.mergeQueue) return chooseMergeQueueStrategy(setting, requirements, input)
  switch (setting) {
    case 'auto':
      return chooseStrategyAutomatically(input, requirements)
    case 'push':
      return requirements.noPush.length === 0
        ? choosePushMergeStrategy(input, requirements)
        : createChoiceWithoutStrategy(
            ...requirements.noPush.map(
              (why) => `merge.method is push, but GitHub would reject the push because ${why}`,
            ),
          )
    case 'queue':
      return createChoiceWithoutStrategy(
        'merge.method is queue, but the branch has no merge queue; add a merge queue, or set merge.method to auto',
      )
    case 'merge':
    case 'squash':
    case 'rebase':
      return chooseGitHubMergeStrategy(input, requirements, setting, `merge.method is ${setting}`)
  }
}

function chooseMergeQueueStrategy(
  setting: ConfiguredMergeMethod,
  { own }: MergeRequirements,
  { app, ownChecks, checksToRequire = ownChecks }: MergePlanInput,
): MergeStrategyChoice {
  if (setting !== 'auto' && setting !== 'queue')
    return createChoiceWithoutStrategy(
      `the branch accepts changes only through its merge queue, but merge.method is ${setting}; set merge.method to auto or queue`,
    )
  // GitHub merges a group when its required checks pass. Without catalog-bot's checks, it would merge unvalidated groups.
  if (own.length === 0)
    return createChoiceWithoutStrategy(
      `the merge queue does not wait for this App's checks; require ${formatQuotedList(checksToRequire)} from App ${app} on the branch`,
    )
  const because = 'the branch accepts changes only through its merge queue'
  return { method: { kind: 'queue' }, because, missing: [] }
}

/** Prefers a push. Falls back to GitHub's own merge if a push would fail or its effect is unknown. */
function chooseStrategyAutomatically(
  input: MergePlanInput,
  requirements: MergeRequirements,
): MergeStrategyChoice {
  const obstacles = [...requirements.noPush, ...requirements.doubtful]
  if (obstacles.length === 0) return choosePushMergeStrategy(input, requirements)
  const best = (['merge', 'squash', 'rebase'] as const).find((method) =>
    requirements.methods.includes(method),
  )
  if (best !== undefined) return chooseGitHubMergeStrategy(input, requirements, best, obstacles.join('; '))
  // A rejected push changes nothing, so uncertainty alone does not rule out a push.
  if (requirements.noPush.length === 0) return choosePushMergeStrategy(input, requirements)
  const allowed = formatListWithAnd(input.rules.mergeMethods) || 'none'
  return createChoiceWithoutStrategy(
    `no merge method works, because ${obstacles.join('; ')}; the methods that GitHub allows (${allowed}) conflict with the other rules: ${suggestMergeSettingsFix(input.rules)}`,
  )
}

function suggestMergeSettingsFix({ linearHistory, signatures }: BranchRules): string {
  if (linearHistory && signatures)
    return 'require either a linear history or signatures on this branch, but not both, because with both, GitHub lets only the author squash a pull request'
  const fitting = [...(linearHistory ? [] : ['merge']), ...(signatures ? [] : ['squash', 'rebase'])]
  return `allow ${fitting.join(' or ')} merging in the repository and its rules`
}

function choosePushMergeStrategy(
  { rules }: MergePlanInput,
  { checksFirst }: MergeRequirements,
): MergeStrategyChoice {
  const how = [
    ...(checksFirst ? ['catalog-bot adds the required checks to the validated merge before the push'] : []),
    ...(rules.signatures ? ['GitHub signs the merge because the branch requires signatures'] : []),
  ]
  return {
    method: { kind: 'push', checksFirst, signed: rules.signatures },
    because: ['the branch accepts a push of the validated merge', ...how].join('; '),
    missing: [],
  }
}

function chooseGitHubMergeStrategy(
  { rules, pull }: MergePlanInput,
  { methods }: MergeRequirements,
  method: MergeMethod,
  why: string,
): MergeStrategyChoice {
  if (!methods.includes(method))
    return createChoiceWithoutStrategy(explainDisallowedMergeMethod(rules, method))
  // If the head is behind its base, GitHub expects all checks to run again, even if they passed.
  if (requiresUpToDateHead(rules) && pull?.containsBase === false)
    return createChoiceWithoutStrategy(
      `GitHub must merge this pull request (${why}), but the branch requires the head to be up to date, and this head is behind its base; update the pull request, or turn off that requirement`,
    )
  return {
    method: { kind: 'github-merge', method },
    because: `GitHub merges with the ${method} method because ${why}`,
    missing: [],
  }
}

function explainDisallowedMergeMethod(rules: BranchRules, method: MergeMethod): string {
  const fault = !rules.mergeMethods.includes(method)
    ? 'the repository or a rule does not allow this method'
    : method === 'merge'
      ? 'the branch requires a linear history'
      : method === 'squash'
        ? 'the branch requires signatures, so GitHub lets only the author of a pull request squash it'
        : 'the branch requires signatures, and GitHub does not sign rebased commits'
  return `merge.method is ${method}, but ${fault}; change that setting, or choose another method`
}

function findMergeBlockers(input: MergePlanInput): string[] {
  const { rules, app, ownChecks, checksToRequire = ownChecks, pull, permissions } = input
  const unknown = rules.checks.required.filter(
    (check) => check.app === app && !ownChecks.includes(check.name),
  )
  return [
    ...(rules.locked ? ['the branch is locked; unlock it'] : []),
    ...(rules.closedToUs
      ? [
          rules.owner === 'user'
            ? 'only listed users can update the branch, and user-owned repositories cannot add Apps to this list; remove that rule'
            : `only listed users and apps can update the branch; add this App (id ${app}) to the list, with the bypass mode "always"`,
        ]
      : []),
    ...unknown.map(
      ({ name }) =>
        `the branch requires the check "${name}" from this App, which does not report that check; require ${formatQuotedList(checksToRequire)} instead`,
    ),
    ...(pull?.editsWorkflows === true && !hasPermission(permissions, 'workflows')
      ? [
          'a person must merge this pull request, because it changes .github/workflows/ and the App lacks the "workflows: write" permission',
        ]
      : []),
  ]
}

/** Checks that do not count from this App. The other App may be another catalog-bot, so they can pass. */
function findChecksRequiredFromOtherApps({ rules, app, ownChecks }: MergePlanInput): string[] {
  return rules.checks.required
    .filter((check) => ownChecks.includes(check.name) && check.app !== undefined && check.app !== app)
    .map(
      (check) =>
        `the branch accepts the check "${check.name}" only from App ${check.app ?? ''}, but this App is ${app}; select this App as the source of the check`,
    )
}

type RequiredPermission = readonly [name: string, level: 'read' | 'write', what: string]

const permissionsByStrategy: Readonly<Record<MergeStrategy['kind'], readonly RequiredPermission[]>> = {
  push: [['contents', 'write', 'to push']],
  'github-merge': [['contents', 'write', 'to merge']],
  queue: [
    ['contents', 'write', 'to queue pull requests'],
    ['pull_requests', 'write', 'to queue pull requests'],
    ['merge_queues', 'read', 'to determine which groups to check'],
    ['checks', 'write', 'to report on those groups'],
  ],
}

function findMissingPermissions({ permissions }: MergePlanInput, method: MergeStrategy): string[] {
  const forChecks: readonly RequiredPermission[] =
    method.kind === 'push' && method.checksFirst
      ? [['checks', 'write', 'to add checks to a merge before the push']]
      : []
  return [...permissionsByStrategy[method.kind], ...forChecks]
    .filter(([name, level]) => !hasPermission(permissions, name, level))
    .map(
      ([name, level, purpose]) =>
        `the App lacks the "${name}: ${level}" permission, which is required ${purpose}`,
    )
}

const formatQuotedList = (names: readonly string[]): string =>
  formatListWithAnd(names.map((name) => `"${name}"`))
