// The state of one pull request as GitHub reported it at one moment. Titles, labels, and comments do not grant any
// authority. Accounts are identified by numeric ids.
import type { CommitSha, PullNumber, UserId, BlobSha } from './ids.ts'

/**
 * Finds the issues and pull requests that GitHub closes because of a commit message.
 * https://docs.github.com/en/issues/tracking-your-work-with-issues/linking-a-pull-request-to-an-issue
 */
interface ClosingIssueReference {
  /** `owner/name` in lower case; absent for the commit's own repository. */
  readonly repository?: string
  readonly number: number
}

/** Real messages close fewer. The limit bounds the processing time. */
const maxClosingIssueReferences = 200

const closingKeywordPattern =
  /\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?) ?:? ?(?:(?:https?:\/\/[\w.:-]{1,200}\/)?(?<repository>[\w.-]{1,100}\/[\w.-]{1,100}?)(?:#|\/(?:issues|pull|pulls)\/)|#|gh-)(?<number>\d{1,10})(?!\d)/giu

/** GitHub does not list more commits of a pull request, so reviewers could not see the others. */
export const maxIncomingCommits = 250

/** In bytes. The messages of larger commit objects are not read, because authors don't write such commits. */
export const maxCommitObjectBytes = 256 * 1024

/** GitHub rejects a push with a file above 100 MiB in any commit. */
export const maxPushedFileBytes = 100 * 1024 * 1024

/** Commits that a merge adds to its base, and other pull requests that it closes. checks/commits evaluates them. */
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
  readonly closes: readonly ClosingIssueReference[] | undefined
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

export interface RepositoryName {
  readonly owner: string
  readonly name: string
}

export interface GitHubAccount {
  readonly id: UserId
  /** For display and for matching owner files. It grants no authority without the id. */
  readonly login: string
  readonly kind: 'user' | 'bot'
}

export interface PullSnapshot {
  readonly repository: RepositoryName
  readonly pull: PullNumber
  readonly state: 'open' | 'closed' | 'merged'
  readonly draft: boolean
  readonly title: string
  /** In ISO 8601 format, for display. Absent if unknown. */
  readonly openedAt?: string
  /** Null if the account was deleted ("ghost"). */
  readonly author: GitHubAccount | null
  readonly head: CommitSha
  /** The base branch, without `refs/heads/`. */
  readonly baseRef: string
  /** Read from the branch ref, never from the ancestry of the pull request (docs/dev/threats.md#t04). */
  readonly base: CommitSha
  /**
   * The tip of the base branch at the last push of the head, where GitHub's diff starts. It only shows what reviewers
   * saw. No check uses it.
   */
  readonly shownBase?: CommitSha
  /** Null if the fork was deleted. */
  readonly headRepository: RepositoryName | null
  readonly labels: readonly string[]
  /** The full history in the given order, which is not necessarily chronological (docs/dev/threats.md#t28). */
  readonly reviews: readonly PullReview[]
  readonly comments: readonly PullComment[]
  /** Set if there are too many comments or reviews to read. In this case, the others are ignored. */
  readonly excess?: string
  /**
   * The account that pushed the head (docs/dev/threats.md#t24). Null if GitHub does not report it. Absent if catalog-bot
   * did not query it, as in an offline check. Never read from commits, because their authors are free text
   * (docs/dev/threats.md#t22).
   */
  readonly pusher?: GitHubAccount | null
  /** True for a stacked pull request that does not directly target the protected branch (docs/dev/threats.md#t17). */
  readonly stacked: boolean
}

export interface PullReview {
  readonly id: number
  readonly author: GitHubAccount | null
  readonly state: 'approved' | 'changes-requested' | 'commented' | 'dismissed'
  /** The reviewed commit, to which the approval is bound (docs/dev/threats.md#i4). */
  readonly commit: CommitSha | null
  readonly submittedAt: string
}

export interface PullComment {
  readonly id: number
  /** GitHub's node id, which is needed to query who edited the comment. Absent if unknown. */
  readonly node?: string
  readonly author: GitHubAccount | null
  readonly body: string
  readonly createdAt: string
  readonly updatedAt: string
}

// Normalized names of repositories and pull requests, for keys and comparison.
/** `owner/name` in lowercase, because GitHub ignores case. */
export function toRepositoryKey({ owner, name }: RepositoryName): string {
  return `${owner}/${name}`.toLowerCase()
}

/** `owner/name#7` in lowercase. */
export function toPullRequestKey(repository: RepositoryName, pull: PullNumber): string {
  return `${toRepositoryKey(repository)}#${pull}`
}

/** Without duplicates, in order. */
export function findClosingIssueReferences(message: string): readonly ClosingIssueReference[] {
  const found = new Map<string, ClosingIssueReference>()
  const line = message.normalize('NFKC').replace(/\s+/g, ' ')
  for (const { groups = {} } of line.matchAll(closingKeywordPattern)) {
    const repository = groups['repository']?.toLowerCase()
    const number = Number(groups['number'])
    found.set(`${repository ?? ''}#${number}`, { ...(repository !== undefined && { repository }), number })
    if (found.size >= maxClosingIssueReferences) break
  }
  return [...found.values()]
}
