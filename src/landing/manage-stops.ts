// The command line's verbs for stops, run directly on the store or by the App.
import { z } from 'zod'
import type { StopAuthor, LandingStop, StopEvent } from '../gate/landing-stop.ts'
import type { LandingStops } from '../ports/landing-stops.ts'

/** Postgres accepts neither a NUL nor an unpaired surrogate. */
const word = z
  .string()
  .max(255)
  .regex(/^[^\p{Cc}\p{Cs}]+$/u)
const repository = z.object({ owner: word.max(100), name: word.max(100) }).strict()

/** May arrive through a socket, so it is validated on arrival. */
export const stopsRequest = z.discriminatedUnion('verb', [
  z.object({ verb: z.literal('list'), repository: repository.optional() }).strict(),
  z
    .object({
      verb: z.literal('stop'),
      repository,
      branch: word.optional(),
      reason: z.string().max(1000),
      user: word.max(100),
    })
    .strict(),
  z
    .object({
      verb: z.literal('resume'),
      repository,
      branch: word.optional(),
      reason: z.string().max(1000),
      user: word.max(100),
      /** Include stops ordered by an audit. */
      audit: z.boolean(),
    })
    .strict(),
])

export type StopsRequest = z.output<typeof stopsRequest>

export interface StopsAnswer {
  readonly changed: readonly LandingStop[]
  readonly stops: readonly LandingStop[]
  /** Earlier events of one repository, newest first. */
  readonly events: readonly StopEvent[]
}

const shownEvents = 20

export async function manageStops(request: StopsRequest, store: LandingStops): Promise<StopsAnswer> {
  const changed = await change(request, store)
  return {
    changed,
    stops: await store.landingStops(request.repository),
    events: request.repository === undefined ? [] : await store.stopEvents(request.repository, shownEvents),
  }
}

async function change(request: StopsRequest, store: LandingStops): Promise<readonly LandingStop[]> {
  if (request.verb === 'list') return []
  const { repository: of, branch, reason, user } = request
  const by: StopAuthor = { kind: 'command-line', user }
  if (request.verb === 'stop') {
    const begun = await store.stopLandings({ repository: of, branch, kind: 'frozen', reason, by })
    return begun === undefined ? [] : [begun]
  }
  const kinds = request.audit ? (['frozen', 'refused', 'audit'] as const) : (['frozen', 'refused'] as const)
  return store.resumeLandings({ repository: of, branch, kinds, by, reason })
}
