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
import type { AnswerByQuestionKind } from '../../checks/questions.ts'
import type {
  ForgeAction,
  CheckRunContent,
  Forge,
  ForgeQuestion,
  ForgeActionResult,
  BotReports,
  WorkflowRun,
} from '../../ports/forge.ts'
import { answerForgeQuestion } from './answer-question.ts'
import { ForgeError, toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import { findBotIssue, performIssueAction, type BotAppContext } from './own-issues.ts'
import { putReviewSuggestions } from './put-suggestions.ts'
import { putDeployment } from './put-deployment.ts'
import {
  maxAnnotationsPerRequest,
  listBotCheckRuns,
  writeCheckRun,
  writeCheckRuns,
  toBotCheckRun,
} from './own-checks.ts'
import { putComment } from './put-comment.ts'
import { findMergedPullForCommit, findBotPullRequest, performBotPullRequestAction } from './own-pulls.ts'
import { proposeTreeAsPullRequest } from './propose-tree.ts'
import { readBranchRules } from './read-branch-rules.ts'
import { findBotComment } from './read-comments.ts'
import { readPullRequestSnapshot } from './read-snapshot.ts'
import { createRepositoryCache } from './repository-cache.ts'
import { findUnchangedPulls } from './unchanged-pulls.ts'

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
function isRepeatableForgeAction(action: ForgeAction): boolean {
  if (action.kind === 'put-check') return canWriteCheckRunInOneRequest(action.run)
  if (action.kind === 'put-checks') return action.runs.every(canWriteCheckRunInOneRequest)
  return action.kind === 'request-reviews'
}

const canWriteCheckRunInOneRequest = ({ annotations }: CheckRunContent) =>
  annotations.length <= maxAnnotationsPerRequest

/** A failed call is retried in place, so that its job doesn't start again. */
const maxForgeActionAttempts = 4
/** Milliseconds until GitHub's lists show a write. */
const githubListLagMs = 2000
/** Seconds until a comment whose write got no answer is looked for. */
const lostCommentRecheckSeconds = 10

/** A failure of GitHub, not a rejection. A limit is never retried in place. */
const isTemporaryFailure = (error: unknown): error is ForgeError =>
  error instanceof ForgeError && error.code === 'unavailable'

export function createGitHubForge(
  octokit: Octokit,
  repository: RepositoryName,
  acting: BotAppContext,
): Forge {
  const { appId } = acting
  const target = { owner: repository.owner, repo: repository.name }
  const named = `${repository.owner}/${repository.name}`

  async function callGitHub<T>(doing: string, send: () => Promise<T>): Promise<T> {
    try {
      return await send()
    } catch (error) {
      throw toForgeError(error, `${doing} of ${named}`)
    }
  }

  const checkWriter = { octokit, target, appId }
  const { monotonic = () => performance.now() } = acting
  const repositoryCache = acting.repositoryCache ?? createRepositoryCache({ now: monotonic })
  const commentReader = {
    octokit,
    repository,
    appId,
    login: () => acting.login(),
    cache: acting.commentCache,
    monotonic,
  }

  async function perform(action: ForgeAction, isAgain: boolean): Promise<ForgeActionResult> {
    switch (action.kind) {
      case 'put-check': {
        const { head, run, present } = action
        const isNew = present !== undefined && !present.some(({ name }) => name === run.name)
        const url = await writeCheckRun(checkWriter, head, run, { isNew, isAgain })
        return url === undefined ? {} : { url }
      }
      case 'put-checks': {
        const repositoryId = repositoryCache.getId(repository)
        return { urls: await writeCheckRuns(checkWriter, action, { repositoryId, isAgain }) }
      }
      case 'put-suggestions':
        await putReviewSuggestions(octokit, target, acting, action)
        return {}
      case 'put-comment':
        return putComment(commentReader, action)
      case 'request-reviews':
        await octokit.rest.pulls.requestReviewers({
          ...target,
          pull_number: action.pull,
          reviewers: [...action.users],
          team_reviewers: [...action.teams],
        })
        return {}
      case 'react':
        await octokit.rest.reactions.createForIssueComment({
          ...target,
          comment_id: action.comment,
          content: action.reaction,
        })
        return {}
      case 'dispatch-workflow':
        await octokit.rest.actions.createWorkflowDispatch({
          ...target,
          workflow_id: action.workflow,
          ref: action.ref,
          inputs: { ...action.inputs },
        })
        return {}
      case 'dispatch-event':
        await octokit.rest.repos.createDispatchEvent({
          ...target,
          event_type: action.event,
          client_payload: { ...action.payload },
        })
        return {}
      case 'put-deployment':
        await putDeployment(octokit, target, appId, action)
        return {}
      case 'propose-tree':
        return { pull: await proposeTreeAsPullRequest(octokit, target, acting, action) }
      case 'write-commit':
      case 'move-own-branch':
      case 'open-own-pull':
      case 'edit-own-pull':
      case 'close-own-pull':
        return performBotPullRequestAction(octokit, target, acting, action)
      case 'open-issue':
      case 'edit-issue':
      case 'say-on-issue':
        return performIssueAction(octokit, target, appId, action)
    }
  }

  return {
    repository,
    readSnapshot: (pull, options) =>
      readPullRequestSnapshot(octokit, repository, pull, {
        appId,
        login: () => acting.login(),
        commentCache: acting.commentCache,
        maxEntries: acting.maxComments,
        repositoryCache,
        monotonic,
        ...options,
      }),
    findUnchanged: (snapshots) => findUnchangedPulls(octokit, repository, snapshots),
    openPulls: () =>
      callGitHub('list the open pull requests', async () => {
        const pulls = await octokit.paginate(octokit.rest.pulls.list, {
          ...target,
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
      }),
    defaultBranch: ({ allowCached = false } = {}) =>
      callGitHub('read', async () => {
        const known = allowCached ? repositoryCache.getDefaultBranch(repository) : undefined
        if (known !== undefined) return known
        const { data } = await octokit.rest.repos.get(target)
        repositoryCache.setDefaultBranch(repository, data.default_branch)
        return data.default_branch
      }),
    branches: () =>
      callGitHub('list the branches', async () => {
        const branches = await octokit.paginate(octokit.rest.repos.listBranches, { ...target, per_page: 100 })
        return branches.map(({ name }) => name)
      }),
    branchRules: (branch) => readBranchRules(octokit, repository, branch, { app: appId, isApp: true }),
    permissions: async () => acting.permissionsOn?.(repository),
    findOwnIssue: (marker, number) =>
      callGitHub('find the issue that catalog-bot opened', () =>
        findBotIssue(octokit, target, acting, marker, number),
      ),
    findMergedPull: (commit, branch) =>
      callGitHub('find a merged pull request', () =>
        findMergedPullForCommit(octokit, target, commit, branch),
      ),
    findOwnPull: (branch, base) =>
      callGitHub('find the pull request that catalog-bot opened', () =>
        findBotPullRequest(octokit, target, acting, branch, base),
      ),
    answer: async <Q extends ForgeQuestion>(question: Q) =>
      (await answerForgeQuestion(octokit, repository, question)) as AnswerByQuestionKind[Q['kind']],
    readOwnReports: (pull, head) =>
      callGitHub(
        `read catalog-bot's check runs and comment on pull request ${pull}`,
        async (): Promise<BotReports> => {
          const readAt = monotonic()
          const [checks, comment] = await Promise.all([
            listBotCheckRuns(checkWriter, head),
            findBotComment(commentReader, pull),
          ])
          return { head, checks: checks.map(toBotCheckRun), ...(comment && { comment }), readAt }
        },
      ),
    readOwnChecks: (commit) =>
      callGitHub('list the check runs', async () =>
        (await listBotCheckRuns(checkWriter, commit)).map(toBotCheckRun),
      ),
    readOtherChecks: (commit) =>
      callGitHub('list the checks of other apps', async () => {
        const query = { ...target, ref: commit, per_page: 100 }
        let pages = 0
        // Others' content is only read up to a limit.
        const runs = await octokit.paginate(octokit.rest.checks.listForRef, query, ({ data }, done) => {
          if (++pages >= 10) done()
          return data
        })
        const others = runs
          .filter((run) => run.app?.id !== appId)
          .map((run) => `${run.id} ${run.status} ${run.conclusion ?? ''}`)
        return [...others, ...(await readCommitStatuses(octokit, query))].sort()
      }),
    countOpenThreads: (pull) => countOpenReviewThreads(octokit, repository, pull),
    perform: async (action) => {
      for (let attempt = 1; ; attempt++)
        try {
          return await callGitHub(action.kind, () => perform(action, attempt > 1))
        } catch (error) {
          if (!isTemporaryFailure(error)) throw error
          // A lagging list would cause a duplicate. The queue waits long enough.
          if (action.kind === 'put-comment')
            throw new ForgeError('unavailable', error.message, {
              cause: error,
              retryAfter: lostCommentRecheckSeconds,
            })
          const { pause } = acting
          if (attempt === maxForgeActionAttempts || !isRepeatableForgeAction(action) || pause === undefined)
            throw error
          await pause(githubListLagMs)
        }
    },
    listDispatchedRuns: (by, branch) =>
      callGitHub('list the workflow runs', async () => {
        const query = { ...target, event: by, branch, per_page: 50 }
        const { data } = await octokit.rest.actions.listWorkflowRunsForRepo(query)
        return data.workflow_runs.map((run): WorkflowRun => ({
          id: run.id,
          head: toCommitSha(run.head_sha),
          path: run.path,
          status: run.status === 'completed' || run.status === 'in_progress' ? run.status : 'queued',
          ...(run.conclusion !== null && { conclusion: run.conclusion }),
          url: run.html_url,
          createdAt: run.created_at,
        }))
      }),
  }
}

/** The newest status of each context, at most a thousand. Rejects with Octokit's errors. */
async function readCommitStatuses(
  octokit: Octokit,
  target: {
    readonly owner: string
    readonly repo: string
    readonly ref: CommitSha
    readonly per_page: number
  },
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
