// One repository's git content. Blobs are read, never checked out; no method takes a ref name that a pull request could
// choose.
import type { BlobSha, CommitSha, PullNumber, TreeSha } from '../change/ids.ts'
import type { IncomingCommits } from '../change/incoming-commits.ts'
import type { PathChange, TreePathEntry, TreeEntry } from '../change/path-change.ts'
import type { MergePermit } from '../gate/merge-permit.ts'

export type MergeResult =
  /** The merge commit that would land: parents (base, head), tree `tree`. */
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

export type StagingResult =
  | { readonly kind: 'staged' }
  /** The branch holds another commit and stays as it is. */
  | { readonly kind: 'taken' }
  | RejectedPush

/** The server refused (protection rules, permissions). Nothing changed. */
export interface RejectedPush {
  readonly kind: 'refused'
  readonly reason: string
  /** Git's summary and the server's `remote: ` lines, with their indentation. */
  readonly text: string
}

export type MergePushResult =
  | { readonly kind: 'landed' }
  /** The base branch has moved from `permit.landing.base`. Nothing changed; start again from the new base. */
  | { readonly kind: 'base-moved' }
  | RejectedPush

export type TreeReader = Pick<GitRepository, 'list' | 'entry' | 'read'>

export interface GitRepository {
  /** Fetches `branch` and the pull request's head, if given. Rejects with a GitError when the server can't be asked. */
  fetch(branch: string, pull?: PullNumber): Promise<void>
  /** Reports damaged or lost objects, so that the next fetch starts from scratch. Absent: not supported. */
  markCorrupt?(code: 'corrupt' | 'missing'): void
  /** As last fetched. Undefined: the branch doesn't exist. */
  tip(branch: string): Promise<CommitSha | undefined>
  pullHead(pull: PullNumber): Promise<CommitSha | undefined>
  /** Makes the merge commit that would land, without a working tree. Equal arguments give the same commit. */
  merge(base: CommitSha, head: CommitSha, message: string): Promise<MergeResult>
  treeOf(commit: CommitSha): Promise<TreeSha>
  parentsOf(commit: CommitSha): Promise<readonly CommitSha[]>
  messageOf(commit: CommitSha): Promise<string>
  /** Fetches GitHub's test merge (`refs/pull/N/merge`), regardless of its base. Undefined: there is none. */
  fetchTestMerge(pull: PullNumber): Promise<CommitSha | undefined>
  /** True when `ancestor` is reachable from `commit`, or equal. */
  contains(commit: CommitSha, ancestor: CommitSha): Promise<boolean>
  /** Sorted. Rejects with GitError when a commit isn't here. */
  mergeBases(one: CommitSha, other: CommitSha): Promise<readonly CommitSha[]>
  /** Whether `commit` is on the first-parent chain of `tip`, not brought in by a merge. */
  wasTip(tip: CommitSha, commit: CommitSha): Promise<boolean>
  /** First parents from `tip`, newest first, at most a thousand. Stops before what `since` contains. */
  firstParents(tip: CommitSha, since: CommitSha): Promise<readonly CommitSha[]>
  /** What landing `head` on `base` makes reachable besides the tree, within bounded time. */
  readIncomingCommits(base: CommitSha, head: CommitSha): Promise<IncomingCommits>
  /** Without rename detection, with modes, sorted by path. */
  diff(before: TreeSha, after: TreeSha): Promise<readonly PathChange[]>
  /** All files of a tree below `prefix` ('' for all), sorted by path. */
  list(tree: TreeSha, prefix?: string): Promise<readonly TreePathEntry[]>
  /** Undefined: there is no blob at this path. */
  entry(tree: TreeSha, path: string): Promise<TreeEntry | undefined>
  /** Rejects with GitError `missing` when the object isn't here, `too-large` above `limit` bytes. */
  read(blob: BlobSha, limit?: number): Promise<Uint8Array>
  /**
   * The only push to a base branch: compare-and-swap from `permit.landing.base` to `permit.landing.commit`, or to `as`,
   * with the same parents and tree. Rejects with a GitError when the outcome is unknown: read, never retry (T39).
   */
  pushMerge(permit: MergePermit, as?: CommitSha): Promise<MergePushResult>
  /**
   * Lands a chain of permits by one compare-and-swap push, all or none. Rejects as land() does. Absent: pull requests
   * land one by one.
   */
  pushMergeBatch?(permits: readonly MergePermit[]): Promise<MergePushResult>
  /** Makes the landing's temporary branch for check runs. Changes no existing branch. */
  createStagingBranch(permit: MergePermit): Promise<StagingResult>
  /**
   * Deletes a temporary branch if its tip is this commit (compare-and-swap). False: the tip differs, and the branch
   * stays. A missing branch is fine. Rejects with a GitError for any other branch.
   */
  deleteStagingBranch(branch: string, commit: CommitSha): Promise<boolean>
}
