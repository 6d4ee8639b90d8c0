// Chooses how a pull request reaches its branch; decide.ts decides whether it does. docs/landing.md has the table in
// words. Where the effect of a push is unknown, GitHub merges.
import type { BranchRules, MergeMethod } from './branch-rules.ts'
import { conditionsOf, doubtsOf, fasterWays } from './landing-advice.ts'
import type { LandingMethod, LandingPlan } from './landing-method.ts'
import { allows, comparesTrees, demandsOf, listed, mustBeUpToDate } from './landing-demands.ts'
import type { Demands, LandingInput, WantedMethod } from './landing-demands.ts'

export function chooseLandingMethod(input: LandingInput): LandingPlan {
  const demands = demandsOf(input)
  const { method, because, missing } = choose(input, demands)
  const shut = [...closures(input), ...missing, ...(method === undefined ? [] : lacks(input, method))]
  const isOpen = method !== undefined && shut.length === 0
  return {
    ...(isOpen && { method }),
    needsGitHubsTree: isOpen && method.kind === 'push' && comparesTrees(input.rules),
    because: isOpen ? because : 'GitHub would take nothing that the App can do',
    missing: [...shut, ...checksOfOtherApps(input)],
    conditions: conditionsOf(input, demands, method),
    faster: fasterWays(input, demands, method),
    unsure: doubtsOf(input, demands, method),
  }
}

interface Choice {
  readonly method?: LandingMethod
  readonly because: string
  readonly missing: readonly string[]
}

const none = (...missing: string[]): Choice => ({ because: '', missing })

function choose(input: LandingInput, demands: Demands): Choice {
  const { rules, wanted } = input
  if (rules.mergeQueue) return queued(wanted, demands, input)
  switch (wanted) {
    case 'auto':
      return chooseAlone(input, demands)
    case 'push':
      return demands.noPush.length === 0
        ? pushed(input, demands)
        : none(...demands.noPush.map((why) => `merge.method is push, and it would be refused: ${why}`))
    case 'queue':
      return none('merge.method is queue, and the branch has no merge queue: add that rule, or choose auto')
    case 'merge':
    case 'squash':
    case 'rebase':
      return mergedByGitHub(input, demands, wanted, 'merge.method says so')
  }
}

function queued(
  wanted: WantedMethod,
  { own }: Demands,
  { app, ownChecks, checksToRequire = ownChecks }: LandingInput,
): Choice {
  if (wanted !== 'auto' && wanted !== 'queue')
    return none(
      `the branch takes changes through its merge queue alone, and merge.method is ${wanted}: choose auto or queue`,
    )
  // GitHub merges a group as soon as its required checks pass: without ours, it would merge what we have not validated.
  if (own.length === 0)
    return none(
      `the merge queue does not wait for this App's checks: require ${quoted(checksToRequire)} of App ${app} on the branch`,
    )
  const because = 'the branch has a merge queue, and takes nothing that does not come through it'
  return { method: { kind: 'queue' }, because, missing: [] }
}

/** Prefers a push; falls back to GitHub's own merge where a push fails or its effect is unknown. */
function chooseAlone(input: LandingInput, demands: Demands): Choice {
  const obstacles = [...demands.noPush, ...demands.doubtful]
  if (obstacles.length === 0) return pushed(input, demands)
  const best = (['merge', 'squash', 'rebase'] as const).find((method) => demands.methods.includes(method))
  if (best !== undefined) return mergedByGitHub(input, demands, best, obstacles.join('; '))
  // A push that GitHub refuses changes nothing, so doubt alone does not rule it out.
  if (demands.noPush.length === 0) return pushed(input, demands)
  const allowed = listed(input.rules.mergeMethods) || 'none'
  return none(
    `no way to merge is left: ${obstacles.join('; ')}; and what GitHub itself may merge by (${allowed}) does not fit the other rules: ${wayOut(input.rules)}`,
  )
}

function wayOut({ linearHistory, signatures }: BranchRules): string {
  if (linearHistory && signatures)
    return 'GitHub lets only the author of a pull request squash it under signatures: do not require both on this branch'
  const fitting = [...(linearHistory ? [] : ['merge']), ...(signatures ? [] : ['squash', 'rebase'])]
  return `allow ${fitting.join(' or ')} merging in the repository and its rules`
}

function pushed({ rules }: LandingInput, { checksFirst }: Demands): Choice {
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

function mergedByGitHub(
  { rules, pull }: LandingInput,
  { methods }: Demands,
  method: MergeMethod,
  why: string,
): Choice {
  if (!methods.includes(method)) return none(notAllowed(rules, method))
  // When the head is behind its base, GitHub expects all checks again, even if they passed.
  if (mustBeUpToDate(rules) && pull?.containsBase === false)
    return none(
      `the pull request is behind its base, GitHub must merge it (${why}), and the branch demands that it is up to date: update it, or switch that demand off`,
    )
  return {
    method: { kind: 'github-merge', method },
    because: `GitHub merges by ${method}: ${why}`,
    missing: [],
  }
}

function notAllowed(rules: BranchRules, method: MergeMethod): string {
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
function closures({
  rules,
  app,
  ownChecks,
  checksToRequire = ownChecks,
  pull,
  permissions,
}: LandingInput): string[] {
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
        `the check "${name}" is required from this App, which reports no such check: require ${quoted(checksToRequire)} instead`,
    ),
    ...(pull?.editsWorkflows === true && !allows(permissions, 'workflows')
      ? [
          'the pull request changes .github/workflows/, and the App lacks the permission workflows: write: a person must merge it',
        ]
      : []),
  ]
}

/** Our checks that do not count when we report them. The other App may be another catalog-bot, so they can pass. */
function checksOfOtherApps({ rules, app, ownChecks }: LandingInput): string[] {
  return rules.checks.required
    .filter((check) => ownChecks.includes(check.name) && check.app !== undefined && check.app !== app)
    .map(
      (check) =>
        `the check "${check.name}" counts from App ${check.app ?? ''} alone, and this App is ${app}: choose this App as its source`,
    )
}

type Need = readonly [name: string, level: 'read' | 'write', what: string]

const needs: Readonly<Record<LandingMethod['kind'], readonly Need[]>> = {
  push: [['contents', 'write', 'to push']],
  'github-merge': [['contents', 'write', 'to merge']],
  queue: [
    ['contents', 'write', 'to queue pull requests'],
    ['pull_requests', 'write', 'to queue pull requests'],
    ['merge_queues', 'read', 'to hear which groups GitHub wants checked'],
    ['checks', 'write', 'to report on those groups'],
  ],
}

function lacks({ permissions }: LandingInput, method: LandingMethod): string[] {
  const forChecks: readonly Need[] =
    method.kind === 'push' && method.checksFirst
      ? [['checks', 'write', 'to put its checks on a merge before it is pushed']]
      : []
  return [...needs[method.kind], ...forChecks]
    .filter(([name, level]) => !allows(permissions, name, level))
    .map(([name, level, what]) => `the App lacks the permission ${name}: ${level} ${what}`)
}

const quoted = (names: readonly string[]): string => listed(names.map((name) => `"${name}"`))
