// What a landing makes reachable from the base branch besides the tree: the commits of the pull request, and the other
// pull requests that their arrival closes. Facts only; checks/commits judges them.
import type { BlobSha, CommitSha, PullNumber } from './ids.ts'
import type { ClosedByWords } from './closing-words.ts'

/** GitHub itself lists no more commits of a pull request: of further ones nobody could see what they are. */
export const mostCarried = 250

/** A larger commit object is nothing that people wrote; its message is not read. */
export const largestCommit = 256 * 1024

/** GitHub takes no push with a file above 100 MiB, in whichever of its commits. */
export const largestPushed = 100 * 1024 * 1024

export interface CarriedCommits {
  /** False: there are more than `mostCarried`, or more in them than can be looked at. Then nothing else is known. */
  readonly isWhole: boolean
  /** Reachable from the head and not from the base, newest first. The merge commit that lands is not among them. */
  readonly commits: readonly CarriedCommit[]
  /** Files above `largestPushed` in any of their trees. */
  readonly largeFiles: readonly BlobSha[]
}

export interface CarriedCommit {
  readonly id: CommitSha
  /** Whether its workflow files are other than those of the commit of the base branch that it stands on. */
  readonly editsWorkflows: boolean
  readonly isSigned: boolean
  /** Undefined where its message cannot be read as everybody else reads it: too large, or not in UTF-8. */
  readonly closes: readonly ClosedByWords[] | undefined
}

/** Another open pull request that the landing would close. */
export interface ClosedPull {
  readonly pull: PullNumber
  /** `commits`: its head is among the commits. `words`: a message says so. */
  readonly by: 'commits' | 'words'
  /** The author of both is the same account. */
  readonly isOwn: boolean
  /** Whether the result has everything that it changes. */
  readonly isKept: boolean
  /** Why it must not land now, in words: it is a draft, held, or labelled so. */
  readonly heldBack?: string
}

export interface Carried extends CarriedCommits {
  readonly pulls: readonly ClosedPull[]
}
