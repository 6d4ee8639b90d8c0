// User actions on the sandbox's GitHub: push, open pull requests, review, comment, label, and rerun checks. Each
// method does the same as the button or Git command, including webhooks, and resolves when it is done.
import { rerequestCheckRun, rerequestCheckSuite, addCommitStatus } from './checks.ts'
import type { CommitStatusInput } from './checks.ts'
import { addComment, updateCommentBody, removeComment } from './comments.ts'
import { advanceMergeQueues, removeMergeQueueEntry, findMergeQueueEntry } from './branch-rules/merge-queue.ts'
import type { DequeueReason } from './branch-rules/merge-queue.ts'
import { startWorkflowRun } from './workflows.ts'
import { commitFiles, createBareRepository, deleteRef, setRef } from './git/git-store.ts'
import type { FileChangesByPath } from './git/git-store.ts'
import { GitHubAppAdmin } from './app-admin.ts'
import {
  addReview,
  createPull,
  dismissReview,
  editPull,
  addPullLabel,
  setPullDraft,
  removePullLabel,
} from './pulls.ts'
import { createIssue, editIssue } from './issues.ts'
import type { IssueChanges } from './issues.ts'
import type { PullChanges } from './pulls.ts'
import { processRefChanges } from './git/ref-changes.ts'
import { signCommit } from './signing.ts'
import { replyToReviewComment } from './review-comments.ts'
import type {
  MockAccount,
  MockCheckRun,
  CheckSuite,
  MockIssue,
  IssueComment,
  MockPull,
  MockRepository,
  MockReview,
  MockReviewComment,
  PullOrIssue,
} from './github-data.ts'

export interface CreatePullOptions {
  readonly repository: string
  readonly author: string
  readonly title: string
  readonly branch?: string
  readonly base?: string
  readonly body?: string
  readonly draft?: boolean
  /** False: the author does not allow maintainers to push to the head in the fork. */
  readonly maintainerCanModify?: boolean
  /**
   * From the author's fork, which is created if it does not exist, or with false from a branch of the repository
   * itself.
   */
  readonly fork?: boolean
  /** The changes, in one commit on the base's tip... */
  readonly changes?: FileChangesByPath
  readonly message?: string
  /** Signed by the author, with a key that GitHub can verify. */
  readonly signed?: boolean
  /** ...or an existing commit in the repository's network. */
  readonly commit?: string
}

export interface BranchPushOptions {
  readonly by?: string
  readonly message?: string
  readonly branch?: string
}

const reviewEventByReviewKind = {
  approve: 'APPROVE',
  changes: 'REQUEST_CHANGES',
  comment: 'COMMENT',
} as const

export class MockUserActions extends GitHubAppAdmin {
  /** The author's fork of a repository. Created if it does not exist. */
  async fork(repository: string, login: string): Promise<MockRepository> {
    const parent = this.repository(repository)
    const owner = this.account(login)
    const known = [...this.state.repos].find(
      (it) => it.parent === parent && it.owner === owner && !it.deleted,
    )
    if (known !== undefined) return known
    const repo = this.addRepo(owner, parent.name, parent.defaultBranch, parent, parent.private)
    await createBareRepository(repo.path, parent.defaultBranch, parent.path)
    const tip = this.#tip(parent, parent.defaultBranch)
    await setRef(repo.path, `refs/heads/${parent.defaultBranch}`, tip)
    await this.state.runSerialized(repo, () => processRefChanges(repo, owner))
    return repo
  }

  async openPull(request: CreatePullOptions): Promise<MockPull> {
    const { repository, author: login, title, changes = {}, message = title, commit } = request
    const repo = this.repository(repository)
    const author = this.account(login)
    const base = request.base ?? repo.defaultBranch
    const headRepo = (request.fork ?? repo.owner !== author) ? await this.fork(repository, login) : repo
    const headRef = request.branch ?? `patch-${this.state.nextId()}`
    const made =
      commit ??
      (await commitFiles(repo.path, this.#tip(repo, base), changes, message, this.signature(author)))
    const sha = request.signed === true ? await signCommit(this.state, repo.path, made) : made
    const { body = null, draft = false, maintainerCanModify = true } = request
    return await this.state.runSerialized(repo, async () => {
      await setRef(headRepo.path, `refs/heads/${headRef}`, sha)
      await processRefChanges(headRepo, author)
      return await createPull(repo, {
        author,
        headRepo,
        headRef,
        baseRef: base,
        title,
        body,
        draft,
        maintainerCanModify,
      })
    })
  }

  /** One more commit on a pull request's head. */
  async pushToPull(
    pull: MockPull,
    changes: FileChangesByPath,
    { by, message = 'More' }: BranchPushOptions = {},
  ): Promise<string> {
    return await this.#pushHead(pull, pull.headSha, changes, by, message)
  }

  /** Replaces a pull request's commits with one commit on the base's tip, or with an existing commit. */
  async forcePush(
    pull: MockPull,
    changes: FileChangesByPath | { readonly commit: string },
    { by, message = pull.title }: BranchPushOptions = {},
  ): Promise<string> {
    const base = this.#tip(pull.repo, pull.baseRef)
    if (typeof changes['commit'] === 'string' && /^[0-9a-f]{40}$/.test(changes['commit'])) {
      await this.#setHead(pull, changes['commit'], by)
      return changes['commit']
    }
    return await this.#pushHead(pull, base, changes, by, message)
  }

  async #pushHead(
    pull: MockPull,
    parent: string,
    changes: FileChangesByPath,
    by: string | undefined,
    message: string,
  ): Promise<string> {
    const author = by === undefined ? pull.author : this.account(by)
    const sha = await commitFiles(pull.repo.path, parent, changes, message, this.signature(author))
    await this.#setHead(pull, sha, by)
    return sha
  }

  async #setHead(pull: MockPull, sha: string, by: string | undefined): Promise<void> {
    const { headRepo } = pull
    if (headRepo === null) throw new Error(`the fork of pull request #${pull.number} was deleted`)
    await this.state.runSerialized(headRepo, async () => {
      await setRef(headRepo.path, `refs/heads/${pull.headRef}`, sha)
      await processRefChanges(headRepo, by === undefined ? pull.author : this.account(by))
    })
  }

  /**
   * Pushes a commit of these files to the default branch, or to another branch, which is created from it if
   * necessary.
   */
  async pushToBase(
    repository: string,
    files: FileChangesByPath,
    { by, message = 'Push', branch }: BranchPushOptions = {},
  ): Promise<string> {
    const repo = this.repository(repository)
    const author = by === undefined ? repo.owner : this.account(by)
    return await this.state.runSerialized(repo, async () => {
      const name = branch ?? repo.defaultBranch
      const parent = repo.knownRefs.get(`refs/heads/${name}`) ?? this.#tip(repo, repo.defaultBranch)
      const sha = await commitFiles(repo.path, parent, files, message, this.signature(author))
      await setRef(repo.path, `refs/heads/${name}`, sha)
      await processRefChanges(repo, author)
      return sha
    })
  }

  async deleteBranch(repository: string, branch: string, by?: string): Promise<void> {
    const repo = this.repository(repository)
    await this.state.runSerialized(repo, async () => {
      await deleteRef(repo.path, `refs/heads/${branch}`)
      await processRefChanges(repo, this.#by(repo, by))
    })
  }

  /** Deletes a fork. Its pull requests remain, without a head repository. */
  deleteFork(fork: MockRepository): void {
    fork.deleted = true
    for (const pull of fork.parent?.pulls.values() ?? []) if (pull.headRepo === fork) pull.headRepo = null
  }

  #tip(repo: MockRepository, branch: string): string {
    const sha = repo.knownRefs.get(`refs/heads/${branch}`)
    if (sha === undefined) throw new Error(`${repo.name} has no branch ${branch}`)
    return sha
  }

  #by(repo: MockRepository, login: string | undefined): MockAccount {
    return login === undefined ? repo.owner : this.account(login)
  }

  async edit(pull: MockPull, changes: PullChanges, by: string = pull.author.login): Promise<void> {
    await editPull(pull, changes, this.account(by))
  }
  async retarget(pull: MockPull, base: string, by?: string): Promise<void> {
    await this.edit(pull, { base }, by)
  }
  async close(pull: MockPull, by?: string): Promise<void> {
    await this.edit(pull, { state: 'closed' }, by)
  }
  async reopen(pull: MockPull, by?: string): Promise<void> {
    await this.edit(pull, { state: 'open' }, by)
  }
  async draft(pull: MockPull, draft = true, by: string = pull.author.login): Promise<void> {
    await setPullDraft(pull, draft, this.account(by))
  }
  async label(pull: MockPull, name: string, by: string = pull.repo.owner.login): Promise<void> {
    await addPullLabel(pull, name, this.account(by))
  }
  async unlabel(pull: MockPull, name: string, by: string = pull.repo.owner.login): Promise<void> {
    await removePullLabel(pull, name, this.account(by))
  }
  /** A review of the head, or of an earlier commit. */
  review(
    pull: MockPull,
    by: string,
    kind: keyof typeof reviewEventByReviewKind,
    body = '',
    commit?: string,
  ): MockReview {
    return addReview(pull, this.account(by), reviewEventByReviewKind[kind], body, commit)
  }
  /** A reply to a comment on a line. */
  answerReviewComment(pull: MockPull, comment: MockReviewComment, by: string, body: string): void {
    replyToReviewComment(pull, comment, this.account(by), body)
  }

  /** A workflow of the repository has run on a commit. */
  async runWorkflow(
    repository: string,
    file: string,
    sha: string,
    conclusion: 'success' | 'failure' = 'success',
  ): Promise<void> {
    const repo = this.repository(repository)
    const workflow =
      repo.workflows.find((it) => it.file === file) ??
      this.createWorkflow(repository, file, { outcome: 'never' })
    const run = await startWorkflowRun(repo, workflow, 'pull_request', '', sha, repo.owner, {})
    Object.assign(run, { status: 'completed', conclusion })
    this.state.queueDue(repo)
  }

  /** Sets the state of a commit's deployment. */
  deploy(
    repository: string,
    sha: string,
    environment: string,
    ended: 'success' | 'failure' = 'success',
  ): void {
    const repo = this.repository(repository)
    const { state } = this
    const by = { creator: repo.owner, app: null, createdAt: state.timestamp() }
    const status = { ...by, id: state.nextId(), state: ended, description: '' }
    const kind = { description: null, isTransient: false, isProduction: false }
    repo.deployments.push({
      ...by,
      ...kind,
      id: state.nextId(),
      sha,
      ref: sha,
      environment,
      statuses: [status],
    })
    this.state.queueDue(repo)
  }

  dismiss(pull: MockPull, review: MockReview, by: string = pull.repo.owner.login): void {
    dismissReview(pull, review, this.account(by))
  }

  openIssue(repository: string, by: string, title: string, body = ''): MockIssue {
    return createIssue(this.repository(repository), { author: this.account(by), title, body })
  }
  editIssue(issue: MockIssue, changes: IssueChanges, by: string = issue.author.login): void {
    editIssue(issue, changes, this.account(by))
  }

  comment(thread: PullOrIssue, by: string, body: string): IssueComment {
    return addComment(thread, this.account(by), null, body)
  }
  editComment(comment: IssueComment, body: string, by: string = comment.author.login): void {
    updateCommentBody(comment, body, this.account(by))
  }
  deleteComment(comment: IssueComment, by: string = comment.author.login): void {
    removeComment(comment, this.account(by))
  }

  /** All check runs at a commit, or at a pull request's head. */
  checkRuns(at: MockPull | { readonly repo: MockRepository; readonly headSha: string }): MockCheckRun[] {
    return at.repo.suites.filter((it) => it.sha === at.headSha).flatMap((it) => it.runs)
  }
  /** Clicks "Re-run", or one of the buttons of the run. */
  async rerun(run: MockCheckRun, by: string, button?: string): Promise<void> {
    await rerequestCheckRun(run, this.account(by), button)
  }
  async rerunSuite(suite: CheckSuite, by: string): Promise<void> {
    await rerequestCheckSuite(suite, this.account(by))
  }
  async setStatus(repository: string, sha: string, by: string, status: CommitStatusInput): Promise<void> {
    await addCommitStatus(this.repository(repository), sha, this.account(by), status)
  }

  /** Removes a pull request from its queue, like the button on its page. */
  async removeFromQueue(pull: MockPull, reason: DequeueReason = 'MANUAL', by?: string): Promise<void> {
    await this.state.runSerialized(pull.repo, async () => {
      const entry = findMergeQueueEntry(pull)
      if (entry === undefined) throw new Error(`#${pull.number} is not in a merge queue`)
      await removeMergeQueueEntry(entry, reason, this.#by(pull.repo, by))
      await advanceMergeQueues(pull.repo)
    })
  }

  /**
   * Processes the queues after time has passed, for example for a check that never arrived or a group that waited
   * long enough.
   */
  async passTimeInQueues(repository: string): Promise<void> {
    const repo = this.repository(repository)
    await this.state.runSerialized(repo, () => advanceMergeQueues(repo))
  }
}
