// What must survive of trials on a cluster: what is wished for which commit, what runs under which names, what is done.
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
  /** The pull request's head, on which the check stands. */
  head: z.string().refine(isObjectId).transform(commitSha),
  /** The tree that would land, as it was validated, and the one that it would land on. */
  tree: z.string().refine(isObjectId).transform(treeSha),
  baseTree: z.string().refine(isObjectId).transform(treeSha),
  /** Of each catalog's root. */
  trials: z.array(z.object({ root: z.string(), trial })),
  /** What makes it another wish: the same is not tried twice. */
  key: z.string(),
  /** Whether the configuration lets nothing be merged without it. */
  isRequired: z.boolean(),
  isOver: z.boolean(),
})
export type TrialWish = Readonly<z.infer<typeof wish>>

export const trialWishes = defineState<TrialWish>('trial wish', {
  version: 1,
  read: (stored) => wish.safeParse(stored).data,
})

const made = z.object({
  /** The wish that is done. */
  key: z.string(),
  /** Of trials that were begun and are not known to have ended. */
  running: z.array(z.string()),
  /** How often its process failed. */
  attempts: z.number(),
  /** For which wish an image of the catalog was waited for, and how often. */
  waited: z.object({ key: z.string(), times: z.number() }).exactOptional(),
})
export type MadeTrials = Readonly<z.infer<typeof made>>

export const madeTrials = defineState<MadeTrials>('trial', {
  version: 1,
  read: (stored) => made.safeParse(stored).data,
})

/** When a repository's last trial ended: others come first for a while. */
const turn = z.object({ ended: z.number() })

export const trialTurns = defineState<Readonly<z.infer<typeof turn>>>('trial turn', {
  version: 1,
  read: (stored) => turn.safeParse(stored).data,
})
