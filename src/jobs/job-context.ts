// The context that every job handler receives, and the two lookups that most handlers perform with it.
import type { Logger } from 'pino'
import { minimatch } from 'minimatch'
import type { Forge } from '../ports/forge.ts'
import type { MergeApi } from '../ports/merge-api.ts'
import type { Clock } from '../ports/clock.ts'
import type { GitRepository } from '../ports/repository.ts'
import type { CatalogLoader } from '../catalogs/catalog-loader.ts'
import type { ReleaseWorkerPool } from '../release/worker/release-pool.ts'
import type { EvaluationPool } from '../evaluate/worker/evaluation-pool.ts'
import type { PublishClient } from '../publish/process/publish-client.ts'
import type { ClusterTestClient } from '../cluster-test/process/cluster-test-client.ts'
import type { Metrics } from './metrics.ts'
import type { RegistryLookupService } from '../catalogs/registries.ts'
import type { BotSettings } from './settings.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { JobScheduler } from './job-scheduler.ts'
import type { ReadyEvaluations } from '../evaluate/pull-evaluation.ts'
import type { PullNumber } from '../pull-request/ids.ts'
import type { JobQueue } from '../ports/jobs.ts'
import { readConfig } from '../catalogs/read-config.ts'

/** `Ports`: the part of the store that is used. */
export interface AppServices<Ports = unknown> {
  readonly settings: BotSettings
  readonly store: Ports
  readonly registries: RegistryLookupService
  readonly publishing: PublishClient
  readonly clusterTests: ClusterTestClient
  readonly loader: CatalogLoader
  readonly evaluationPool: EvaluationPool
  readonly releases: ReleaseWorkerPool
  readonly scheduler: JobScheduler
  readonly readyEvaluations: ReadyEvaluations
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Logger
  readonly tracing?: Tracing
}

export interface JobContext<Ports = unknown> {
  readonly app: AppServices<Ports>
  readonly installation: number
  readonly forge: Forge
  readonly merging: MergeApi
  readonly repository: GitRepository
  /** For processes that read the mirror. */
  readonly mirror: string
}

/** Immediately, or after the given seconds. Rejects with a StoreError. */
export async function requeuePull(
  pull: PullNumber,
  { app, installation, forge: { repository } }: JobContext<JobQueue>,
  afterSeconds?: number,
): Promise<void> {
  await app.store.enqueue({ kind: 'pull', installation, repository, pull }, afterSeconds)
}

/**
 * catalog-bot serves only the default branch and the branches its configuration names, so that pushing a branch cannot
 * select a weaker policy or publish anything. `allowCached` accepts a default branch cached for a minute; merging,
 * publishing and signing must read it again.
 */
export async function isBranchManagedByBot(
  branch: string,
  { forge, repository }: JobContext,
  options: { readonly allowCached?: boolean } = {},
): Promise<boolean> {
  const main = await forge.defaultBranch(options)
  if (branch === main) return true
  await repository.fetch(main)
  const tip = await repository.tip(main)
  if (tip === undefined) return false
  const { config, findings } = await readConfig(repository, await repository.treeOf(tip))
  return findings.length === 0 && config.branches.some((glob) => minimatch(branch, glob))
}
