// Chains of events in which each event depends on the earlier ones: a change that is approved and then modified, a
// pull request that is evaluated again and then held, or a merge by GitHub on another base. Random events rarely form
// such chains, and most merge-bot bugs appear in only one of them (docs/dev/test-strategy.md).
import type { SeededRandom } from './seeded-random.ts'
import { catalogFlaws, packageNames } from './world/repository-contents.ts'
import type { UserAction, PlannedFileEdit, PlannedEvent, InjectedFault } from './simulation-plan.ts'

/** Owners of each package, as the files spell them. Logins are case-insensitive, but file contents are not. */
export const initialOwnersByPackage = { foo: ['ann', 'amy'], bar: ['Bob'] } as const
const ownerLoginsByPackage = { foo: ['ann', 'amy'], bar: ['bob'] } as const
/** Accounts that own no package. `bo` is a prefix of an owner's name. */
const untrustedUsers = ['eve', 'bo', 'wes'] as const

type PlannedAction = UserAction | InjectedFault
/**
 * An event, and the number of catalog-bot steps before it: about one evaluation of a pull request, or any moment
 * within one.
 */
type EventChainStep = readonly [act: PlannedAction, gap?: 'check' | 'moment']
type EventChain = (dice: SeededRandom) => readonly EventChainStep[]

interface UntrustedPull {
  readonly by: string
  readonly owner: string
  readonly edits: readonly PlannedFileEdit[]
}

function generateRandomUntrustedPull(dice: SeededRandom): UntrustedPull {
  const name = dice.of(packageNames)
  return {
    by: dice.of(untrustedUsers),
    owner: dice.of(ownerLoginsByPackage[name]),
    edits: [{ kind: 'release', package: name }],
  }
}

/**
 * An owner approves while something else blocks the pull request. The event that follows must invalidate the
 * approval.
 */
const createApprovedPullChain =
  (after: (outsider: UntrustedPull, dice: SeededRandom) => readonly PlannedAction[]): EventChain =>
  (dice) => {
    const untrusted = generateRandomUntrustedPull(dice)
    const { by, owner, edits } = untrusted
    const yes: PlannedAction = dice.isTrue(0.5)
      ? { do: 'comment', by: owner, pull: 1, body: '/approve' }
      : { do: 'review', by: owner, pull: 1, state: 'approved' }
    const waits = dice.isTrue(0.7)
    const label = { do: 'label', by: 'max', pull: 1, label: 'hold' } as const
    return [
      [{ do: 'open', by, edits }],
      ...(waits ? [[label] as const] : []),
      [yes, 'check'],
      ...after(untrusted, dice).map((act): EventChainStep => [act, waits ? 'check' : 'moment']),
      ...(waits ? [[{ ...label, off: true }, 'check'] as const] : []),
    ]
  }

/** Owners' pull requests that are ready at the same time, and an event that affects one of them. */
const generateBatchMergeChain: EventChain = (dice) => {
  const count = dice.between(2, 4)
  const opened = Array.from({ length: count }, (_, index): EventChainStep => {
    const name = dice.of(packageNames)
    return [
      {
        do: 'open',
        by: dice.of(ownerLoginsByPackage[name]),
        edits: [{ kind: 'extra', package: name, part: index + 1 }],
      },
    ]
  })
  const pull = dice.between(1, count)
  const late: PlannedAction = dice.of<PlannedAction>([
    { do: 'comment', by: 'max', pull, body: '/hold' },
    { do: 'comment', by: 'max', pull, body: '/freeze' },
    { do: 'push', by: 'eve', pull, edits: [{ kind: 'extra', package: dice.of(packageNames), part: 9 }] },
    { do: 'label', by: 'wes', pull, label: 'hold' },
    { do: 'review', by: 'max', pull, state: 'changes-requested' },
    { do: 'close', by: 'max', pull },
    { do: 'draft', by: 'max', pull },
    { do: 'push-base', by: 'max', edits: [{ kind: 'release', package: dice.of(packageNames) }] },
    { fault: 'fails', to: 'push', when: dice.of(['before', 'after'] as const), times: 1 },
    { fault: 'crash', to: 'push' },
  ])
  return [...opened, [late, 'check'], ...(dice.isTrue(0.5) ? [[late, 'moment'] as const] : [])]
}

/** An owner's release, and an event at any moment of its merge. */
const createReleaseChain =
  (before: readonly PlannedAction[], after: (dice: SeededRandom) => readonly PlannedAction[]): EventChain =>
  (dice) => {
    const name = dice.of(packageNames)
    return [
      ...before.map((act): EventChainStep => [act]),
      [{ do: 'open', by: dice.of(ownerLoginsByPackage[name]), edits: [{ kind: 'release', package: name }] }],
      ...after(dice).map((act): EventChainStep => [act, 'moment']),
    ]
  }

/** Changes that must not merge, each in the simplest form that another bot allowed. */
const generateForbiddenChangeChain: EventChain = (dice) => {
  const { by, owner, edits } = generateRandomUntrustedPull(dice)
  const name = dice.of(packageNames)
  const its = dice.of(ownerLoginsByPackage[name])
  const comment = (body: string): EventChainStep => [{ do: 'comment', by: owner, pull: 1, body }, 'check']
  return dice.of<() => readonly EventChainStep[]>([
    () => [[{ do: 'open', by, edits: [{ kind: 'own', package: name, who: by }] }]],
    () => [[{ do: 'open', by, edits: [{ kind: 'own', package: name, who: by }, ...edits] }]],
    () => [[{ do: 'open', by, edits: [{ kind: 'configure', config: 'team' }] }]],
    () => [[{ do: 'open', by, edits }], [{ do: 'label', by: 'wes', pull: 1, label: 'approved' }]],
    () => [[{ do: 'open', by, edits }], comment('```\n\n/approve\n\n```')],
    () => [[{ do: 'open', by, edits }], comment('> /approve')],
    () => [[{ do: 'open', by, edits }], [{ do: 'push', by: owner, pull: 1, edits }, 'check']],
    () => [[{ do: 'open', by: its, edits: [{ kind: 'link', package: name }] }]],
    () => [[{ do: 'open', by: its, edits: [{ kind: 'attributes', package: name }] }]],
    () => [[{ do: 'open', by: its, edits: [{ kind: 'release', package: name, flaw: 'foreign-blob' }] }]],
    () => [
      [{ do: 'open', by: its, edits: [{ kind: 'release', package: name, flaw: dice.of(catalogFlaws) }] }],
    ],
    () => [[{ do: 'open', by: its, edits: [{ kind: 'release', package: name }], stacked: true }]],
  ])()
}

const weightedEventChains: readonly (readonly [chain: EventChain, weight: number])[] = [
  [createApprovedPullChain(({ by, edits }) => [{ do: 'push', by, pull: 1, edits, force: true }]), 1],
  [
    createApprovedPullChain(({ by, owner }, dice) => [
      { do: 'push', by: dice.of([by, owner]), pull: 1, edits: generateExtraFileEdit(dice) },
    ]),
    2,
  ],
  [
    createApprovedPullChain(({ by }, dice) => [
      { do: 'push', by, pull: 1, edits: generateExtraFileEdit(dice), force: true },
      { do: 'return', by, pull: 1 },
    ]),
    2,
  ],
  [
    createApprovedPullChain(({ by }) => [
      { do: 'retarget', by, pull: 1, base: 'release' },
      { do: 'retarget', by, pull: 1, base: 'main' },
    ]),
    2,
  ],
  [
    createApprovedPullChain(({ owner }) => [
      { do: 'review', by: owner, pull: 1, state: 'changes-requested' },
      { do: 'dismiss', by: owner, pull: 1 },
    ]),
    2,
  ],
  [createApprovedPullChain(({ owner }) => [{ do: 'comment', by: owner, pull: 1, body: '/hold' }]), 1],
  [
    createApprovedPullChain((_, dice) => [
      { do: 'push-base', by: 'max', edits: generateExtraFileEdit(dice) },
    ]),
    1,
  ],
  [createApprovedPullChain(() => [{ do: 'delete-comment', by: 'max', pull: 1 }]), 1],
  [
    (dice) => {
      const { by, owner, edits } = generateRandomUntrustedPull(dice)
      const body = dice.of(['/recheck', 'Looks good.', '> /approve'])
      return [
        [{ do: 'open', by, edits }],
        [{ do: 'comment', by: owner, pull: 1, body }, 'check'],
        [{ do: 'edit-comment', by, pull: 1, body: '/approve', isHidden: dice.isTrue(0.5) }, 'moment'],
      ]
    },
    2,
  ],
  [
    (dice) => {
      const name = dice.of(packageNames)
      return [
        [
          {
            do: 'open',
            by: dice.of(ownerLoginsByPackage[name]),
            edits: [{ kind: 'release', package: name, flaw: dice.of(['fork', 'dangling'] as const) }],
          },
        ],
        [
          {
            do: 'comment',
            by: 'max',
            pull: 1,
            body: dice.of(['/override several-heads because it is wanted', '/approve', '/merge']),
          },
          'check',
        ],
      ]
    },
    1,
  ],
  [generateForbiddenChangeChain, 8],
  [generateBatchMergeChain, 6],
  [createReleaseChain([], (dice) => [pickActionBeforeMerge(dice)]), 3],
  [
    createReleaseChain([{ do: 'rules', rules: 'linear' }], (dice) => [
      { do: 'push-base', by: 'max', edits: [{ kind: dice.isTrue(0.5) ? 'readme' : 'nothing' }] },
    ]),
    2,
  ],
  [
    (dice) => {
      const [by, part] = [dice.of(untrustedUsers), dice.between(1, 3)]
      return [
        [{ do: 'push-base', by: 'max', edits: [{ kind: 'configure', config: 'team' }] }],
        [{ do: 'open', by, edits: [{ kind: 'extra', package: 'bar', part }] }],
      ]
    },
    1,
  ],
  [
    (dice) => [
      [{ do: 'open', by: 'ann', edits: [{ kind: 'extra', package: 'foo', part: 1 }], stacked: true }],
      [{ do: 'comment', by: 'max', pull: 1, body: dice.of(['/approve', '/merge']) }, 'check'],
    ],
    1,
  ],
]

const generateExtraFileEdit = (dice: SeededRandom): readonly PlannedFileEdit[] => [
  { kind: 'extra', package: dice.of(packageNames), part: dice.between(1, 3) },
]

/** Events that can happen between a verdict and a push. */
function pickActionBeforeMerge(dice: SeededRandom): PlannedAction {
  return dice.of<PlannedAction>([
    { do: 'comment', by: 'max', pull: 1, body: '/freeze' },
    { do: 'comment', by: 'max', pull: 1, body: '/hold' },
    { do: 'review', by: 'max', pull: 1, state: 'changes-requested' },
    { do: 'label', by: 'wes', pull: 1, label: 'hold' },
    { do: 'draft', by: 'max', pull: 1 },
    { do: 'push-base', by: 'max', edits: generateExtraFileEdit(dice) },
    { fault: 'crash', to: 'push' },
    { fault: 'fails', to: 'push', when: 'after', times: 1 },
  ])
}

/** A chain of events. Its pull requests are the first ones of the run. */
export function generateRandomEventChain(dice: SeededRandom): readonly PlannedEvent[] {
  let step = 0
  return dice
    .pickWeighted(weightedEventChains)(dice)
    .map(([act, gap]): PlannedEvent => {
      step +=
        gap === undefined ? dice.between(0, 2) : gap === 'check' ? dice.between(50, 130) : dice.between(1, 60)
      return { at: step, ...act }
    })
}
