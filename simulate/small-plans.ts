// All plans of a small scope: two packages, three people, two pull requests, and up to six events in every order that makes a
// difference. There are more than a machine runs in a day: they come in an order in which each beginning looks everywhere.
import { chanceAt } from './chance.ts'
import type { Deed, Event, Fault, Plan } from './plan.ts'

type Act = Deed | Fault

/** An owner's pull request, and one of somebody without rights. */
const openings: readonly (readonly [Deed, Deed])[] = [
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
const acts: readonly Act[] = [
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
const moments = [2, 25, 45, 58, 66, 74, 82, 90, 100, 140] as const
const events = 4

/** How many there are. */
export const smallPlans = openings.length * (acts.length * moments.length) ** events

/** One of them: each number has its own, and those of numbers in a row have little in common. */
export function smallPlan(number: number, seed: number): Plan {
  const scatter = (part: number, of: number) => Math.floor(chanceAt(seed, number, part) * of)
  const [first, second] = openings[scatter(0, openings.length)] ?? openings[0] ?? []
  const chosen = Array.from({ length: 1 + scatter(1, events) }, (_, at): Event[] => {
    const act = acts[scatter(2 + 2 * at, acts.length)]
    const moment = moments[scatter(3 + 2 * at, moments.length)]
    return act === undefined || moment === undefined ? [] : [{ at: moment, ...act }]
  })
  const opened = [first, second].flatMap((deed): Event[] => (deed === undefined ? [] : [{ at: 0, ...deed }]))
  return {
    seed: number,
    instances: 1,
    webhooks: true,
    events: [...opened, ...chosen.flat().toSorted((a, b) => a.at - b.at)],
  }
}
