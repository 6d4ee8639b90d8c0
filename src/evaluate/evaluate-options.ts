import type { OpenPullSummary } from '../ports/forge.ts'
import type { PullHistoryStore } from '../ports/pull-memory.ts'
import type { GitRepository } from '../ports/repository.ts'
import type { CatalogLoader } from '../catalogs/catalog-loader.ts'
import type { CheckQuestionAnswerer } from '../catalogs/gather-answers.ts'
import type { EvaluationBudget } from '../catalogs/reader-pool.ts'

export interface EvaluatePullOptions {
  readonly repository: GitRepository
  readonly loader: CatalogLoader
  readonly ask: CheckQuestionAnswerer
  readonly memory: PullHistoryStore
  /** Absent where the list is unavailable, as in an offline check. */
  readonly openPulls?: () => Promise<readonly OpenPullSummary[]>
  readonly demandsSignatures?: boolean
  /** Path of the administrator's opm. Absent: only our own server is used. */
  readonly opm?: string
  readonly budget?: EvaluationBudget
}
