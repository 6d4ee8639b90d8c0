// Generates a run: good and bad pull requests, users with and without permissions, and faults.
import { SeededRandom } from './seeded-random.ts'
import {
  pullRequestLabels,
  repositoryRoles,
  type UserAction,
  type PlannedFileEdit,
  type PlannedEvent,
  type InjectedFault,
  type SimulationPlan,
} from './simulation-plan.ts'
import { generateRandomEventChain } from './event-chains.ts'
import { catalogFlaws, packageNames } from './world/repository-contents.ts'

/**
 * Owners of foo and bar, a maintainer by configuration, a maintainer by role, a writer, and two users without
 * permissions.
 */
export const userNames = ['ann', 'amy', 'bob', 'max', 'mia', 'wes', 'eve', 'bo'] as const
const ownerLoginsByPackage = { foo: ['ann', 'amy'], bar: ['bob'] } as const

/** The number of catalog-bot steps during which user actions and faults happen. */
const activeStepCount = 500

export function generatePlan(seed: number): SimulationPlan {
  const dice = new SeededRandom(seed)
  const chain = dice.isTrue(0.5) ? generateRandomEventChain(dice) : []
  const pulls = dice.pickWeighted([
    [1, 3],
    [2, 4],
    [3, 2],
    [4, 1],
  ])
  const first = Array.from({ length: chain.length > 0 ? 0 : pulls }, (): PlannedEvent => ({
    at: dice.between(0, 60),
    ...generateRandomPullOpening(dice),
  }))
  // A chain of dependent events gets few other events beside it. Otherwise it rarely completes.
  const maxRandomEvents = chain.length > 0 ? 2 : 9
  const deeds = Array.from({ length: dice.between(0, maxRandomEvents) }, (): PlannedEvent => ({
    at: dice.between(1, activeStepCount),
    ...generateRandomUserAction(dice, pulls),
  }))
  const faults = Array.from(
    { length: dice.isTrue(0.3) ? 0 : dice.between(1, Math.min(6, maxRandomEvents + 1)) },
    (): PlannedEvent => ({ at: dice.between(1, activeStepCount), ...generateRandomFault(dice) }),
  )
  return {
    seed,
    instances: dice.isTrue(0.5) ? 2 : 1,
    webhooks: dice.isTrue(0.85),
    events: [...chain, ...first, ...deeds, ...faults].toSorted((a, b) => a.at - b.at),
  }
}

function generateRandomPullOpening(dice: SeededRandom): UserAction {
  // Most changes are typical for a catalog: a release by an owner.
  if (dice.isTrue(0.4)) {
    const name = dice.of(packageNames)
    const edit: PlannedFileEdit = dice.isTrue(0.6)
      ? { kind: 'release', package: name }
      : { kind: 'extra', package: name, part: dice.between(1, 3) }
    return { do: 'open', by: dice.of(ownerLoginsByPackage[name]), edits: [edit] }
  }
  return {
    do: 'open',
    by: dice.of(userNames),
    edits: generateRandomFileEdits(dice),
    ...(dice.isTrue(0.08) && { draft: true }),
    ...(dice.isTrue(0.05) && { base: 'release' }),
    ...(dice.isTrue(0.03) && { stacked: true }),
  }
}

function generateRandomFileEdits(dice: SeededRandom): readonly PlannedFileEdit[] {
  return Array.from({ length: dice.isTrue(0.8) ? 1 : 2 }, () => generateRandomFileEdit(dice))
}

function generateRandomFileEdit(dice: SeededRandom): PlannedFileEdit {
  const name = dice.of(packageNames)
  const kind = dice.pickWeighted<PlannedFileEdit['kind']>([
    ['release', 12],
    ['extra', 6],
    ['own', 3],
    ['disown', 1],
    ['add-package', 1],
    ['configure', 1],
    ['maintain', 1],
    ['workflow', 1],
    ['readme', 1],
    ['link', 1],
    ['attributes', 1],
    ['executable', 1],
    ['nothing', 1],
  ])
  switch (kind) {
    case 'release':
      return { kind, package: name, ...(dice.isTrue(0.2) && { flaw: dice.of(catalogFlaws) }) }
    case 'extra':
      return { kind, package: name, part: dice.between(1, 3) }
    case 'own':
    case 'disown':
      return { kind, package: name, who: dice.of(userNames) }
    case 'add-package':
      return { kind, package: 'baz', who: dice.of(userNames) }
    case 'configure':
      return {
        kind,
        config: dice.of(['plain', 'merging off', 'confirm pushes', 'team', 'unreadable'] as const),
      }
    case 'maintain':
      return { kind, who: dice.of(userNames) }
    case 'link':
    case 'attributes':
    case 'executable':
      return { kind, package: name }
    case 'workflow':
    case 'readme':
    case 'nothing':
      return { kind }
  }
}

const commentBodies = [
  '/approve',
  '/hold',
  '/unhold',
  '/merge',
  '/recheck',
  '/freeze',
  '/thaw',
  '> /approve',
  '```\n\n/approve\n\n```',
  'I am fine with this.\n\n/approve',
  '/override several-heads because it is wanted',
] as const

function generateRandomUserAction(dice: SeededRandom, pulls: number): UserAction {
  const by = dice.of(userNames)
  const pull = dice.between(1, pulls)
  return dice.pickWeighted<() => UserAction>([
    [() => ({ do: 'open', by, edits: generateRandomFileEdits(dice) }), 1],
    [
      () => ({
        do: 'push',
        by,
        pull,
        edits: generateRandomFileEdits(dice),
        ...(dice.isTrue(0.3) && { force: true }),
      }),
      5,
    ],
    [() => ({ do: 'return', by, pull }), 2],
    [() => ({ do: 'update', by, pull }), 2],
    [() => ({ do: 'retarget', by, pull, base: dice.of(['main', 'release']) }), 2],
    [() => ({ do: dice.of(['close', 'reopen', 'draft', 'ready'] as const), by, pull }), 3],
    [
      () => ({
        do: 'review',
        by,
        pull,
        state: dice.pickWeighted([
          ['approved', 6],
          ['changes-requested', 2],
          ['commented', 1],
        ] as const),
      }),
      9,
    ],
    [() => ({ do: 'dismiss', by, pull }), 2],
    [() => ({ do: 'comment', by, pull, body: dice.of(commentBodies) }), 12],
    [
      () => ({
        do: 'edit-comment',
        by,
        pull,
        body: dice.of(commentBodies),
        ...(dice.isTrue(0.4) && { isHidden: true }),
      }),
      3,
    ],
    [() => ({ do: 'delete-comment', by, pull }), 2],
    [() => ({ do: 'delete-report', by, pull }), 1],
    [
      () => ({
        do: 'label',
        by,
        pull,
        label: dice.of(pullRequestLabels),
        ...(dice.isTrue(0.4) && { off: true }),
      }),
      3,
    ],
    [() => ({ do: 'forge-check', by, pull }), 1],
    [() => ({ do: 'push-base', by: 'max', edits: [generateRandomBaseBranchEdit(dice)] }), 5],
    [() => ({ do: 'merge-by-hand', by: 'max', pull }), 1],
    [() => ({ do: 'role', who: dice.of(['mia', 'wes', 'eve']), role: dice.of(repositoryRoles) }), 1],
    [() => ({ do: 'rules', rules: dice.of(['none', 'required checks', 'linear', 'locked'] as const) }), 2],
  ])()
}

/** Changes that a maintainer deliberately pushes to the base. */
function generateRandomBaseBranchEdit(dice: SeededRandom): PlannedFileEdit {
  return dice.pickWeighted<PlannedFileEdit>([
    [{ kind: 'release', package: dice.of(packageNames) }, 4],
    [{ kind: 'own', package: dice.of(packageNames), who: dice.of(userNames) }, 2],
    [{ kind: 'disown', package: dice.of(packageNames), who: dice.of(userNames) }, 2],
    [
      {
        kind: 'configure',
        config: dice.of(['plain', 'merging off', 'confirm pushes', 'team', 'unreadable'] as const),
      },
      2,
    ],
    [{ kind: 'readme' }, 3],
  ])
}

function generateRandomFault(dice: SeededRandom): InjectedFault {
  return dice.pickWeighted<() => InjectedFault>([
    [
      () => ({
        fault: 'fails',
        to: dice.pickWeighted([
          ['github', 6],
          ['git', 2],
          ['push', 6],
          ['merge', 2],
          ['store', 3],
          ['registry', 2],
        ] as const),
        when: dice.of(['before', 'after'] as const),
        times: dice.pickWeighted([
          [1, 5],
          [3, 2],
          [12, 1],
        ] as const),
      }),
      10,
    ],
    [() => ({ fault: 'limited', times: dice.between(1, 8), seconds: dice.between(5, 90) }), 2],
    [() => ({ fault: 'stale', steps: dice.between(1, 12), times: dice.between(1, 4) }), 3],
    [() => ({ fault: 'crash', ...(dice.isTrue(0.4) && { to: 'push' as const }) }), 6],
    [() => ({ fault: 'pause', seconds: dice.of([2, 20, 90]) }), 2],
    [() => ({ fault: 'clock', seconds: dice.of([-300, -5, 5, 300]) }), 1],
    [() => ({ fault: 'lose-delivery', times: dice.between(1, 6) }), 3],
    [() => ({ fault: 'double-delivery', times: dice.between(1, 4) }), 2],
    [() => ({ fault: 'lose-cache' }), 1],
    [() => ({ fault: 'lose-mirror' }), 1],
  ])()
}
