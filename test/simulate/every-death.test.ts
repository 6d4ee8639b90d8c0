// The bot's process ends at any single step of a landing, from the delivery to the report, and another one comes along: the pull
// request lands exactly once. The real jobs on ports in memory; test/stories/crashes.test.ts kills real processes.
import { expect, test } from '@jest/globals'
import type { Event } from '../../simulate/plan.ts'
import { run } from '../../simulate/run.ts'

const open: Event = { at: 0, do: 'open', by: 'ann', edits: [{ kind: 'release', package: 'foo' }] }
const lives = (events: readonly Event[], isTraced = false) =>
  run({ seed: 1, instances: 1, webhooks: true, events }, { isTraced })

test('whose process ends at any of its steps, a landing happens once, and all comes to its end', async () => {
  const { trace } = await lives([open], true)
  // Two minutes: after that there are only sweeps that find nothing to do, and they do nothing for a landing before.
  const steps = trace.flatMap((line) => {
    const [, step] = /^(\d+) 00:0[01]:(?!.* \[(?:sweep|publish)\]| wakes)/.exec(line) ?? []
    return step === undefined ? [] : [Number(step)]
  })
  expect(steps.length).toBeGreaterThan(100)
  const wrong: unknown[] = []
  const ends = new Set<number>()
  for (const at of steps) {
    const { violations, landings, steps: taken } = await lives([open, { at, fault: 'crash' }])
    if (violations.length > 0 || landings !== 1) wrong.push({ at, landings, violations })
    ends.add(taken)
  }
  expect(wrong).toEqual([])
  // They are not the same life.
  expect(ends.size).toBeGreaterThan(20)
}, 300_000)
