import type { Logger } from 'pino'
import type { Forge } from '../../ports/forge.ts'
import type { Merging } from '../../ports/merging.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Repository } from '../../ports/repository.ts'
import type { CatalogLoader } from '../../examine/catalogs/catalog-loader.ts'
import type { ReleasePool } from '../../examine/release/release-pool.ts'
import type { LookPool } from '../../examine/looks/look-pool.ts'
import type { Publishing } from '../publishing/open-publishing.ts'
import type { Trials } from '../trials/open-trials.ts'
import type { Metrics } from '../metrics.ts'
import type { Registries } from '../../examine/registries.ts'
import type { Settings } from '../settings.ts'
import type { Tracing } from '../../ports/tracing.ts'
import type { Turns } from './turns.ts'

/** `Ports`: the part of the store that is used. */
export interface App<Ports = unknown> {
  readonly settings: Settings
  readonly store: Ports
  readonly registries: Registries
  readonly publishing: Publishing
  readonly trials: Trials
  readonly loader: CatalogLoader
  readonly looks: LookPool
  readonly releases: ReleasePool
  readonly turns: Turns
  readonly metrics: Metrics
  readonly clock: Clock
  readonly log: Logger
  readonly tracing?: Tracing
}

export interface JobContext<Ports = unknown> {
  readonly app: App<Ports>
  readonly installation: number
  readonly forge: Forge
  readonly merging: Merging
  readonly repository: Repository
  /** For processes that read the mirror. */
  readonly mirror: string
}
