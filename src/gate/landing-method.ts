// How a pull request gets onto its base branch, chosen from what the branch demands (docs/landing.md has the table).
import type { MergeMethod } from './branch-rules.ts'

export type LandingMethod =
  /**
   * Push of the validated merge commit, by compare-and-swap. `checksFirst`: our checks are put on that very commit through
   * a temporary branch before, because GitHub counts checks of the pushed commit. `signed`: the commit is made by GitHub's
   * API, which signs what an App makes; its parents and tree are the validated ones.
   */
  | { readonly kind: 'push'; readonly checksFirst: boolean; readonly signed: boolean }
  /**
   * GitHub merges (`PUT merge`), pinned to the head: where a push cannot work. The base is not pinned by GitHub, so the
   * outcome is read and its tree compared with the validated one.
   */
  | { readonly kind: 'github-merge'; readonly method: MergeMethod }
  /** GitHub's merge queue: our checks judge each group's own commit. */
  | { readonly kind: 'queue' }

export interface LandingPlan {
  /** Absent: nothing the App can do would be taken; `missing` says why. */
  readonly method?: LandingMethod
  /**
   * True where GitHub takes a pushed merge only if its tree is that of GitHub's own merge of the same commits
   * (`refs/pull/N/merge`). Where that is another tree, nothing is landed: GitHub would land what nobody validated.
   */
  readonly needsGitHubsTree: boolean
  /** For maintainers: why this method. A clause without a full stop, as all that follow are. */
  readonly because: string
  /** What the branch demands that neither the App nor its rights can give, each with what to change. */
  readonly missing: readonly string[]
  /** What GitHub wants of each pull request before it takes it, from people and from other Apps. */
  readonly conditions: readonly string[]
  /** What would make landing faster or more exact. */
  readonly faster: readonly string[]
  /** What could not be read, or is not known of GitHub, and what that means. */
  readonly unsure: readonly string[]
}
