// All plans of a small scope: two packages, three users, two pull requests, and up to six events, each at one of a
// few moments. A machine cannot run all of them in a day. They are ordered so that any prefix covers the whole space.
import type { UserAction, PlannedEvent, InjectedFault, SimulationPlan } from './simulation-plan.ts'

export type PlannedAction = UserAction | InjectedFault

/** A pull request from an owner, and one from a user without permissions. */
const openPullActionPairs: readonly (readonly [UserAction, UserAction])[] = [
  [
    { do: 'open', by: 'ann', edits: [{ kind: 'release', package: 'foo' }] },
    { do: 'open', by: 'eve', edits: [{ kind: 'release', package: 'bar' }] },
  ],
  [
    { do: 'open', by: 'ann', edits: [{ kind: 'extra', package: 'foo', part: 1 }] },
    { do: 'open', by: 'ann', edits: [{ kind: 'extra', package: 'foo', part: 2 }] },
  ],
]

/** Other events that these three users can cause. */
const possibleActions: readonly PlannedAction[] = [
  { do: 'review', by: 'ann', pull: 2, state: 'approved' },
  { do: 'comment', by: 'max', pull: 2, body: '/approve' },
  { do: 'comment', by: 'ann', pull: 1, body: '/hold' },
  { do: 'comment', by: 'max', pull: 1, body: '/unhold' },
  { do: 'comment', by: 'max', pull: 1, body: '/freeze' },
  { do: 'push', by: 'eve', pull: 2, edits: [{ kind: 'own', package: 'bar', who: 'eve' }] },
  { do: 'push', by: 'ann', pull: 1, edits: [{ kind: 'release', package: 'foo', flaw: 'fork' }] },
  { do: 'return', by: 'eve', pull: 2 },
  { do: 'dismiss', by: 'ann', pull: 2 },
  { do: 'close', by: 'ann', pull: 1 },
  { do: 'retarget', by: 'ann', pull: 1, base: 'release' },
  { do: 'push-base', by: 'max', edits: [{ kind: 'disown', package: 'foo', who: 'ann' }] },
  { do: 'push-base', by: 'max', edits: [{ kind: 'readme' }] },
  { do: 'rules', rules: 'required checks' },
  { fault: 'crash' },
  { fault: 'fails', to: 'push', when: 'after', times: 1 },
  { fault: 'fails', to: 'push', when: 'before', times: 1 },
  { fault: 'lose-delivery', times: 2 },
  { fault: 'stale', steps: 6, times: 1 },
]

/** The catalog-bot steps at which an event can happen: before, during, and after its work on a pull request. */
const possibleEventSteps = [2, 25, 45, 58, 66, 74, 82, 90, 100, 140] as const
/** There are six events with the two that open pull requests. One of them may be empty. */
const maxExtraEvents = 4
const choiceCountPerEvent = possibleActions.length * possibleEventSteps.length + 1

/**
 * The elements of all scenarios in a small scope: the initial events, the other possible events, and their times.
 *
 */
export interface ExplorationScope {
  readonly openings: readonly (readonly UserAction[])[]
  readonly acts: readonly PlannedAction[]
  readonly moments: readonly number[]
}

/** All of the above. Scenarios with one more event take minutes, and with two more events take hours. */
const wideExplorationScope: ExplorationScope = {
  openings: openPullActionPairs,
  acts: possibleActions,
  moments: possibleEventSteps,
}

/**
 * The possible fates of a pull request from a user without permissions beside an owner's pull request: an approval,
 * an objection, a push that is reverted, and a lost answer. The scope is small enough to run all scenarios with six
 * events, including the two that open pull requests.
 */
const narrowExplorationScope: ExplorationScope = {
  openings: openPullActionPairs.slice(0, 1),
  acts: [
    { do: 'comment', by: 'max', pull: 2, body: '/approve' },
    { do: 'comment', by: 'ann', pull: 1, body: '/hold' },
    { do: 'push', by: 'eve', pull: 2, edits: [{ kind: 'own', package: 'bar', who: 'eve' }] },
    { do: 'return', by: 'eve', pull: 2 },
    { do: 'push-base', by: 'max', edits: [{ kind: 'readme' }] },
    { fault: 'fails', to: 'push', when: 'after', times: 1 },
  ],
  // During the first evaluation, and when the run is idle.
  moments: [66, 1000],
}

export const explorationScopes = { wide: wideExplorationScope, narrow: narrowExplorationScope } as const

/** The number of plans. */
export const smallPlanCount = openPullActionPairs.length * choiceCountPerEvent ** maxExtraEvents

/** A prime that divides none of the numbers above. Steps of this size visit every plan before they repeat one. */
const smallPlanStride = 1_000_003

/**
 * One plan. Consecutive indexes give dissimilar plans, and `smallPlanCount` consecutive indexes cover all of them.
 *
 */
export function createSmallPlan(number: number): SimulationPlan {
  let remaining = ((number % smallPlanCount) * smallPlanStride) % smallPlanCount
  const digit = (of: number): number => {
    const value = remaining % of
    remaining = Math.floor(remaining / of)
    return value
  }
  const opened = (openPullActionPairs[digit(openPullActionPairs.length)] ?? []).map((deed): PlannedEvent => ({
    at: 0,
    ...deed,
  }))
  const others = Array.from({ length: maxExtraEvents }, () =>
    toPlannedEvents(digit(choiceCountPerEvent)),
  ).flat()
  return {
    seed: number,
    instances: 1,
    webhooks: true,
    events: [...opened, ...others.toSorted((a, b) => a.at - b.at)],
  }
}

function toPlannedEvents(choice: number): readonly PlannedEvent[] {
  const act = possibleActions[Math.floor(choice / possibleEventSteps.length)]
  const moment = possibleEventSteps[choice % possibleEventSteps.length]
  return act === undefined || moment === undefined ? [] : [{ at: moment, ...act }]
}
