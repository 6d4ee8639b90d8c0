// The commits that a merge adds to the base branch, and the other pull requests that it closes. checks/commits
// evaluates them.
import type { BlobSha, CommitSha, PullNumber } from './ids.ts'
import type { ClosingReference } from './closing-keywords.ts'

/** GitHub does not list more commits of a pull request, so reviewers could not see the others. */
export const maxIncomingCommits = 250

/** In bytes. The messages of larger commit objects are not read, because authors don't write such commits. */
export const maxCommitObjectBytes = 256 * 1024

/** GitHub rejects a push with a file above 100 MiB in any commit. */
export const maxPushedFileBytes = 100 * 1024 * 1024

export interface IncomingCommits {
  /** False if a limit was exceeded, so that the other fields are unknown. */
  readonly isWhole: boolean
  /** Commits reachable from the head but not the base, newest first, without the merge commit. */
  readonly commits: readonly IncomingCommit[]
  /** Files above `maxPushedFileBytes` in any commit. */
  readonly largeFiles: readonly BlobSha[]
}

export interface IncomingCommit {
  readonly id: CommitSha
  /** Whether its workflow files differ from those of its commit on the base branch. */
  readonly editsWorkflows: boolean
  readonly isSigned: boolean
  /** Undefined if the message is too large or not UTF-8, because readers might interpret it differently. */
  readonly closes: readonly ClosingReference[] | undefined
}

export interface PullClosedByPush {
  readonly pull: PullNumber
  /** `commits`: its head is among the commits. `words`: a message closes it. */
  readonly by: 'commits' | 'words'
  /** Whether one account wrote both pull requests. */
  readonly isOwn: boolean
  /** Whether the result includes all its changes. */
  readonly isKept: boolean
  /** Why it must not be merged now, such as being a draft or held. */
  readonly heldBack?: string
}

export interface IncomingCommitsInput extends IncomingCommits {
  readonly pulls: readonly PullClosedByPush[]
}
