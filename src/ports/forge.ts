// GitHub in our own words: one read, one way to act. Octokit's types never pass this port. Merging is not here:
// landing goes through Repository.land() alone.
import type { CommitSha, PullNumber, TreeSha, UserId } from '../change/ids.ts'
import type { Person, RepositoryName, Snapshot } from '../change/snapshot.ts'
import type { AnswerTo, Question } from '../checks/questions.ts'
import type { BranchRules } from '../gate/branch-rules.ts'
import type { TokenPermissions } from '../gate/landing-demands.ts'
import type { ReportedCheck } from '../messages/reported-check.ts'
import type { Suggestion } from '../messages/suggestions.ts'

export type ForgeQuestion = Exclude<Question, { kind: 'image' | 'bundle' | 'install' }>

/** A check run as GitHub shows it. `name` is unique per head among ours; `digest` stands for all the rest. */
export interface CheckRun extends ReportedCheck {
  readonly digest: string
}

export type Action =
  /** Creates or updates our check run of this name on this commit. */
  | {
      readonly kind: 'put-check'
      readonly head: CommitSha
      readonly run: CheckRun
      /** What of ours was read there a moment ago. Absent: it is read. */
      readonly present?: Present['checks']
    }
  /** Creates or updates our check runs of these names on this commit, in as few requests as it takes. */
  | {
      readonly kind: 'put-checks'
      readonly head: CommitSha
      readonly runs: readonly CheckRun[]
      /** What of ours was read there a moment ago. Absent: it is read. */
      readonly present?: Present['checks']
    }
  /** Makes our suggestions on the lines of a pull request's diff exactly these: one review for what is new, what is out of date goes. */
  | {
      readonly kind: 'put-suggestions'
      readonly pull: PullNumber
      readonly head: CommitSha
      readonly suggestions: readonly Suggestion[]
    }
  /**
   * Creates or edits our one comment on the pull request. Where another process of ours wrote one while this one stood still,
   * the first of them stays.
   */
  | {
      readonly kind: 'put-comment'
      readonly pull: PullNumber
      readonly body: string
      /** What of ours was read there, and when. Absent: it is read. */
      readonly present?: PresentComment
    }
  | {
      readonly kind: 'request-reviews'
      readonly pull: PullNumber
      readonly users: readonly string[]
      readonly teams: readonly string[]
    }
  | { readonly kind: 'react'; readonly comment: number; readonly reaction: '+1' | '-1' | 'eyes' | 'confused' }
  /** Starts the rebuild of the catalogs that a push changed. */
  | {
      readonly kind: 'dispatch-workflow'
      readonly workflow: string
      readonly ref: string
      readonly inputs: Readonly<Record<string, string>>
    }
  | {
      readonly kind: 'dispatch-event'
      readonly event: string
      readonly payload: Readonly<Record<string, unknown>>
    }
  /** Records that a commit was deployed to an environment, once for each, with its newest status. */
  | {
      readonly kind: 'put-deployment'
      readonly commit: CommitSha
      readonly environment: string
      readonly state: 'success' | 'failure'
      /** At most 140 characters. */
      readonly description: string
      /** Comes and goes, as previews do. */
      readonly isTransient: boolean
    }
  /** A pull request of ours with exactly this tree on top of `parent`, made once: what is there already is answered. */
  | {
      readonly kind: 'propose-tree'
      readonly branch: string
      readonly base: string
      readonly parent: CommitSha
      readonly tree: TreeSha
      readonly message: string
      readonly title: string
      readonly body: string
    }
  /** A commit on GitHub that no branch has yet: these files on top of a tree. Making it twice makes two, and harms nobody. */
  | {
      readonly kind: 'write-commit'
      readonly parents: readonly CommitSha[]
      /** The tree of which all other files are taken. */
      readonly onto: TreeSha
      readonly files: readonly WrittenFile[]
      readonly message: string
    }
  /**
   * Makes a branch of our own, or moves it forward: from exactly `from`, and never such that a commit is lost. Rejects as
   * `rejected` where the branch is elsewhere.
   */
  | {
      readonly kind: 'move-own-branch'
      /** Begins with `ownBranchPrefix`. */
      readonly branch: string
      /** Absent: there is no such branch. */
      readonly from?: CommitSha | undefined
      readonly to: CommitSha
    }
  /** Opens our pull request of a branch, once: one that there is already is answered, open or closed. */
  | {
      readonly kind: 'open-own-pull'
      readonly branch: string
      readonly base: string
      readonly title: string
      readonly body: string
      readonly draft: boolean
    }
  | {
      readonly kind: 'edit-own-pull'
      readonly pull: PullNumber
      readonly title: string
      readonly body: string
    }
  | { readonly kind: 'close-own-pull'; readonly pull: PullNumber }
  | { readonly kind: 'open-issue'; readonly title: string; readonly body: string }
  /** Without `state` it stays open or closed as it is. */
  | {
      readonly kind: 'edit-issue'
      readonly issue: number
      readonly title: string
      readonly body: string
      readonly state?: 'open' | 'closed'
    }
  /** A comment that is written once: one of ours that begins with `marker` is there already, or this one comes. */
  | { readonly kind: 'say-on-issue'; readonly issue: number; readonly marker: string; readonly body: string }

export interface WrittenFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly isExecutable: boolean
}

/** How the branches begin that our App makes for pull requests of its own. No other is moved for them. */
export const ownBranchPrefix = 'catalog-bot/add/'

/** A pull request that our App opened, from a branch of this repository. */
export interface OwnPull {
  readonly pull: PullNumber
  readonly state: 'open' | 'closed' | 'merged'
  readonly head: CommitSha
}

/** An issue that our App wrote. */
export interface OwnIssue {
  readonly number: number
  readonly state: 'open' | 'closed'
  readonly title: string
  readonly body: string
}

/** A check run of ours on a commit. */
export interface OwnCheck {
  readonly name: string
  readonly digest: string
  /** It has its conclusion, and another one is a new run. Absent: nobody said. */
  readonly isOver?: boolean
  /** As GitHub says it, `success`. Absent: it has none, or nobody said. */
  readonly conclusion?: string
  /** Where people read it. */
  readonly url?: string
}

/** A comment of ours that is the report on a pull request. */
export interface OwnComment {
  readonly id: number
  readonly body: string
  readonly updatedAt: string
}

/** Our one comment, as it was read at a time. */
export interface PresentComment {
  readonly comment?: OwnComment
  /** Later comments of ours that say the same: more than one stays nowhere. Absent: none were seen. */
  readonly doubled?: readonly number[]
  /** Milliseconds, by a clock that only goes forward and that no other process has. */
  readonly readAt: number
}

/** What of ours is on GitHub now: wanted minus present is what is left to do, so repeating a job changes nothing. */
export interface Present extends PresentComment {
  /** The commit whose check runs these are. */
  readonly head: CommitSha
  readonly checks: readonly OwnCheck[]
}

export interface WorkflowRun {
  readonly id: number
  readonly head: CommitSha
  /** The workflow's file, `.github/workflows/build.yml`. */
  readonly path: string
  readonly status: 'queued' | 'in_progress' | 'completed'
  readonly conclusion?: string
  readonly url: string
  readonly createdAt: string
}

/** What one list call tells of a pull request: enough to see whether anything about it has changed. */
export interface OpenPull {
  readonly pull: PullNumber
  readonly head: CommitSha
  readonly baseRef: string
  /** Null when the account was deleted. */
  readonly author: UserId | null
  readonly draft: boolean
  readonly labels: readonly string[]
  /** Moves with pushes, reviews, comments, labels and edits. */
  readonly updatedAt: string
}

/**
 * What GitHub counts in a pull request: a hint of what a look at it costs, and no fact. So it is no part of the snapshot,
 * and nothing is bound to it.
 */
export interface PullSize {
  readonly files: number
  /** Added and removed. */
  readonly lines: number
  readonly comments: number
}

/** What one request tells of a pull request before anything else of it is read. */
export interface Counted {
  readonly author: Person | null
  /** Undefined where GitHub gives no numbers. */
  readonly size: PullSize | undefined
}

export interface Performed {
  readonly updatedAt?: string
  readonly issue?: number
  readonly pull?: PullNumber
  readonly commit?: CommitSha
  readonly url?: string
  /** Of several check runs: the address of each, by its name. */
  readonly urls?: ReadonlyMap<string, string>
}

/** One repository on GitHub, seen with one installation's token. Every method rejects with a ForgeError when GitHub cannot be asked. */
export interface Forge {
  readonly repository: RepositoryName
  /**
   * All that is needed to decide on one pull request, read so that its parts agree (T45). Null when it does not exist.
   * `anew`: what was remembered of comments does not count; a landing rests on nothing that is only remembered.
   * `onCounted` hears how large it is, once, and is waited for before the rest is read. `onPresent` hears what of ours is on it,
   * where the same requests told that.
   */
  readSnapshot(
    pull: PullNumber,
    options?: {
      readonly anew?: boolean
      readonly onCounted?: (counted: Counted) => Promise<void>
      readonly onPresent?: (present: Present) => void
    },
  ): Promise<Snapshot | null>
  /**
   * Those of these open pull requests that are, in everything but the tip of their base, still as their snapshots say, as far
   * as one request for all of them can tell. Of the others nothing is said: whoever wants to know reads them. Absent: that
   * cannot be told.
   */
  stillAs?(snapshots: readonly Snapshot[]): Promise<ReadonlySet<PullNumber>>
  openPulls(): Promise<readonly OpenPull[]>
  /** `kept`: it may be what was read up to a minute ago. What lands, publishes or signs asks anew. */
  defaultBranch(options?: { readonly kept?: boolean }): Promise<string>
  branches(): Promise<readonly string[]>
  /** What a branch demands of whoever moves it, read anew. What cannot be read is among its words. */
  branchRules(branch: string): Promise<BranchRules>
  /** What our App may do here. Undefined: nobody knows. */
  permissions(): Promise<TokenPermissions | undefined>
  /** Never rejects: what GitHub does not say is `unknown`. */
  answer<Q extends ForgeQuestion>(question: Q): Promise<AnswerTo[Q['kind']]>
  present(pull: PullNumber, head: CommitSha): Promise<Present>
  /** Our check runs on a commit (also for commits of the base branch, which have no pull request). */
  checksOn(commit: CommitSha): Promise<Present['checks']>
  /**
   * How the check runs of other Apps and the statuses on a commit stand, in one order: equal when nothing about them changed.
   * At most a thousand of each. Statuses are left out where the installation has not accepted `statuses: read`.
   */
  othersChecks(commit: CommitSha): Promise<readonly string[]>
  /** How many conversations of a pull request are not resolved, of its first and its last hundred. Undefined: GitHub doesn't say. */
  openThreads(pull: PullNumber): Promise<number | undefined>
  /**
   * The issue that our App wrote and that begins with `marker`: the one with this number where it still is such, else
   * an open one, else the newest. Anybody can write our marker: an issue of theirs is not ours (T56).
   */
  ownIssue(marker: string, number?: number): Promise<OwnIssue | undefined>
  /** The pull request whose merge into a branch brought this commit; undefined where none did, or where several may have. */
  mergedPull(commit: CommitSha, branch: string): Promise<PullNumber | undefined>
  /** Our pull request of a branch: the open one, else the newest. Those of others do not count, whatever they are called. */
  ownPull(branch: string, base: string): Promise<OwnPull | undefined>
  /**
   * Answers with GitHub's time of what was written, where it is a comment, with the number of what was opened, with a commit
   * that was made, and with the address of a check run.
   */
  perform(action: Action): Promise<Performed>
  /** The newest runs on a branch that a dispatch of this kind started, newest first. */
  dispatchedRuns(
    by: 'workflow_dispatch' | 'repository_dispatch',
    branch: string,
  ): Promise<readonly WorkflowRun[]>
}
