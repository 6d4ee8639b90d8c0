// Which cluster the pull requests of a GitHub repository are tried on, as whoever runs the App says: a kubeconfig, and what a
// trial may use there. A repository's own configuration says only whether there are trials; a pull request says nothing.
import { createHash } from 'node:crypto'
import { repositoryKey } from '../../change/repository-key.ts'
import { z } from 'zod'
import { parse } from 'yaml'
import type { Asking } from '../publishing/push-targets.ts'

const target = z.strictObject({
  github: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9-]{0,38}\/[A-Za-z0-9._-]{1,100}$/, 'must be OWNER/REPOSITORY')
    .describe('One repository. There is no pattern: a new repository gets no cluster by its name.'),
  /** Names can be given up and taken by others; an installation's id cannot. */
  installation: z.number().int().positive().optional(),
  /** From the folder of this list. */
  kubeconfig: z.string().min(1),
  context: z.string().min(1).optional(),
  /** Whether the kubeconfig may start programs for its credentials. */
  allowPrograms: z.boolean().default(false),
  /** Under which name or address the cluster reaches the App, which serves it the catalog. Absent: OLM v0 is not tried. */
  catalogHost: z
    .string()
    .regex(/^[A-Za-z0-9.-]{1,253}$/, 'must be a host')
    .optional(),
  /** Two ports: of the changed catalog, and of the one before. Absent: any. */
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
  /** What the pods of a trial may reach: without a word nothing but the cluster's API, its name service and one another. */
  network: z
    .strictObject({
      open: z.boolean().default(false),
      reaches: z
        .array(z.union([z.cidrv4(), z.cidrv6()], 'must be an address range such as 10.1.0.0/16'))
        .max(50)
        .default([]),
    })
    .prefault({}),
  /** Minutes for one trial, without its clean-up. */
  minutes: z.number().int().min(1).max(120).default(20),
  /** Seconds between two looks at the cluster. */
  lookSeconds: z.number().min(0.1).max(60).default(2),
  /** Whether the policies of docs/cluster-rights.yaml must hold the account to names of trials before anything is written. */
  confined: z.boolean().default(true),
  /** Whether finalizers of OLM's objects are taken off where OLM does not remove them in time. */
  forceCleanUp: z.boolean().default(false),
})

export type ClusterTarget = z.output<typeof target>

/** Reads the operator's list (YAML or JSON). Throws an Error that says what is wrong with it, without its values. */
export function parseClusterTargets(text: string): readonly ClusterTarget[] {
  let value: unknown
  try {
    value = parse(text, { maxAliasCount: 0 })
  } catch {
    throw new Error('CLUSTER_TARGETS is not YAML')
  }
  const result = z.array(target).safeParse(value ?? [])
  if (result.success) return result.data
  throw new Error(
    `CLUSTER_TARGETS: ${result.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ')}`,
  )
}

/** The cluster of a repository: the first entry that is for it. */
export function clusterFor(
  targets: readonly ClusterTarget[],
  { github, installation }: Asking,
): ClusterTarget | undefined {
  const name = repositoryKey(github)
  return targets.find(
    (one) =>
      one.github.toLowerCase() === name &&
      (one.installation === undefined || one.installation === installation),
  )
}

/** The same for all entries that lead to one cluster. It tells nothing of it. */
export function slotOf({ kubeconfig, context = '' }: ClusterTarget): string {
  return createHash('sha256').update(`${kubeconfig}\n${context}`).digest('hex').slice(0, 16)
}
