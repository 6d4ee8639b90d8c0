// Goes through small worlds without leaving one out: those with the fewest events first, each one event more than a world
// before. What can only be as a world that was run already is cut, with all that would have come of it.
import { createHash } from 'node:crypto'
import type { PlannedEvent, SimulationPlan } from './simulation-plan.ts'
import type { SimulationResult } from './run-simulation.ts'
import type { PlannedAction, ExplorationScope } from './small-plans.ts'

/** One number of events besides the two that open pull requests. */
export interface ExplorationDepthResult {
  readonly events: number
  readonly runs: number
  /** Worlds that are as one that was run. */
  readonly cut: number
  /** Whether none is left. */
  readonly isWhole: boolean
}

export interface ExploreOptions {
  readonly scope: ExplorationScope
  readonly run: (plan: SimulationPlan) => Promise<SimulationResult>
  /** Hears of each run; false: that is enough. */
  readonly onRun: (result: SimulationResult) => boolean
  readonly maxEvents: number
}

interface ExploredPlan {
  readonly plan: SimulationPlan
  /** From this step on nothing goes on by itself: whatever comes later comes then. */
  readonly idleAt: number
}

/** Why it ends: all is run, or nobody wants to hear more. One row for each number of events that was begun. */
export async function explorePlans({
  scope,
  run,
  onRun,
  maxEvents,
}: ExploreOptions): Promise<readonly ExplorationDepthResult[]> {
  const depths: ExplorationDepthResult[] = []
  let nodes: ExploredPlan[] = []
  let isEnough = false
  const known = new Set<string>()
  for (let events = 0; events <= maxEvents && !isEnough; events++) {
    let [runs, cut] = [0, 0]
    const next: ExploredPlan[] = []
    const plans = events === 0 ? createInitialPlans(scope) : generateChildPlans(nodes, scope)
    for (const { plan, of } of plans) {
      if (isEnough) break
      cut += of - 1
      const result = await run(plan)
      runs += 1
      isEnough = !onRun(result)
      // The last event came to nothing, or at the very place where another plan has it.
      const key = computeRunKey(result)
      if (known.has(key) || result.taken.some(({ isVain }) => isVain)) cut += 1
      else next.push({ plan, idleAt: result.idleAt })
      known.add(key)
    }
    depths.push({ events, runs, cut, isWhole: !isEnough })
    nodes = next
  }
  return depths
}

const createInitialPlans = ({ openings }: ExplorationScope) =>
  openings.map((opened) => ({
    plan: {
      seed: 1,
      instances: 1,
      webhooks: true,
      events: opened.map((deed): PlannedEvent => ({ at: 0, ...deed })),
    },
    of: 1,
  }))

/** Each plan with one event more, at its last event or later. `of`: how many plans it stands for. */
function* generateChildPlans(
  nodes: readonly ExploredPlan[],
  { acts, moments }: ExplorationScope,
): Generator<{ readonly plan: SimulationPlan; readonly of: number }> {
  for (const { plan, idleAt } of nodes) {
    const last = plan.events.at(-1)
    const from = last?.at ?? 0
    const actionIndex = acts.findIndex((act) => JSON.stringify({ at: from, ...act }) === JSON.stringify(last))
    const late = moments.filter((at) => at > idleAt && at >= from)
    for (const [index, act] of acts.entries())
      for (const at of moments) {
        if (at < from) continue
        // At one moment, the order of what has nothing to do with one another is no difference.
        if (last !== undefined && at === from && index < actionIndex && areActionsIndependent(act, last))
          continue
        // Whatever is to come when nothing goes on any more comes at the same time.
        if (at > idleAt && at !== late[0]) continue
        yield {
          plan: { ...plan, events: [...plan.events, { at, ...act }] },
          of: at > idleAt ? late.length : 1,
        }
      }
  }
}

/** Whether two things happen to different ones of the world's things. */
function areActionsIndependent(one: PlannedAction, other: PlannedAction | PlannedEvent): boolean {
  const getTarget = (act: PlannedAction | PlannedEvent) =>
    'fault' in act ? 'fault' : 'pull' in act ? `#${act.pull}` : 'rules' in act ? 'rules' : 'base'
  return getTarget(one) !== getTarget(other)
}

/** What happened, and at which steps. */
function computeRunKey({ plan, taken }: SimulationResult): string {
  const events = taken.map(({ event: { at: _, ...event }, step }) => [step, event])
  const [first] = plan.events
  return createHash('sha1')
    .update(JSON.stringify([plan.seed, first, events]))
    .digest('base64')
}
