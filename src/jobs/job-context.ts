import type { Logger } from 'pino'
import type { Forge } from '../ports/forge.ts'
import type { MergeApi } from '../ports/merge-api.ts'
import type { Clock } from '../ports/clock.ts'
import type { GitRepository } from '../ports/repository.ts'
import type { CatalogLoader } from '../catalogs/catalog-loader.ts'
import type { ReleasePool } from '../release/worker/release-pool.ts'
import type { EvaluationPool } from '../evaluate/worker/evaluation-pool.ts'
import type { PublishClient } from '../publish/process/publish-client.ts'
import type { ClusterTestClient } from '../cluster-test/process/cluster-test-client.ts'
import type { Metrics } from './metrics.ts'
import type { EvaluationRegistries } from '../catalogs/registries.ts'
import type { BotSettings } from './settings.ts'
import type { Tracing } from '../ports/tracing.ts'
import type { JobScheduler } from './job-scheduler.ts'

/** `Ports`: the part of the store that is used. */
export interface AppServices<Ports = unknown> {
  readonly settings: BotSettings
  readonly store: Ports
  readonly registries: EvaluationRegistries
  readonly publishing: PublishClient
  readonly clusterTests: ClusterTestClient
  readonly loader: CatalogLoader
  readonly evaluationPool: EvaluationPool
  readonly releases: ReleasePool
  readonly scheduler: JobScheduler
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
