// How a pull request gets onto its base branch; docs/landing.md has the table.
import type { MergeMethod } from './branch-rules.ts'

export type MergeStrategy =
  /**
   * Compare-and-swap push of the validated merge commit. `checksFirst`: put our checks on that commit through a
   * temporary branch first, because GitHub counts checks of the pushed commit. `signed`: create it with GitHub's API,
   * which signs an App's commits.
   */
  | { readonly kind: 'push'; readonly checksFirst: boolean; readonly signed: boolean }
  /**
   * `PUT merge`, pinned to the head. GitHub does not pin the base, so we compare the resulting tree with the validated
   * one.
   */
  | { readonly kind: 'github-merge'; readonly method: MergeMethod }
  /** GitHub's merge queue: our checks judge each group's commit. */
  | { readonly kind: 'queue' }

export interface MergePlan {
  /** Absent: no method works; `missing` says why. */
  readonly method?: MergeStrategy
  /**
   * True where GitHub accepts a pushed merge only if its tree equals that of `refs/pull/N/merge`. If the trees differ,
   * we do not merge.
   */
  readonly needsGitHubsTree: boolean
  /** Why this method, for maintainers. Like the fields below, clauses without a full stop. */
  readonly because: string
  /** What the branch requires that the App cannot provide, each with what to change. */
  readonly missing: readonly string[]
  /** What GitHub requires of each pull request from people and other Apps. */
  readonly conditions: readonly string[]
  readonly faster: readonly string[]
  readonly unsure: readonly string[]
}
