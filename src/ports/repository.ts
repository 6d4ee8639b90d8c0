// One repository's git content, in our own words: what the git floor offers to the rest.
// Blobs are read, never checked out; no method takes a ref name that a pull request could choose.
import type { BlobSha, CommitSha, PullNumber, TreeSha } from '../change/ids.ts'
import type { CarriedCommits } from '../change/carried-commits.ts'
import type { PathChange, ListedEntry, TreeEntry } from '../change/path-change.ts'
import type { MergePermit } from '../gate/merge-permit.ts'

export type MergeResult =
  /** `commit` is the merge commit that would land: parents (base, head), tree `tree`. */
  | { readonly kind: 'clean'; readonly commit: CommitSha; readonly tree: TreeSha }
  /**
   * `content`: both sides changed `paths`. `rename`: a clean merge would have followed a rename, which we do not (T14):
   * `paths` is where the result would not be the plain one. `unrelated-histories`: no common commit, `paths` is empty.
   */
  | {
      readonly kind: 'conflict'
      readonly paths: readonly string[]
      readonly reason?: 'content' | 'rename' | 'unrelated-histories'
    }
  /** The head has nothing that the base lacks. */
  | { readonly kind: 'nothing' }

export type StageResult =
  /** The commit is the tip of the temporary branch. */
  | { readonly kind: 'staged' }
  /** A branch of that name holds another commit. It is left as it is. */
  | { readonly kind: 'taken' }
  | RefusedPush

/** The server refused (protection rules, permissions): nothing was changed. */
export interface RefusedPush {
  readonly kind: 'refused'
  /** One line, for people. */
  readonly reason: string
  /** Git's summary and what the server said behind `remote: `, a line each, as it was indented. */
  readonly text: string
}

export type LandResult =
  | { readonly kind: 'landed' }
  /** The base branch was not at `permit.landing.base` any more: nothing was changed, start again from the new base. */
  | { readonly kind: 'base-moved' }
  | RefusedPush

/** What can be read of trees. */
export type ReadTree = Pick<Repository, 'list' | 'entry' | 'read'>

export interface Repository {
  /** Brings `branch`'s tip and, if given, the pull request's head here. Rejects with a GitError when the server cannot be asked. */
  fetch(branch: string, pull?: PullNumber): Promise<void>
  /** Objects here are damaged, or lost, as somebody saw who reads beside us: the next fetch begins from nothing. Absent: nobody does. */
  distrust?(code: 'corrupt' | 'missing'): void
  /** The tip of a branch as last fetched, or undefined when the branch does not exist. */
  tip(branch: string): Promise<CommitSha | undefined>
  /** The head of a pull request as last fetched. */
  pullHead(pull: PullNumber): Promise<CommitSha | undefined>
  /**
   * Merges `head` into `base` without a working tree and makes the merge commit that would land, the same
   * object each time it is asked with the same arguments (author, dates and message are functions of them).
   */
  merge(base: CommitSha, head: CommitSha, message: string): Promise<MergeResult>
  treeOf(commit: CommitSha): Promise<TreeSha>
  parentsOf(commit: CommitSha): Promise<readonly CommitSha[]>
  /** A commit's message, as it was written. */
  messageOf(commit: CommitSha): Promise<string>
  /**
   * Brings here the merge that GitHub made of a pull request and its base by itself (`refs/pull/N/merge`): a by-product,
   * for whatever base it was made on. Undefined when there is none.
   */
  fetchTestMerge(pull: PullNumber): Promise<CommitSha | undefined>
  /** True when `ancestor` is reachable from `commit` (equal counts). */
  contains(commit: CommitSha, ancestor: CommitSha): Promise<boolean>
  /** The best common ancestors of two commits, sorted. Rejects with GitError when one of them is not here. */
  mergeBases(one: CommitSha, other: CommitSha): Promise<readonly CommitSha[]>
  /**
   * Whether `commit` lies on the chain of first parents that ends in `tip`: whether it may have been the tip itself, and
   * was not brought in by a merge.
   */
  wasTip(tip: CommitSha, commit: CommitSha): Promise<boolean>
  /** The chain of first parents from `tip` down to, and without, what `since` contains: newest first, at most a thousand. */
  firstParents(tip: CommitSha, since: CommitSha): Promise<readonly CommitSha[]>
  /** What landing `head` on `base` makes reachable besides the tree, as far as it can be looked at in bounded time. */
  carried(base: CommitSha, head: CommitSha): Promise<CarriedCommits>
  /** Tree to tree, rename detection off, modes included, sorted by path. */
  diff(before: TreeSha, after: TreeSha): Promise<readonly PathChange[]>
  /** Every file of a tree below `prefix` ('' for all), recursively, sorted by path. */
  list(tree: TreeSha, prefix?: string): Promise<readonly ListedEntry[]>
  /** The blob at a path of a tree, or undefined. */
  entry(tree: TreeSha, path: string): Promise<TreeEntry | undefined>
  /** A blob's bytes. Rejects with GitError `missing` when the object is not here, `too-large` above `limit` bytes. */
  read(blob: BlobSha, limit?: number): Promise<Uint8Array>
  /**
   * The one push to a base branch: moves it from exactly `permit.landing.base` to `permit.landing.commit`
   * (compare-and-swap), or to `as`, a commit with the same parents and tree. Rejects with a GitError when the outcome is
   * not known: resolve by reading, never by retrying (T39).
   */
  land(permit: MergePermit, as?: CommitSha): Promise<LandResult>
  /**
   * A landing train: one push that moves the base branch from exactly the first permit's base to exactly the last permit's
   * commit (compare-and-swap), where each permit stands on the commit of the one before it. All of them land, or none.
   * Rejects as land() does. Absent: pull requests land one by one.
   */
  landTogether?(permits: readonly MergePermit[]): Promise<LandResult>
  /**
   * Makes the landing's own temporary branch (gate/temporary-branch.ts) with `permit.landing.commit`, so that checks can be
   * reported on it. Changes no branch that exists.
   */
  stage(permit: MergePermit): Promise<StageResult>
  /**
   * Deletes a temporary branch if its tip is exactly this commit (compare-and-swap). False: its tip is another one, and it
   * stays. A branch that does not exist is fine. Rejects with a GitError for any other branch.
   */
  unstage(branch: string, commit: CommitSha): Promise<boolean>
}
