// The administrator's list of the cluster, kubeconfig, and limits for each repository's install tests. A repository's
// configuration can only enable install tests, and a pull request controls nothing.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import {
  createTargetRepositoryFields,
  filterTargetsOf,
  parseTargetList,
  type RequestingRepository,
} from '../../publish/process/push-targets.ts'

const clusterTargetSchema = z.strictObject({
  ...createTargetRepositoryFields('cluster access'),
  /** Relative to this list. */
  kubeconfig: z.string().min(1),
  context: z.string().min(1).optional(),
  /** Whether the kubeconfig may use exec credential plugins. */
  allowPrograms: z.boolean().default(false),
  /** Host at which the cluster reaches the App's catalogs. If absent, OLM v0 is skipped. */
  catalogHost: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,253}$/, 'must be a host name')
    .optional(),
  /** Ports of the changed and the previous catalog. If absent, any. */
  catalogPorts: z.tuple([z.number().int().min(1).max(65535), z.number().int().min(1).max(65535)]).optional(),
  installerRole: z.string().min(1).default('cluster-admin'),
  quota: z
    .strictObject({
      pods: z.number().int().min(1).max(500).default(20),
      cpu: z.string().min(1).default('4'),
      memory: z.string().min(1).default('4Gi'),
      podSecurity: z.enum(['restricted', 'baseline', 'privileged']).default('baseline'),
    })
    .prefault({}),
  /** Extra egress for install test pods. Default: only the cluster's API, DNS and one another. */
  network: z
    .strictObject({
      open: z.boolean().default(false),
      reaches: z
        .array(z.union([z.cidrv4(), z.cidrv6()], 'must be a CIDR range such as 10.1.0.0/16'))
        .max(50)
        .default([]),
    })
    .prefault({}),
  /** Minutes per install test, without cleanup. */
  minutes: z.number().int().min(1).max(120).default(20),
  /** Seconds between polls of the cluster. */
  lookSeconds: z.number().min(0.1).max(60).default(2),
  /** Whether the policies of deploy/cluster-rights.yaml must restrict the account before anything is written. */
  confined: z.boolean().default(true),
  /** Whether to strip finalizers of OLM objects that are not deleted in time. */
  forceCleanUp: z.boolean().default(false),
})

export type ClusterTarget = z.output<typeof clusterTargetSchema>

export const parseClusterTargets = (text: string): readonly ClusterTarget[] =>
  parseTargetList(text, 'CLUSTER_TARGETS', clusterTargetSchema)

/** Returns the first matching entry. */
export function findClusterTarget(
  targets: readonly ClusterTarget[],
  requester: RequestingRepository,
): ClusterTarget | undefined {
  return filterTargetsOf(targets, requester)[0]
}

/** Equal for all entries of one cluster, and reveals nothing about it. */
export function computeClusterIdentityKey({ kubeconfig, context = '' }: ClusterTarget): string {
  return createHash('sha256').update(`${kubeconfig}\n${context}`).digest('hex').slice(0, 16)
}
