// The commits that a merge adds to the base branch, and the other pull requests that it closes. checks/commits judges
// them.
import type { BlobSha, CommitSha, PullNumber } from './ids.ts'
import type { ClosingReference } from './closing-keywords.ts'

/** MockGitHub lists no more commits of a pull request, so people could not review further ones. */
export const maxIncomingCommits = 250

/** Bytes. Messages of larger commit objects, which people don't write, are not read. */
export const maxCommitObjectBytes = 256 * 1024

/** MockGitHub rejects a push with a file above 100 MiB in any commit. */
export const maxPushedFileBytes = 100 * 1024 * 1024

export interface IncomingCommits {
  /** False: a limit was exceeded, and the other fields are unknown. */
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
  /** Undefined where readers may disagree on the message: it is too large, or not UTF-8. */
  readonly closes: readonly ClosingReference[] | undefined
}

export interface ClosedPull {
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
  readonly pulls: readonly ClosedPull[]
}
