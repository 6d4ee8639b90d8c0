// The Forge port for one repository with one installation's token. It has no merge call.
import { z } from 'zod'
import {
  toCommitSha,
  toPullNumber,
  toUserId,
  type CommitSha,
  type PullNumber,
} from '../../pull-request/ids.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { ForgeLookupRequest, LookupResultByKind } from '../../checks/lookups.ts'
import type {
  ForgeAction,
  CheckRunContent,
  Forge,
  ForgeActionResult,
  BotCommentAndCheckRuns,
  WorkflowRun,
} from '../../ports/forge.ts'
import { resolveForgeLookup } from './forge-lookup.ts'
import { callGitHub, ForgeError, toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import {
  findBotIssue,
  performIssueAction,
  type BotGitHubAppContext,
  type RepositoryParams,
} from './bot-issues.ts'
import { upsertBotComment, upsertReviewSuggestions } from './put-comment.ts'
import {
  maxAnnotationsPerRequest,
  listBotCheckRuns,
  writeCheckRun,
  writeCheckRuns,
  toBotCheckRun,
  upsertGitHubDeployment,
} from './bot-check-runs.ts'
import {
  findMergedPullForCommit,
  findBotPullRequest,
  performBotPullRequestAction,
  createPullRequestFromTree,
} from './bot-pulls.ts'
import { readBranchRules } from './read-branch-rules.ts'
import { findBotComment } from './read-comments.ts'
import { readPullRequestSnapshot } from './read-snapshot.ts'
import { createRepositoryCache } from './github-cache.ts'
import { findUnchangedPulls } from './graphql-pull.ts'

const commitStatusSchema = z.object({ id: z.number(), context: z.string(), state: z.string() })

const combinedStatusSchema = z.object({ statuses: z.array(commitStatusSchema) })

const reviewThreadsSchema = z.object({
  nodes: z.array(z.object({ id: z.string(), isResolved: z.boolean() })),
})

const openReviewThreadsSchema = z.object({
  repository: z.object({ pullRequest: z.object({ first: reviewThreadsSchema, last: reviewThreadsSchema }) }),
})

const openReviewThreadsQuery = `query OpenThreads($owner: String!, $name: String!, $pull: Int!) {
  repository(owner: $owner, name: $name) { pullRequest(number: $pull) {
    first: reviewThreads(first: 100) { nodes { id isResolved } }
    last: reviewThreads(last: 100) { nodes { id isResolved } }
  } }
}`

/**
 * Actions that read before they write, so repeating one after a lost answer has no second effect. Multi-request actions
 * may be partly done.
 */
function isRetryableForgeAction(action: ForgeAction): boolean {
  if (action.kind === 'put-check') return canWriteCheckRunInOneRequest(action.run)
  if (action.kind === 'put-checks') return action.runs.every(canWriteCheckRunInOneRequest)
  return action.kind === 'request-reviews'
}

const canWriteCheckRunInOneRequest = ({ annotations }: CheckRunContent) =>
  annotations.length <= maxAnnotationsPerRequest

/** A failed call is retried in place, so that its job doesn't start again. */
const maxForgeActionAttempts = 4
/** Milliseconds until GitHub's lists show a write. */
const githubListReplicationLagMs = 2000
/** Seconds until the job searches for a comment after the write got no answer. */
const unconfirmedCommentRecheckSeconds = 10

/** A failure of GitHub, not a rejection. A limit is never retried in place. */
const isTemporaryFailure = (error: unknown): error is ForgeError =>
  error instanceof ForgeError && error.code === 'unavailable'

export class GitHubForge implements Forge {
  readonly #octokit: Octokit
  readonly repository: RepositoryName
  readonly #acting: BotGitHubAppContext
  readonly #appId
  readonly #target
  readonly #named
  readonly #checkWriter
  readonly #monotonic
  readonly #repositoryCache
  readonly #commentReader

  constructor(octokit: Octokit, repository: RepositoryName, acting: BotGitHubAppContext) {
    this.#octokit = octokit
    this.#acting = acting
    const { appId, monotonic = () => performance.now() } = acting
    this.#appId = appId
    this.#monotonic = monotonic
    this.#target = { owner: repository.owner, repo: repository.name }
    this.#named = `${repository.owner}/${repository.name}`
    this.#checkWriter = { octokit: octokit, target: this.#target, appId }
    this.#repositoryCache = acting.repositoryCache ?? createRepositoryCache({ now: monotonic })
    this.#commentReader = {
      octokit: octokit,
      repository: repository,
      appId,
      login: () => acting.login(),
      cache: acting.commentCache,
      monotonic,
    }
    this.repository = repository
  }

  readonly readSnapshot: Forge['readSnapshot'] = (pull, options) =>
    readPullRequestSnapshot(this.#octokit, this.repository, pull, {
      appId: this.#appId,
      login: () => this.#acting.login(),
      commentCache: this.#acting.commentCache,
      maxEntries: this.#acting.maxComments,
      repositoryCache: this.#repositoryCache,
      monotonic: this.#monotonic,
      ...options,
    })

  readonly findUnchanged: NonNullable<Forge['findUnchanged']> = (snapshots) =>
    findUnchangedPulls(this.#octokit, this.repository, snapshots)

  readonly openPulls: Forge['openPulls'] = () =>
    this.#callGitHub('list the open pull requests', async () => {
      const pulls = await this.#octokit.paginate(this.#octokit.rest.pulls.list, {
        ...this.#target,
        state: 'open',
        per_page: 100,
      })
      return pulls.map((pull) => ({
        pull: toPullNumber(pull.number),
        head: toCommitSha(pull.head.sha),
        baseRef: pull.base.ref,
        author: pull.user === null ? null : toUserId(pull.user.id),
        draft: pull.draft === true,
        labels: pull.labels.map(({ name }) => name),
        updatedAt: pull.updated_at,
      }))
    })

  readonly defaultBranch: Forge['defaultBranch'] = ({ allowCached = false } = {}) =>
    this.#callGitHub('read', async () => {
      const known = allowCached ? this.#repositoryCache.getDefaultBranch(this.repository) : undefined
      if (known !== undefined) return known
      const { data } = await this.#octokit.rest.repos.get(this.#target)
      this.#repositoryCache.setDefaultBranch(this.repository, data.default_branch)
      return data.default_branch
    })

  readonly branches: Forge['branches'] = () =>
    this.#callGitHub('list the branches', async () => {
      const branches = await this.#octokit.paginate(this.#octokit.rest.repos.listBranches, {
        ...this.#target,
        per_page: 100,
      })
      return branches.map(({ name }) => name)
    })

  readonly branchRules: Forge['branchRules'] = (branch) =>
    readBranchRules(this.#octokit, this.repository, branch, { app: this.#appId, isApp: true })
  readonly permissions: Forge['permissions'] = async () => this.#acting.permissionsOn?.(this.repository)

  readonly findOwnIssue: Forge['findOwnIssue'] = (marker, number) =>
    this.#callGitHub('find the issue that catalog-bot opened', () =>
      findBotIssue(this.#octokit, this.#target, this.#acting, marker, number),
    )

  readonly findMergedPull: Forge['findMergedPull'] = (commit, branch) =>
    this.#callGitHub('find a merged pull request', () =>
      findMergedPullForCommit(this.#octokit, this.#target, commit, branch),
    )

  readonly findOwnPull: Forge['findOwnPull'] = (branch, base) =>
    this.#callGitHub('find the pull request that catalog-bot opened', () =>
      findBotPullRequest(this.#octokit, this.#target, this.#acting, branch, base),
    )

  readonly answer: Forge['answer'] = async <Q extends ForgeLookupRequest>(question: Q) =>
    (await resolveForgeLookup(this.#octokit, this.repository, question)) as LookupResultByKind[Q['kind']]

  readonly readOwnReports: Forge['readOwnReports'] = (pull, head) =>
    this.#callGitHub(
      `read catalog-bot's check runs and comment on pull request ${pull}`,
      async (): Promise<BotCommentAndCheckRuns> => {
        const readAt = this.#monotonic()
        const [checks, comment] = await Promise.all([
          listBotCheckRuns(this.#checkWriter, head),
          findBotComment(this.#commentReader, pull),
        ])
        return { head, checks: checks.map(toBotCheckRun), ...(comment && { comment }), readAt }
      },
    )

  readonly readOwnChecks: Forge['readOwnChecks'] = (commit) =>
    this.#callGitHub('list the check runs', async () =>
      (await listBotCheckRuns(this.#checkWriter, commit)).map(toBotCheckRun),
    )

  readonly readOtherChecks: Forge['readOtherChecks'] = (commit) =>
    this.#callGitHub('list the checks of other apps', async () => {
      const query = { ...this.#target, ref: commit, per_page: 100 }
      let pages = 0
      // Others' content is only read up to a limit.
      const runs = await this.#octokit.paginate(
        this.#octokit.rest.checks.listForRef,
        query,
        ({ data }, done) => {
          if (++pages >= 10) done()
          return data
        },
      )
      const others = runs
        .filter((run) => run.app?.id !== this.#appId)
        .map((run) => `${run.id} ${run.status} ${run.conclusion ?? ''}`)
      return [...others, ...(await readCommitStatuses(this.#octokit, query))].sort()
    })

  readonly countOpenThreads: Forge['countOpenThreads'] = (pull) =>
    countOpenReviewThreads(this.#octokit, this.repository, pull)

  readonly perform: Forge['perform'] = async (action) => {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#callGitHub(action.kind, () => this.#perform(action, attempt > 1))
      } catch (error) {
        if (!isTemporaryFailure(error)) throw error
        // A lagging list would cause a duplicate. The queue waits long enough.
        if (action.kind === 'put-comment')
          throw new ForgeError('unavailable', error.message, {
            cause: error,
            retryAfter: unconfirmedCommentRecheckSeconds,
          })
        const { pause } = this.#acting
        if (attempt === maxForgeActionAttempts || !isRetryableForgeAction(action) || pause === undefined)
          throw error
        await pause(githubListReplicationLagMs)
      }
  }

  readonly listDispatchedRuns: Forge['listDispatchedRuns'] = (by, branch) =>
    this.#callGitHub('list the workflow runs', async () => {
      const query = { ...this.#target, event: by, branch, per_page: 50 }
      const { data } = await this.#octokit.rest.actions.listWorkflowRunsForRepo(query)
      return data.workflow_runs.map((run): WorkflowRun => ({
        id: run.id,
        head: toCommitSha(run.head_sha),
        path: run.path,
        status: run.status === 'completed' || run.status === 'in_progress' ? run.status : 'queued',
        ...(run.conclusion !== null && { conclusion: run.conclusion }),
        url: run.html_url,
        createdAt: run.created_at,
      }))
    })

  #callGitHub<T>(doing: string, send: () => Promise<T>): Promise<T> {
    return callGitHub(`${doing} of ${this.#named}`, send)
  }

  async #putCheck(
    { head, run, present }: Extract<ForgeAction, { readonly kind: 'put-check' }>,
    isAgain: boolean,
  ): Promise<ForgeActionResult> {
    const isNew = present !== undefined && !present.some(({ name }) => name === run.name)
    const url = await writeCheckRun(this.#checkWriter, head, run, { isNew, isAgain })
    return url === undefined ? {} : { url }
  }

  async #perform(action: ForgeAction, isAgain: boolean): Promise<ForgeActionResult> {
    switch (action.kind) {
      case 'put-check':
        return this.#putCheck(action, isAgain)
      case 'put-checks': {
        const repositoryId = this.#repositoryCache.getId(this.repository)
        return { urls: await writeCheckRuns(this.#checkWriter, action, { repositoryId, isAgain }) }
      }
      case 'put-suggestions':
        await upsertReviewSuggestions(this.#octokit, this.#target, this.#acting, action)
        return {}
      case 'put-comment':
        return upsertBotComment(this.#commentReader, action)
      case 'request-reviews':
        await this.#octokit.rest.pulls.requestReviewers({
          ...this.#target,
          pull_number: action.pull,
          reviewers: [...action.users],
          team_reviewers: [...action.teams],
        })
        return {}
      case 'react':
        await this.#octokit.rest.reactions.createForIssueComment({
          ...this.#target,
          comment_id: action.comment,
          content: action.reaction,
        })
        return {}
      case 'dispatch-workflow':
        await this.#octokit.rest.actions.createWorkflowDispatch({
          ...this.#target,
          workflow_id: action.workflow,
          ref: action.ref,
          inputs: { ...action.inputs },
        })
        return {}
      case 'dispatch-event':
        await this.#octokit.rest.repos.createDispatchEvent({
          ...this.#target,
          event_type: action.event,
          client_payload: { ...action.payload },
        })
        return {}
      case 'put-deployment':
        await upsertGitHubDeployment(this.#octokit, this.#target, this.#appId, action)
        return {}
      case 'propose-tree':
        return { pull: await createPullRequestFromTree(this.#octokit, this.#target, this.#acting, action) }
      case 'write-commit':
      case 'move-own-branch':
      case 'open-own-pull':
      case 'edit-own-pull':
      case 'close-own-pull':
        return performBotPullRequestAction(this.#octokit, this.#target, this.#acting, action)
      case 'open-issue':
      case 'edit-issue':
      case 'say-on-issue':
        return performIssueAction(this.#octokit, this.#target, this.#appId, action)
    }
  }
}

/** The newest status of each context, at most a thousand. Rejects with Octokit's errors. */
async function readCommitStatuses(
  octokit: Octokit,
  target: RepositoryParams & { readonly ref: CommitSha; readonly per_page: number },
): Promise<readonly string[]> {
  const states: string[] = []
  try {
    for (let page = 1; page <= 10; page++) {
      const answer = await octokit.rest.repos.getCombinedStatusForRef({ ...target, page })
      const { statuses } = combinedStatusSchema.parse(answer.data)
      states.push(...statuses.map(({ id, context, state }) => `status ${id} ${context} ${state}`))
      if (statuses.length < target.per_page) break
    }
  } catch (error) {
    // The installation hasn't accepted the permission yet. The timed retry remains.
    if (toForgeError(error, 'read commit statuses').code !== 'forbidden') throw error
  }
  return states
}

/** See Forge.countOpenThreads. Rejects when GitHub's limit is reached. */
async function countOpenReviewThreads(
  octokit: Octokit,
  { owner, name }: RepositoryName,
  pull: PullNumber,
): Promise<number | undefined> {
  const answer = await octokit
    .graphql<unknown>(openReviewThreadsQuery, { owner, name, pull })
    .catch((error: unknown) => {
      const failure = toForgeError(error, 'read review conversations')
      if (failure.code === 'rate-limited') throw failure
    })
  const { first, last } = openReviewThreadsSchema.safeParse(answer).data?.repository.pullRequest ?? {}
  if (first === undefined || last === undefined) return undefined
  return new Set([...first.nodes, ...last.nodes].flatMap(({ id, isResolved }) => (isResolved ? [] : [id])))
    .size
}
