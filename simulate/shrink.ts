// Makes a plan that ends badly as small as it gets: events are taken out as long as the same invariant is violated (delta
// debugging), then what is left is made simpler. Chance at each step depends on nothing that was taken out.
import type { Event, Plan } from './plan.ts'
import type { RunResult } from './run.ts'

export interface Shrunk {
  readonly result: RunResult
  /** How many runs it took. */
  readonly runs: number
}

/** `most`: runs at most. */
export async function shrink(
  failed: RunResult,
  run: (plan: Plan) => Promise<RunResult>,
  most = 300,
): Promise<Shrunk> {
  const meant = new Set(failed.violations.map(({ invariant }) => invariant))
  let best = failed
  let runs = 0
  const isStillBad = async (plan: Plan): Promise<boolean> => {
    if (runs >= most) return false
    runs += 1
    const result = await run(plan)
    if (!result.violations.some(({ invariant }) => meant.has(invariant))) return false
    best = result
    return true
  }
  for (let parts = 2; best.plan.events.length > 1 && runs < most;) {
    const { events } = best.plan
    const size = Math.ceil(events.length / parts)
    let isSmaller = false
    for (let from = 0; from < events.length && !isSmaller; from += size)
      isSmaller = await isStillBad({
        ...best.plan,
        events: [...events.slice(0, from), ...events.slice(from + size)],
      })
    if (isSmaller) parts = Math.max(2, parts - 1)
    else if (size === 1) break
    else parts = Math.min(events.length, parts * 2)
  }
  for (const simpler of simplerPlans(best.plan)) await isStillBad({ ...best.plan, ...simpler(best.plan) })
  return { result: best, runs }
}

type Simpler = (plan: Plan) => Partial<Plan>

/** Ways to make it simpler, each tried once on whatever the ones before have left. */
function simplerPlans(plan: Plan): readonly Simpler[] {
  const oneEvent = plan.events.map((_, at): Simpler => ({ events }) => ({
    events: events.map((event, place) => (place === at ? simplerEvent(event) : event)),
  }))
  return [() => ({ instances: 1 }), () => ({ webhooks: true }), ...oneEvent]
}

function simplerEvent(event: Event): Event {
  if ('do' in event && event.do === 'open' && event.edits.length > 1)
    return { ...event, edits: event.edits.slice(0, 1) }
  if ('fault' in event && 'times' in event && event.times > 1) return { ...event, times: 1 }
  return event
}
