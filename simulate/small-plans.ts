// All plans of a small scope: two packages, three people, two pull requests, and up to six events, each at one of a few moments.
// There are more than a machine runs in a day, and they come in an order in which each beginning looks everywhere.
import type { UserAction, PlannedEvent, InjectedFault, SimulationPlan } from './simulation-plan.ts'

export type PlannedAction = UserAction | InjectedFault

/** An owner's pull request, and one of somebody without rights. */
const openingActionPairs: readonly (readonly [UserAction, UserAction])[] = [
  [
    { do: 'open', by: 'ann', edits: [{ kind: 'release', package: 'foo' }] },
    { do: 'open', by: 'eve', edits: [{ kind: 'release', package: 'bar' }] },
  ],
  [
    { do: 'open', by: 'ann', edits: [{ kind: 'extra', package: 'foo', part: 1 }] },
    { do: 'open', by: 'ann', edits: [{ kind: 'extra', package: 'foo', part: 2 }] },
  ],
]

/** What can happen besides, by these three people. */
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

/** Steps of the bot at which something can happen: before, within and after its work at a pull request. */
const possibleEventSteps = [2, 25, 45, 58, 66, 74, 82, 90, 100, 140] as const
/** With the two openings there are six events; one of them may be none. */
const maxExtraEvents = 4
const choicesPerEvent = possibleActions.length * possibleEventSteps.length + 1

/** What all worlds of a small scope are made of: how they begin, what can happen besides, and when. */
export interface ExplorationScope {
  readonly openings: readonly (readonly UserAction[])[]
  readonly acts: readonly PlannedAction[]
  readonly moments: readonly number[]
}

/** All of the above. Worlds with one event more are some minutes' work, with two some hours'. */
const wideExplorationScope: ExplorationScope = {
  openings: openingActionPairs,
  acts: possibleActions,
  moments: possibleEventSteps,
}

/**
 * What can become of a stranger's pull request beside an owner's, with a yes, an objection, a push that is taken back and an
 * answer that is lost: few enough to run all worlds with six events, two of them the openings.
 */
const narrowExplorationScope: ExplorationScope = {
  openings: openingActionPairs.slice(0, 1),
  acts: [
    { do: 'comment', by: 'max', pull: 2, body: '/approve' },
    { do: 'comment', by: 'ann', pull: 1, body: '/hold' },
    { do: 'push', by: 'eve', pull: 2, edits: [{ kind: 'own', package: 'bar', who: 'eve' }] },
    { do: 'return', by: 'eve', pull: 2 },
    { do: 'push-base', by: 'max', edits: [{ kind: 'readme' }] },
    { fault: 'fails', to: 'push', when: 'after', times: 1 },
  ],
  // Within the first look, and when nothing goes on any more.
  moments: [66, 1000],
}

export const explorationScopes = { wide: wideExplorationScope, narrow: narrowExplorationScope } as const

/** How many there are. */
export const smallPlanCount = openingActionPairs.length * choicesPerEvent ** maxExtraEvents

/** A prime that divides none of the numbers above: steps of this size come by every plan before one comes again. */
const smallPlanStride = 1_000_003

/** One of them. Numbers in a row have little in common, and as many of them as there are plans are all of them. */
export function createSmallPlan(number: number): SimulationPlan {
  let remaining = ((number % smallPlanCount) * smallPlanStride) % smallPlanCount
  const digit = (of: number): number => {
    const value = remaining % of
    remaining = Math.floor(remaining / of)
    return value
  }
  const opened = (openingActionPairs[digit(openingActionPairs.length)] ?? []).map((deed): PlannedEvent => ({
    at: 0,
    ...deed,
  }))
  const others = Array.from({ length: maxExtraEvents }, () => toPlannedEvents(digit(choicesPerEvent))).flat()
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
