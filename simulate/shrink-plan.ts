// Shrinks a failing plan. Delta debugging removes events while the same invariant is violated, and then the remaining
// events are simplified. The random numbers of a step do not depend on removed events.
import type { PlannedEvent, SimulationPlan } from './simulation-plan.ts'
import type { SimulationResult } from './run-simulation.ts'

export interface ShrinkResult {
  readonly result: SimulationResult
  /** The number of runs that it took. */
  readonly runs: number
}

/** `most`: the maximum number of runs. */
export async function shrinkPlan(
  failed: SimulationResult,
  run: (plan: SimulationPlan) => Promise<SimulationResult>,
  maxRuns = 300,
): Promise<ShrinkResult> {
  const meant = new Set(failed.violations.map(({ invariant }) => invariant))
  let best = failed
  let runs = 0
  const stillFails = async (plan: SimulationPlan): Promise<boolean> => {
    if (runs >= maxRuns) return false
    runs += 1
    const result = await run(plan)
    if (!result.violations.some(({ invariant }) => meant.has(invariant))) return false
    best = result
    return true
  }
  for (let parts = 2; best.plan.events.length > 1 && runs < maxRuns;) {
    const { events } = best.plan
    const size = Math.ceil(events.length / parts)
    let isSmaller = false
    for (let from = 0; from < events.length && !isSmaller; from += size)
      isSmaller = await stillFails({
        ...best.plan,
        events: [...events.slice(0, from), ...events.slice(from + size)],
      })
    if (isSmaller) parts = Math.max(2, parts - 1)
    else if (size === 1) break
    else parts = Math.min(events.length, parts * 2)
  }
  for (const simpler of listPlanSimplifications(best.plan))
    await stillFails({ ...best.plan, ...simpler(best.plan) })
  return { result: best, runs }
}

type PlanSimplification = (plan: SimulationPlan) => Partial<SimulationPlan>

/** Simplifications. Each is tried once on the result of the earlier ones. */
function listPlanSimplifications(plan: SimulationPlan): readonly PlanSimplification[] {
  const oneEvent = plan.events.map((_, at): PlanSimplification => ({ events }) => ({
    events: events.map((event, index) => (index === at ? simplifyEvent(event) : event)),
  }))
  return [() => ({ instances: 1 }), () => ({ webhooks: true }), ...oneEvent]
}

function simplifyEvent(event: PlannedEvent): PlannedEvent {
  if ('do' in event && event.do === 'open' && event.edits.length > 1)
    return { ...event, edits: event.edits.slice(0, 1) }
  if ('fault' in event && 'times' in event && event.times > 1) return { ...event, times: 1 }
  return event
}
