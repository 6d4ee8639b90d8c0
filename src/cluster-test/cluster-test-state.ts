// Persistent state of cluster install tests: requested, running and done.
import { z } from 'zod'
import { toCommitSha, isObjectId, toTreeSha } from '../pull-request/ids.ts'
import { installTargets } from '../checks/install/install-targets.ts'
import { defineStateNamespace } from '../ports/state.ts'

const installStepSchema = z.object({
  root: z.string(),
  version: z.string(),
  names: z.array(z.string()),
  image: z.string().exactOptional(),
})

const plannedClusterTestSchema = z.object({
  target: z.enum(installTargets),
  package: z.string(),
  channel: z.string(),
  mode: z.enum(['AllNamespaces', 'OwnNamespace', 'SingleNamespace', 'MultiNamespace']),
  steps: z.array(installStepSchema),
  crds: z.array(z.string()),
  isUpgrade: z.boolean(),
})

const clusterTestRequestSchema = z.object({
  /** The pull request's head, which has the check. */
  head: z.string().refine(isObjectId).transform(toCommitSha),
  /** The validated tree to merge, and its base. */
  tree: z.string().refine(isObjectId).transform(toTreeSha),
  baseTree: z.string().refine(isObjectId).transform(toTreeSha),
  /** By catalog root. */
  trials: z.array(z.object({ root: z.string(), trial: plannedClusterTestSchema })),
  /** Identifies the request; equal ones are not repeated. */
  key: z.string(),
  isRequired: z.boolean(),
  isOver: z.boolean(),
})
export type ClusterTestRequest = Readonly<z.infer<typeof clusterTestRequestSchema>>

export const clusterTestRequestStateNamespace = defineStateNamespace<ClusterTestRequest>('trial wish', {
  version: 1,
  read: (stored) => clusterTestRequestSchema.safeParse(stored).data,
})

const clusterTestRunsSchema = z.object({
  key: z.string(),
  /** Install tests that started and may not have ended. */
  running: z.array(z.string()),
  /** Process failures so far. */
  attempts: z.number(),
  /** The request that waited for a catalog image, and how often. */
  waited: z.object({ key: z.string(), times: z.number() }).exactOptional(),
})
export type ClusterTestRuns = Readonly<z.infer<typeof clusterTestRunsSchema>>

export const clusterTestRunStateNamespace = defineStateNamespace<ClusterTestRuns>('trial', {
  version: 1,
  read: (stored) => clusterTestRunsSchema.safeParse(stored).data,
})

/** When a repository's last install test ended; it then yields for a while. */
const lastClusterTestRunSchema = z.object({ ended: z.number() })

export const lastClusterTestRunStateNamespace = defineStateNamespace<
  Readonly<z.infer<typeof lastClusterTestRunSchema>>
>('trial turn', {
  version: 1,
  read: (stored) => lastClusterTestRunSchema.safeParse(stored).data,
})
