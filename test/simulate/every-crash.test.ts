// The bot's process ends or pauses at every single step of a merge, from the delivery to the report, and another
// process takes over. The pull request is merged exactly once, and the final reports are true. The jobs are real and
// the ports are in memory; test/stories/crashes.test.ts kills real processes.
import { expect, test } from '@jest/globals'
import type { PlannedEvent } from '../../simulate/simulation-plan.ts'
import { runSimulation } from '../../simulate/run-simulation.ts'

const pullOpenedEvent: PlannedEvent = {
  at: 0,
  do: 'open',
  by: 'ann',
  edits: [{ kind: 'release', package: 'foo' }],
}
const runTestSimulation = (
  events: readonly PlannedEvent[],
  { instances = 1, seed = 1, isTraced = false } = {},
) => runSimulation({ seed, instances, webhooks: true, events }, { isTraced })

/** Two minutes. Later there are only sweeps without work, which don't affect an earlier merge. */
const isMergeStep = (line: string) => /^\d+ 00:0[01]:(?!.* \[(?:sweep|publish)\]| wakes)/.test(line)
const listTraceStepNumbers = (trace: readonly string[]) =>
  trace.filter(isMergeStep).map((line) => parseInt(line))

const readPattern =
  / takes | delivery \D+$|\] (?:look up|ask for|read (?:state|stops|accounts|open merges|the commands|the merge of|whether|who is ready|what is shown|a verdict)) /
/** Leaves out reads of the store and of registries: a crash or an event on GitHub has the same effect before the next call. */
const listEffectiveStepNumbers = (trace: readonly string[]) =>
  listTraceStepNumbers(trace.filter((line) => !readPattern.test(line)))

/** Leaves out a pause of a process that did nothing since its last pause, except to query a registry. The processes take turns. */
function listPauseStepNumbers(trace: readonly string[], first: number): readonly number[] {
  const positions = new Set<string>()
  const taken = trace.filter((line) => isMergeStep(line) && !line.includes(' ask for '))
  return listTraceStepNumbers(trace).filter((step) => {
    const name = `bot ${(step % 2) + 1} `
    const position = taken.filter((line) => parseInt(line) < step && line.includes(name)).length
    return step >= first && positions.size < positions.add(`${name}${position}`).size
  })
}

test('merges exactly once, without a violation, if its process ends at any step', async () => {
  const steps = listEffectiveStepNumbers(
    (await runTestSimulation([pullOpenedEvent], { isTraced: true })).trace,
  )
  expect(steps.length).toBeGreaterThan(100)
  const wrong: unknown[] = []
  const ends = new Set<number>()
  for (const at of steps) {
    const {
      violations,
      landings,
      steps: end,
    } = await runTestSimulation([pullOpenedEvent, { at, fault: 'crash' }])
    if (violations.length > 0 || landings !== 1) wrong.push({ at, landings, violations })
    ends.add(end)
  }
  expect(wrong).toEqual([])
  // The runs must differ from each other.
  expect(ends.size).toBeGreaterThan(20)
}, 300_000)

test('merges exactly once, without a violation, if a process pauses at any step', async () => {
  const wrong: unknown[] = []
  // Whether an evaluation is running at the merge depends on which process takes which job when.
  for (const [seed, commentAt, first] of [
    [1, 90, 0],
    // Before the comment, the second run is like the first.
    [2, 100, 100],
  ] as const) {
    // A user comments on it while the process is paused.
    const events: PlannedEvent[] = [
      pullOpenedEvent,
      { at: commentAt, do: 'comment', by: 'mia', pull: 1, body: '/recheck' },
    ]
    const two = { instances: 2, seed }
    const { trace } = await runTestSimulation(events, { ...two, isTraced: true })
    for (const at of listPauseStepNumbers(trace, first)) {
      const { violations, landings } = await runTestSimulation(
        [...events, { at, fault: 'pause', seconds: 90 }],
        two,
      )
      if (violations.length > 0 || landings !== 1) wrong.push({ seed, at, landings, violations })
    }
  }
  expect(wrong).toEqual([])
}, 300_000)

test.each([
  ['by a push', []],
  ['by GitHub', [{ at: 0, do: 'rules', rules: 'linear' }]],
] as const)(
  'violates no invariant for a merge %s if the base branch of the pull request changes at any step',
  async (_, before) => {
    const wrong: unknown[] = []
    const events: PlannedEvent[] = [...before, pullOpenedEvent]
    const two = { instances: 2, seed: 7 }
    for (const at of listEffectiveStepNumbers(
      (await runTestSimulation(events, { ...two, isTraced: true })).trace,
    )) {
      const goes: PlannedEvent = { at, do: 'retarget', by: 'mia', pull: 1, base: 'release' }
      const { violations, taken } = await runTestSimulation([...events, goes], two)
      if (violations.length > 0) wrong.push({ at, violations })
      // It is merged, and at later steps its base branch does not change either.
      if (taken.some(({ event, isVain }) => event === goes && isVain)) break
    }
    expect(wrong).toEqual([])
  },
  300_000,
)
