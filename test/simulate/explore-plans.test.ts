// Exploring small environments skips none and runs no equivalent one twice. The test supplies the runs.
import { expect, test } from '@jest/globals'
import { explorePlans } from '../../simulate/explore-plans.ts'
import type { SimulationPlan } from '../../simulate/simulation-plan.ts'
import type { SimulationResult } from '../../simulate/run-simulation.ts'
import type { ExplorationScope } from '../../simulate/small-plans.ts'

const explorationScope: ExplorationScope = {
  openings: [[{ do: 'open', by: 'ann', edits: [{ kind: 'readme' }] }]],
  acts: [
    { do: 'close', by: 'ann', pull: 1 },
    { do: 'reopen', by: 'ann', pull: 1 },
    { do: 'rules', rules: 'linear' },
  ],
  moments: [10, 60, 90],
}

/** An environment that is idle at 50, in which an open pull request can be closed and a closed one reopened. */
async function runSimulationPlan(plan: SimulationPlan): Promise<SimulationResult> {
  let isOpen = true
  const taken = plan.events.map((event) => {
    const eventName = 'do' in event ? event.do : event.fault
    const isVain = (eventName === 'close' && !isOpen) || (eventName === 'reopen' && isOpen)
    if (eventName === 'close' || eventName === 'reopen') isOpen = eventName === 'reopen'
    return { event, step: Math.min(event.at, 50), isVain }
  })
  return { plan, violations: [], trace: [], steps: 100, landings: 0, taken, isModelled: true, idleAt: 50 }
}

const formatPlannedEvents = ({ plan }: SimulationResult) =>
  plan.events
    .slice(1)
    .map((event) => `${'do' in event ? event.do : ''}@${event.at}`)
    .join(' ')

test('runs every plan with up to two events once, except equivalent ones', async () => {
  const ran: string[] = []
  const onRun = (result: SimulationResult) => (ran.push(formatPlannedEvents(result)), true)
  const depths = await explorePlans({ scope: explorationScope, run: runSimulationPlan, onRun, maxEvents: 2 })
  expect(depths).toEqual([
    { events: 0, runs: 1, cut: 0, isWhole: true },
    // At 90 nothing differs from 60, and an open pull request can't be reopened.
    { events: 1, runs: 6, cut: 5, isWhole: true },
    { events: 2, runs: ran.length - 7, cut: expect.any(Number), isWhole: true },
  ])
  expect(new Set(ran).size).toBe(ran.length)
  expect(ran).toContain('close@10 reopen@60')
  expect(ran).toContain('close@10 rules@10')
  // The same two independent events at the same moment.
  expect(ran).not.toContain('rules@10 close@10')
  expect(ran.filter((each) => each.startsWith('reopen@') && each.includes(' '))).toEqual([])
  expect(ran.filter((each) => each.includes('@90'))).toEqual([])
})

test('reports an exploration that ended early as not complete', async () => {
  let left = 3
  const depths = await explorePlans({
    scope: explorationScope,
    run: runSimulationPlan,
    onRun: () => (left -= 1) > 0,
    maxEvents: 2,
  })
  expect(depths.map(({ runs, isWhole }) => [runs, isWhole])).toEqual([
    [1, true],
    [2, false],
  ])
})
