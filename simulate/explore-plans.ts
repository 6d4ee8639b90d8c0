// Explores small scenarios exhaustively, in order of their number of events. A scenario that can only repeat an
// earlier run is pruned, with every scenario that extends it.
import { createHash } from 'node:crypto'
import type { PlannedEvent, SimulationPlan } from './simulation-plan.ts'
import type { SimulationResult } from './run-simulation.ts'
import type { PlannedAction, ExplorationScope } from './small-plans.ts'

/** The results for one number of events, in addition to the two events that open pull requests. */
export interface ExplorationDepthResult {
  readonly events: number
  readonly runs: number
  /** Scenarios that are equivalent to one that already ran. */
  readonly cut: number
  /** Whether all scenarios are explored. */
  readonly isWhole: boolean
}

export interface ExploreOptions {
  readonly scope: ExplorationScope
  readonly run: (plan: SimulationPlan) => Promise<SimulationResult>
  /** Called after each run. Returns false to stop the exploration. */
  readonly onRun: (result: SimulationResult) => boolean
  readonly maxEvents: number
}

interface ExploredPlan {
  readonly plan: SimulationPlan
  /** The step after which nothing happens automatically: later events all happen then. */
  readonly idleAt: number
}

/** Yields one row for each number of events that was started. Ends when every plan ran or the caller stops. */
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
      // The last event had no effect, or happened at exactly the point where another plan has it.
      const key = computeEventSequenceKey(result)
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

/** Each plan with one more event, at its last event or later. `of`: the number of plans that it represents. */
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
        // At the same moment, the order of unrelated events makes no difference.
        if (last !== undefined && at === from && index < actionIndex && areActionsIndependent(act, last))
          continue
        // Events after the run is idle all happen at the same time.
        if (at > idleAt && at !== late[0]) continue
        yield {
          plan: { ...plan, events: [...plan.events, { at, ...act }] },
          of: at > idleAt ? late.length : 1,
        }
      }
  }
}

/** Whether two events affect different objects. */
function areActionsIndependent(one: PlannedAction, other: PlannedAction | PlannedEvent): boolean {
  const getTarget = (act: PlannedAction | PlannedEvent) =>
    'fault' in act ? 'fault' : 'pull' in act ? `#${act.pull}` : 'rules' in act ? 'rules' : 'base'
  return getTarget(one) !== getTarget(other)
}

/** The events that happened, and their steps. */
function computeEventSequenceKey({ plan, taken }: SimulationResult): string {
  const events = taken.map(({ event: { at: _, ...event }, step }) => [step, event])
  const [first] = plan.events
  return createHash('sha1')
    .update(JSON.stringify([plan.seed, first, events]))
    .digest('base64')
}
