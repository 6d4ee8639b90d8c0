// How a pull request is merged into its base branch. docs/landing.md has a table.
import type { MergeMethod } from './branch-rules.ts'

export type MergeStrategy =
  /**
   * Compare-and-swap push of the validated merge commit. `checksFirst`: first add catalog-bot's checks to that commit on a
   * temporary branch, because GitHub counts the checks of the pushed commit. `signed`: create the commit with GitHub's API,
   * which signs an App's commits.
   */
  | { readonly kind: 'push'; readonly checksFirst: boolean; readonly signed: boolean }
  /**
   * `PUT merge`, pinned to the head. GitHub does not pin the base, so the resulting tree is compared with the validated
   * tree.
   */
  | { readonly kind: 'github-merge'; readonly method: MergeMethod }
  /** GitHub's merge queue. catalog-bot's checks evaluate the commit of each group. */
  | { readonly kind: 'queue' }

export interface MergePlan {
  /** Absent if no method works; `missing` lists the reasons. */
  readonly method?: MergeStrategy
  /**
   * Whether GitHub accepts a pushed merge only if its tree equals the tree of `refs/pull/N/merge`. If the trees differ,
   * catalog-bot does not merge.
   */
  readonly needsGitHubsTree: boolean
  /** Explains the choice to maintainers. Like the fields below, clauses without a period. */
  readonly because: string
  /** Requirements of the branch that the App does not meet, each with a fix. */
  readonly missing: readonly string[]
  /** Requirements for each pull request that people and other Apps must meet. */
  readonly conditions: readonly string[]
  readonly faster: readonly string[]
  readonly unsure: readonly string[]
}
