// Persistent state of cluster trials: requested, running and done.
import { z } from 'zod'
import { commitSha, isObjectId, treeSha } from '../../../change/ids.ts'
import { targets } from '../../../checks/install/targets.ts'
import { defineState } from '../../../ports/state.ts'

const step = z.object({
  root: z.string(),
  version: z.string(),
  names: z.array(z.string()),
  image: z.string().exactOptional(),
})

const trial = z.object({
  target: z.enum(targets),
  package: z.string(),
  channel: z.string(),
  mode: z.enum(['AllNamespaces', 'OwnNamespace', 'SingleNamespace', 'MultiNamespace']),
  steps: z.array(step),
  crds: z.array(z.string()),
  isUpgrade: z.boolean(),
})

const wish = z.object({
  /** The pull request's head, which has the check. */
  head: z.string().refine(isObjectId).transform(commitSha),
  /** The validated tree to merge, and its base. */
  tree: z.string().refine(isObjectId).transform(treeSha),
  baseTree: z.string().refine(isObjectId).transform(treeSha),
  /** By catalog root. */
  trials: z.array(z.object({ root: z.string(), trial })),
  /** Identifies the request; equal ones are not repeated. */
  key: z.string(),
  isRequired: z.boolean(),
  isOver: z.boolean(),
})
export type TrialWish = Readonly<z.infer<typeof wish>>

export const trialWishes = defineState<TrialWish>('trial wish', {
  version: 1,
  read: (stored) => wish.safeParse(stored).data,
})

const made = z.object({
  key: z.string(),
  /** Trials that started and may not have ended. */
  running: z.array(z.string()),
  /** Process failures so far. */
  attempts: z.number(),
  /** The request that waited for a catalog image, and how often. */
  waited: z.object({ key: z.string(), times: z.number() }).exactOptional(),
})
export type MadeTrials = Readonly<z.infer<typeof made>>

export const madeTrials = defineState<MadeTrials>('trial', {
  version: 1,
  read: (stored) => made.safeParse(stored).data,
})

/** When a repository's last trial ended; it then yields for a while. */
const turn = z.object({ ended: z.number() })

export const trialTurns = defineState<Readonly<z.infer<typeof turn>>>('trial turn', {
  version: 1,
  read: (stored) => turn.safeParse(stored).data,
})
