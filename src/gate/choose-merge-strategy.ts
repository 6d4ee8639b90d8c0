// Chooses how a pull request reaches its branch; decide.ts decides whether it does. docs/landing.md has the table in
// words. Where the effect of a push is unknown, GitHub merges.
import type { BranchRules, MergeMethod } from './branch-rules.ts'
import { describeMergeConditions, describeUncertainties, suggestFasterSettings } from './merge-advice.ts'
import type { MergeStrategy, MergePlan } from './merge-strategy.ts'
import {
  hasPermission,
  comparesMergeTrees,
  computeMergeRequirements,
  formatList,
  requiresUpToDateHead,
} from './merge-requirements.ts'
import type { MergeRequirements, MergePlanInput, ConfiguredMergeMethod } from './merge-requirements.ts'

export function chooseMergeStrategy(input: MergePlanInput): MergePlan {
  const requirements = computeMergeRequirements(input)
  const { method, because, missing } = chooseForBranch(input, requirements)
  const shut = [
    ...findMergeBlockers(input),
    ...missing,
    ...(method === undefined ? [] : findMissingPermissions(input, method)),
  ]
  const isOpen = method !== undefined && shut.length === 0
  return {
    ...(isOpen && { method }),
    needsGitHubsTree: isOpen && method.kind === 'push' && comparesMergeTrees(input.rules),
    because: isOpen ? because : 'GitHub would take nothing that the App can do',
    missing: [...shut, ...findChecksOfOtherApps(input)],
    conditions: describeMergeConditions(input, requirements, method),
    faster: suggestFasterSettings(input, requirements, method),
    unsure: describeUncertainties(input, requirements, method),
  }
}

interface StrategyChoice {
  readonly method?: MergeStrategy
  readonly because: string
  readonly missing: readonly string[]
}

const noStrategy = (...missing: string[]): StrategyChoice => ({ because: '', missing })

function chooseForBranch(input: MergePlanInput, requirements: MergeRequirements): StrategyChoice {
  const { rules, wanted } = input
  if (rules.mergeQueue) return chooseQueue(wanted, requirements, input)
  switch (wanted) {
    case 'auto':
      return chooseAutomatically(input, requirements)
    case 'push':
      return requirements.noPush.length === 0
        ? choosePush(input, requirements)
        : noStrategy(
            ...requirements.noPush.map((why) => `merge.method is push, and it would be refused: ${why}`),
          )
    case 'queue':
      return noStrategy(
        'merge.method is queue, and the branch has no merge queue: add that rule, or choose auto',
      )
    case 'merge':
    case 'squash':
    case 'rebase':
      return chooseGitHubMerge(input, requirements, wanted, 'merge.method says so')
  }
}

function chooseQueue(
  wanted: ConfiguredMergeMethod,
  { own }: MergeRequirements,
  { app, ownChecks, checksToRequire = ownChecks }: MergePlanInput,
): StrategyChoice {
  if (wanted !== 'auto' && wanted !== 'queue')
    return noStrategy(
      `the branch takes changes through its merge queue alone, and merge.method is ${wanted}: choose auto or queue`,
    )
  // GitHub merges a group as soon as its required checks pass: without ours, it would merge what we have not validated.
  if (own.length === 0)
    return noStrategy(
      `the merge queue does not wait for this App's checks: require ${formatQuotedList(checksToRequire)} of App ${app} on the branch`,
    )
  const because = 'the branch has a merge queue, and takes nothing that does not come through it'
  return { method: { kind: 'queue' }, because, missing: [] }
}

/** Prefers a push; falls back to GitHub's own merge where a push fails or its effect is unknown. */
function chooseAutomatically(input: MergePlanInput, requirements: MergeRequirements): StrategyChoice {
  const obstacles = [...requirements.noPush, ...requirements.doubtful]
  if (obstacles.length === 0) return choosePush(input, requirements)
  const best = (['merge', 'squash', 'rebase'] as const).find((method) =>
    requirements.methods.includes(method),
  )
  if (best !== undefined) return chooseGitHubMerge(input, requirements, best, obstacles.join('; '))
  // A push that GitHub refuses changes nothing, so doubt alone does not rule it out.
  if (requirements.noPush.length === 0) return choosePush(input, requirements)
  const allowed = formatList(input.rules.mergeMethods) || 'none'
  return noStrategy(
    `no way to merge is left: ${obstacles.join('; ')}; and what GitHub itself may merge by (${allowed}) does not fit the other rules: ${suggestSettingsFix(input.rules)}`,
  )
}

function suggestSettingsFix({ linearHistory, signatures }: BranchRules): string {
  if (linearHistory && signatures)
    return 'GitHub lets only the author of a pull request squash it under signatures: do not require both on this branch'
  const fitting = [...(linearHistory ? [] : ['merge']), ...(signatures ? [] : ['squash', 'rebase'])]
  return `allow ${fitting.join(' or ')} merging in the repository and its rules`
}

function choosePush({ rules }: MergePlanInput, { checksFirst }: MergeRequirements): StrategyChoice {
  const how = [
    ...(checksFirst ? ['its required checks are put on that merge first'] : []),
    ...(rules.signatures ? ['GitHub signs it, because the branch demands signatures'] : []),
  ]
  return {
    method: { kind: 'push', checksFirst, signed: rules.signatures },
    because: ['the branch takes the very merge that was validated', ...how].join('; '),
    missing: [],
  }
}

function chooseGitHubMerge(
  { rules, pull }: MergePlanInput,
  { methods }: MergeRequirements,
  method: MergeMethod,
  why: string,
): StrategyChoice {
  if (!methods.includes(method)) return noStrategy(explainDisallowedMethod(rules, method))
  // When the head is behind its base, GitHub expects all checks again, even if they passed.
  if (requiresUpToDateHead(rules) && pull?.containsBase === false)
    return noStrategy(
      `the pull request is behind its base, GitHub must merge it (${why}), and the branch demands that it is up to date: update it, or switch that demand off`,
    )
  return {
    method: { kind: 'github-merge', method },
    because: `GitHub merges by ${method}: ${why}`,
    missing: [],
  }
}

function explainDisallowedMethod(rules: BranchRules, method: MergeMethod): string {
  const fault = !rules.mergeMethods.includes(method)
    ? 'the repository or a rule does not allow it'
    : method === 'merge'
      ? 'the branch demands a linear history'
      : method === 'squash'
        ? 'the branch demands signatures, and GitHub lets only the author of a pull request squash it then'
        : 'the branch demands signatures, and GitHub does not sign what it rebases'
  return `merge.method is ${method}, and ${fault}: allow it, or choose another method`
}

/** Reasons why no method can merge into the branch. */
function findMergeBlockers({
  rules,
  app,
  ownChecks,
  checksToRequire = ownChecks,
  pull,
  permissions,
}: MergePlanInput): string[] {
  const unknown = rules.checks.required.filter(
    (check) => check.app === app && !ownChecks.includes(check.name),
  )
  return [
    ...(rules.locked ? ['the branch is locked: unlock it'] : []),
    ...(rules.closedToUs
      ? [
          rules.owner === 'user'
            ? "only those on a list may move the branch, and in a person's repository no App can be on it: remove that rule"
            : `only those on a list may move the branch: put this App (id ${app}) on it, to bypass that rule always`,
        ]
      : []),
    ...unknown.map(
      ({ name }) =>
        `the check "${name}" is required from this App, which reports no such check: require ${formatQuotedList(checksToRequire)} instead`,
    ),
    ...(pull?.editsWorkflows === true && !hasPermission(permissions, 'workflows')
      ? [
          'the pull request changes .github/workflows/, and the App lacks the permission workflows: write: a person must merge it',
        ]
      : []),
  ]
}

/** Our checks that do not count when we report them. The other App may be another catalog-bot, so they can pass. */
function findChecksOfOtherApps({ rules, app, ownChecks }: MergePlanInput): string[] {
  return rules.checks.required
    .filter((check) => ownChecks.includes(check.name) && check.app !== undefined && check.app !== app)
    .map(
      (check) =>
        `the check "${check.name}" counts from App ${check.app ?? ''} alone, and this App is ${app}: choose this App as its source`,
    )
}

type RequiredPermission = readonly [name: string, level: 'read' | 'write', what: string]

const permissionsByStrategy: Readonly<Record<MergeStrategy['kind'], readonly RequiredPermission[]>> = {
  push: [['contents', 'write', 'to push']],
  'github-merge': [['contents', 'write', 'to merge']],
  queue: [
    ['contents', 'write', 'to queue pull requests'],
    ['pull_requests', 'write', 'to queue pull requests'],
    ['merge_queues', 'read', 'to hear which groups GitHub wants checked'],
    ['checks', 'write', 'to report on those groups'],
  ],
}

function findMissingPermissions({ permissions }: MergePlanInput, method: MergeStrategy): string[] {
  const forChecks: readonly RequiredPermission[] =
    method.kind === 'push' && method.checksFirst
      ? [['checks', 'write', 'to put its checks on a merge before it is pushed']]
      : []
  return [...permissionsByStrategy[method.kind], ...forChecks]
    .filter(([name, level]) => !hasPermission(permissions, name, level))
    .map(([name, level, purpose]) => `the App lacks the permission ${name}: ${level} ${purpose}`)
}

const formatQuotedList = (names: readonly string[]): string => formatList(names.map((name) => `"${name}"`))
