// One repository's Git content. Nothing is checked out, and no pull request can choose a ref name.
import type { BlobSha, CommitSha, PullNumber, TreeSha } from '../pull-request/ids.ts'
import type { IncomingCommits } from '../pull-request/snapshot.ts'
import type { PathChange, TreePathEntry, TreeEntry } from '../pull-request/change.ts'
import type { MergePermit } from '../policy/merge-permit.ts'

export type GitMergeResult =
  /** The merge commit to push, with the parents (base, head) and the tree `tree`. */
  | { readonly kind: 'clean'; readonly commit: CommitSha; readonly tree: TreeSha }
  /**
   * `content`: both sides changed `paths`. `rename`: a clean merge would follow a rename, which we don't (T14).
   * `unrelated-histories`: no common commit, and `paths` is empty.
   */
  | {
      readonly kind: 'conflict'
      readonly paths: readonly string[]
      readonly reason?: 'content' | 'rename' | 'unrelated-histories'
    }
  /** The base contains the head. */
  | { readonly kind: 'nothing' }

export type StagingPushResult =
  | { readonly kind: 'staged' }
  /** The branch has another commit and remains unchanged. */
  | { readonly kind: 'taken' }
  | RejectedPush

/** The server rejected the push (protection rules, permissions). Nothing changed. */
export interface RejectedPush {
  readonly kind: 'refused'
  readonly reason: string
  /** Git's summary and the server's `remote: ` lines, including their indentation. */
  readonly text: string
}

export type MergePushResult =
  | { readonly kind: 'landed' }
  /** The base branch has moved from `permit.landing.base`. Nothing changed; start again from the new base. */
  | { readonly kind: 'base-moved' }
  | RejectedPush

export type TreeReader = Pick<GitRepository, 'list' | 'entry' | 'read'>

export interface GitRepository {
  /** Fetches `branch` and the pull request's head, if specified. Rejects with a GitError if the server is unavailable. */
  fetch(branch: string, pull?: PullNumber): Promise<void>
  /** Reports damaged or lost objects, so that the next fetch starts from scratch. Absent if not supported. */
  markCorrupt?(code: 'corrupt' | 'missing'): void
  /** As of the last fetch. Undefined if the branch doesn't exist. */
  tip(branch: string): Promise<CommitSha | undefined>
  pullHead(pull: PullNumber): Promise<CommitSha | undefined>
  /** Creates the merge commit to push, without a working tree. Equal arguments result in the same commit. */
  merge(base: CommitSha, head: CommitSha, message: string): Promise<GitMergeResult>
  treeOf(commit: CommitSha): Promise<TreeSha>
  parentsOf(commit: CommitSha): Promise<readonly CommitSha[]>
  messageOf(commit: CommitSha): Promise<string>
  /** Fetches GitHub's test merge (`refs/pull/N/merge`), regardless of its base. Undefined if it does not exist. */
  fetchTestMerge(pull: PullNumber): Promise<CommitSha | undefined>
  /** True if `ancestor` is reachable from `commit` or equal to it. */
  contains(commit: CommitSha, ancestor: CommitSha): Promise<boolean>
  /** Sorted. Rejects with a GitError if a commit does not exist locally. */
  mergeBases(one: CommitSha, other: CommitSha): Promise<readonly CommitSha[]>
  /** True if `commit` is on the first-parent chain of `tip`, rather than on a merged branch. */
  wasTip(tip: CommitSha, commit: CommitSha): Promise<boolean>
  /** The first-parent chain from `tip`, newest first, at most a thousand commits. Stops at commits that `since` contains. */
  firstParents(tip: CommitSha, since: CommitSha): Promise<readonly CommitSha[]>
  /** The commits that merging `head` into `base` makes reachable, in bounded time. */
  readIncomingCommits(base: CommitSha, head: CommitSha): Promise<IncomingCommits>
  /** Includes modes, without rename detection, sorted by path. */
  diff(before: TreeSha, after: TreeSha): Promise<readonly PathChange[]>
  /** All files of a tree in `prefix` ('' for all), sorted by path. */
  list(tree: TreeSha, prefix?: string): Promise<readonly TreePathEntry[]>
  /** Undefined if there is no blob at this path. */
  entry(tree: TreeSha, path: string): Promise<TreeEntry | undefined>
  /** Rejects with the GitError `missing` if the object does not exist locally, or `too-large` above `limit` bytes. */
  read(blob: BlobSha, limit?: number): Promise<Uint8Array>
  /**
   * The only push to a base branch: a compare-and-swap from the permit's base to its commit, or to `as`, which has the same
   * parents and tree. Rejects with a GitError if the outcome is unknown. Then, read the branch and never retry
   * (docs/dev/threats.md#t39).
   */
  pushMerge(permit: MergePermit, as?: CommitSha): Promise<MergePushResult>
  /**
   * Pushes a chain of permits with one compare-and-swap push, all or none. Rejects like the push of a single permit. If absent,
   * pull requests are merged one by one.
   */
  pushMergeBatch?(permits: readonly MergePermit[]): Promise<MergePushResult>
  /** Creates the temporary branch of a merge, for check runs. Does not change an existing branch. */
  createStagingBranch(permit: MergePermit): Promise<StagingPushResult>
  /**
   * Deletes a temporary branch if its tip is this commit (compare-and-swap). False if the tip differs, in which case the
   * branch remains. Succeeds if the branch does not exist. Rejects with a GitError for any other branch.
   */
  deleteStagingBranch(branch: string, commit: CommitSha): Promise<boolean>
}
