// Requests a cluster install test. An install test lets the author run programs in the cluster, so it needs the repository's
// configuration and either all checks passed or a maintainer's request for this commit. A separate job runs it.
import { createHash } from 'node:crypto'
import { checkIds } from '@catalog-bot/findings/checks'
import { z } from 'zod'
import { commitShaSchema, haveChecksPassed, treeShaSchema } from '../publish/preview.ts'
import { findExecutedCommand, type CommandRecord } from '../policy/command-records.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { TreeSha } from '../pull-request/ids.ts'
import type { JobQueue } from '../ports/jobs.ts'
import { type StateStore, defineStateNamespace, writeStateValue } from '../ports/state.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { installTargets } from '../checks/install/install-report.ts'

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
  head: commitShaSchema,
  /** The validated tree to merge, and its base. */
  tree: treeShaSchema,
  baseTree: treeShaSchema,
  /** By catalog root. */
  trials: z.array(z.object({ root: z.string(), trial: plannedClusterTestSchema })),
  /** Identifies the request; equal ones are not repeated. */
  key: z.string(),
  isRequired: z.boolean(),
  isOver: z.boolean(),
})

/** Persistent state of cluster install tests: requested, running and done. */
export type ClusterTestRequest = Readonly<z.infer<typeof clusterTestRequestSchema>>

export const clusterTestRequestStateNamespace = defineStateNamespace(
  'trial wish',
  1,
  clusterTestRequestSchema,
)

const clusterTestRunStateSchema = z.object({
  key: z.string(),
  /** Install tests that started and may not have ended. */
  running: z.array(z.string()),
  /** Process failures so far. */
  attempts: z.number(),
  /** The request that waited for a catalog image, and how often. */
  waited: z.object({ key: z.string(), times: z.number() }).exactOptional(),
})

export type ClusterTestRunState = Readonly<z.infer<typeof clusterTestRunStateSchema>>

export const clusterTestRunStateNamespace = defineStateNamespace('trial', 1, clusterTestRunStateSchema)

/** When a repository's last install test ended; it then yields for a while. */
const lastClusterTestRunSchema = z.object({ ended: z.number() })

export const lastClusterTestRunStateNamespace = defineStateNamespace(
  'trial turn',
  1,
  lastClusterTestRunSchema,
)

export interface ClusterTestCandidatePull {
  readonly snapshot: PullSnapshot
  readonly verdict: PullVerdict
  readonly epoch: number
  readonly onCluster: 'off' | 'asked' | 'automatic'
  readonly requiresCluster: boolean
  readonly runCommands: readonly CommandRecord[]
}

/** Returns undefined if an install test is not allowed or not requested. Pure. */
export function evaluateClusterTestRequest(
  { snapshot, verdict, epoch, onCluster, requiresCluster, runCommands }: ClusterTestCandidatePull,
  baseTree: TreeSha,
): ClusterTestRequest | undefined {
  const { result, outcomes } = verdict
  if (onCluster === 'off' || result === undefined || snapshot.state !== 'open') return undefined
  const plannedTests = outcomes.find(({ check }) => check === 'install')?.clusterTests ?? []
  if (plannedTests.length === 0) return undefined
  // Without these checks it cannot be installed, or its images are unknown.
  if (!haveChecksPassed(outcomes, ['validation', 'images', 'install'])) return undefined
  const comment = findExecutedCommand(runCommands, 'test-install', snapshot, epoch)?.comment
  const agreeing = outcomes.filter(({ waiting }) => waiting.length === 0)
  const allAgree = haveChecksPassed(agreeing, checkIds)
  if (comment === undefined && !(onCluster === 'automatic' && allAgree)) return undefined
  // Independent of the base; a repeated request by comment runs again.
  const about = JSON.stringify([snapshot.head, comment ?? 0, plannedTests])
  return {
    head: snapshot.head,
    tree: result.tree,
    baseTree,
    trials: structuredClone(plannedTests) as ClusterTestRequest['trials'],
    key: createHash('sha256').update(about).digest('hex').slice(0, 24),
    isRequired: requiresCluster,
    isOver: false,
  }
}

/** Withdrawn requests end, and their install tests stop. */
export async function requestClusterTest(
  candidate: ClusterTestCandidatePull,
  { app, forge, installation, repository: mirror }: JobContext<StateStore & JobQueue>,
): Promise<void> {
  const { repository } = forge
  const { pull, base } = candidate.snapshot
  const key = String(pull)
  const known = await app.store.readState(clusterTestRequestStateNamespace, repository, key)
  if (candidate.onCluster === 'off' && known === undefined) return
  const request = evaluateClusterTestRequest(candidate, await mirror.treeOf(base))
  if (request === undefined) {
    // Only another commit ends an install test, not a temporarily unanswered question.
    if (known && !known.isOver && known.head !== candidate.snapshot.head)
      await writeStateValue(app.store, clusterTestRequestStateNamespace, repository, key, {
        ...known,
        isOver: true,
      })
    return
  }
  if (known?.key === request.key && !known.isOver) return
  await writeStateValue(app.store, clusterTestRequestStateNamespace, repository, key, request)
  await app.store.enqueue({ kind: 'trial', installation, repository, pull })
}

export async function cancelClusterTests(
  pull: PullSnapshot['pull'],
  { app, forge }: JobContext<StateStore>,
): Promise<void> {
  const { repository } = forge
  const key = String(pull)
  const request = await app.store.readState(clusterTestRequestStateNamespace, repository, key)
  if (request === undefined || request.isOver) return
  await writeStateValue(app.store, clusterTestRequestStateNamespace, repository, key, {
    ...request,
    isOver: true,
  })
}
