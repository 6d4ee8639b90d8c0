// The bot's process ends, or stands still, at any single step of a landing, from the delivery to the report, and another one comes
// along: the pull request lands exactly once, and what people see in the end is true. The real jobs on ports in memory;
// test/stories/crashes.test.ts kills real processes.
import { expect, test } from '@jest/globals'
import type { PlannedEvent } from '../../simulate/simulation-plan.ts'
import { runSimulation } from '../../simulate/run-simulation.ts'

const openEvent: PlannedEvent = { at: 0, do: 'open', by: 'ann', edits: [{ kind: 'release', package: 'foo' }] }
const simulate = (events: readonly PlannedEvent[], { instances = 1, seed = 1, isTraced = false } = {}) =>
  runSimulation({ seed, instances, webhooks: true, events }, { isTraced })

/** Two minutes: after that there are only sweeps that find nothing to do, and they do nothing for a landing before. */
const listTraceSteps = (trace: readonly string[]): readonly number[] =>
  trace.flatMap((line) => {
    const [, step] = /^(\d+) 00:0[01]:(?!.* \[(?:sweep|publish)\]| wakes)/.exec(line) ?? []
    return step === undefined ? [] : [Number(step)]
  })

test('whose process ends at any of its steps, a landing happens once, and all comes to its end', async () => {
  const steps = listTraceSteps((await simulate([openEvent], { isTraced: true })).trace)
  expect(steps.length).toBeGreaterThan(100)
  const wrong: unknown[] = []
  const ends = new Set<number>()
  for (const at of steps) {
    const { violations, landings, steps: taken } = await simulate([openEvent, { at, fault: 'crash' }])
    if (violations.length > 0 || landings !== 1) wrong.push({ at, landings, violations })
    ends.add(taken)
  }
  expect(wrong).toEqual([])
  // They are not the same life.
  expect(ends.size).toBeGreaterThan(20)
}, 300_000)

test('that stands still at any step, while another goes on, has the last word about nothing', async () => {
  const wrong: unknown[] = []
  // A look at it may be under way when it is merged, or not: it depends on who takes which job when.
  for (const [seed, said] of [
    [1, 90],
    [2, 100],
  ] as const) {
    // Somebody says something to it meanwhile.
    const events: PlannedEvent[] = [
      openEvent,
      { at: said, do: 'comment', by: 'mia', pull: 1, body: '/recheck' },
    ]
    const two = { instances: 2, seed }
    for (const at of listTraceSteps((await simulate(events, { ...two, isTraced: true })).trace)) {
      const { violations, landings } = await simulate([...events, { at, fault: 'pause', seconds: 90 }], two)
      if (violations.length > 0 || landings !== 1) wrong.push({ seed, at, landings, violations })
    }
  }
  expect(wrong).toEqual([])
}, 300_000)

test.each([
  ['by a push', []],
  ['by GitHub', [{ at: 0, do: 'rules', rules: 'linear' }]],
] as const)(
  'that is made %s is told as what it came to, whichever branch its pull request goes to at any step',
  async (_, before) => {
    const wrong: unknown[] = []
    const events: PlannedEvent[] = [...before, openEvent]
    const two = { instances: 2, seed: 7 }
    for (const at of listTraceSteps((await simulate(events, { ...two, isTraced: true })).trace)) {
      const goes: PlannedEvent = { at, do: 'retarget', by: 'mia', pull: 1, base: 'release' }
      const { violations } = await simulate([...events, goes], two)
      if (violations.length > 0) wrong.push({ at, violations })
    }
    expect(wrong).toEqual([])
  },
  300_000,
)
