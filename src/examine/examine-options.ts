// What an examination is given beside its snapshot: whom it may ask, and what it may cost.
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
  /** What is remembered about this pull request: epochs, shown heads, commands. */
  readonly memory: PullMemory
  /** The open pull requests of the repository. Absent: nobody can say, as in an offline check. */
  readonly openPulls?: () => Promise<readonly OpenPull[]>
  /** Whether the rules of the base branch demand that every commit is signed. */
  readonly demandsSignatures?: boolean
  /** Path of the operator's opm, which serves what would land. Absent: only our own server does. */
  readonly opm?: string
  /** What the look may cost. */
  readonly budget?: LookBudget
}
