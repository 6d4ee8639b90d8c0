// GitHub's limits on requests, as it enforces them: the hourly one of each resource, told with every answer, and those on points
// and on what is created within a minute, which it tells by refusing alone. Who goes on asking is refused for longer.
// https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api
import type { Installation, World } from '../world.ts'
import { Refusal } from './route.ts'

export interface Spending {
  readonly method: string
  readonly template: string
  readonly body: unknown
}

/** A refusal for a limit, with the headers that say how long. */
export class LimitRefusal extends Refusal {
  readonly headers: Readonly<Record<string, string>>
  constructor(message: string, headers: Readonly<Record<string, string>>) {
    super(403, message)
    this.headers = headers
  }
}

type Counter = { remaining: number; resetsAt: number }

const resourceOf = ({ template }: Spending): 'core' | 'graphql' =>
  template === '/graphql' ? 'graphql' : 'core'

function counterOf(world: World, installation: Installation, spending: Spending): Counter {
  const counter = resourceOf(spending) === 'graphql' ? installation.use.graphql : installation
  const seconds = world.now() / 1000
  if (counter.resetsAt <= seconds) {
    counter.remaining = installation.limits.hourly
    counter.resetsAt = Math.floor(seconds) + installation.limits.windowSeconds
  }
  return counter
}

function pointsOf({ method, template, body }: Spending): number {
  if (template !== '/graphql') return method === 'GET' ? 1 : 5
  const { query } = (body ?? {}) as { query?: unknown }
  return typeof query === 'string' && /^\s*mutation\b/.test(query) ? 5 : 1
}

const creates = ({ method, template }: Spending): boolean =>
  (method === 'POST' && /\/(?:issues|pulls|comments|reviews|requested_reviewers)$/.test(template)) ||
  (method === 'PUT' && template.endsWith('/merge'))

/** Takes one request off what is left. Throws a LimitRefusal where there is nothing. */
export function spend(world: World, installation: Installation, spending: Spending): void {
  refuseForHaste(world, installation, spending)
  const counter = counterOf(world, installation, spending)
  if (counter.remaining <= 0)
    throw new LimitRefusal(
      `API rate limit exceeded for installation ID ${installation.id}.`,
      limitHeaders(world, installation, spending),
    )
  counter.remaining -= 1
}

/** Asking for what has not changed costs nothing of the hour. */
export function giveBack(world: World, installation: Installation, spending: Spending): void {
  counterOf(world, installation, spending).remaining += 1
}

function refuseForHaste(world: World, installation: Installation, spending: Spending): void {
  const { limits, use } = installation
  const now = world.now() / 1000
  while (use.recent[0] !== undefined && use.recent[0].at <= now - 60) use.recent.shift()
  const points = use.recent.reduce((sum, one) => sum + one.points, pointsOf(spending))
  const created = use.recent.filter((one) => one.creates).length + (creates(spending) ? 1 : 0)
  const isTooMuch =
    points > limits.pointsPerMinute || (creates(spending) && created > limits.contentPerMinute)
  if (isTooMuch || now < use.refusedUntil) {
    use.refusedUntil = now + limits.pauseSeconds
    throw new LimitRefusal(
      'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      { ...limitHeaders(world, installation, spending), 'retry-after': String(limits.pauseSeconds) },
    )
  }
  use.recent.push({ at: now, points: pointsOf(spending), creates: creates(spending) })
}

export function limitHeaders(
  world: World,
  installation: Installation,
  spending: Spending,
): Record<string, string> {
  const { remaining, resetsAt } = counterOf(world, installation, spending)
  const { hourly } = installation.limits
  return {
    'x-ratelimit-limit': String(hourly),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-used': String(hourly - remaining),
    'x-ratelimit-reset': String(resetsAt),
    'x-ratelimit-resource': resourceOf(spending),
  }
}
