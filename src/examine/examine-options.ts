import type { OpenPull } from '../ports/forge.ts'
import type { PullMemory } from '../ports/pull-memory.ts'
import type { Repository } from '../ports/repository.ts'
import type { CatalogLoader } from './catalogs/catalog-loader.ts'
import type { Ask } from './gather-answers.ts'
import type { LookBudget } from './looks/look-budget.ts'

export interface ExamineOptions {
  readonly repository: Repository
  readonly loader: CatalogLoader
  readonly ask: Ask
  readonly memory: PullMemory
  /** Absent where the list is unavailable, as in an offline check. */
  readonly openPulls?: () => Promise<readonly OpenPull[]>
  readonly demandsSignatures?: boolean
  /** Path of the operator's opm. Absent: only our own server is used. */
  readonly opm?: string
  readonly budget?: LookBudget
}
