// GitHub behind the Forge port: one repository with one installation's token. No merge call exists in this floor.
import { commitSha, pullNumber, userId, type CommitSha, type PullNumber } from '../change/ids.ts'
import type { RepositoryName } from '../change/snapshot.ts'
import type { AnswerTo } from '../checks/questions.ts'
import type {
  Action,
  CheckRun,
  Forge,
  ForgeQuestion,
  Performed,
  Present,
  WorkflowRun,
} from '../ports/forge.ts'
import { answerQuestion } from './answer.ts'
import { ForgeError, toForgeError } from './forge-error.ts'
import type { Octokit } from './github-app.ts'
import { findOwnIssue, performOnIssue, type ActingApp } from './own-issues.ts'
import { putSuggestions } from './put-suggestions.ts'
import { putDeployment } from './put-deployment.ts'
import { proposeTree } from './propose-tree.ts'
import { readBranchRules } from './read-branch-rules.ts'
import { findOwnComment } from './read-comments.ts'
import { readSnapshot } from './read-snapshot.ts'
import { stillAs } from './still-as.ts'

/** GitHub takes at most this many annotations in one request; later updates append more. */
const annotationsPerRequest = 50

/**
 * Actions that read what is there before they write: after a lost answer they find what was done, and do it once. What takes
 * several requests may be there in part.
 */
function mayBeDoneAgain(action: Action): boolean {
  if (action.kind === 'put-check') return action.run.annotations.length <= annotationsPerRequest
  return action.kind === 'request-reviews'
}
/** What was done before in the same job stays done: one call that fails does not take it back to its start. */
const attempts = 4
/** Milliseconds after which GitHub's lists show what was written. */
const lag = 2000
/** Seconds after which a comment is looked for whose writing was not answered. */
const commentSeconds = 10

/** GitHub failed, and did not refuse. A limit is waited for, never run against. */
const isPassing = (error: unknown): error is ForgeError =>
  error instanceof ForgeError && error.code === 'unavailable'

export function openForge(octokit: Octokit, repository: RepositoryName, acting: ActingApp): Forge {
  const { appId } = acting
  const target = { owner: repository.owner, repo: repository.name }
  const named = `${repository.owner}/${repository.name}`

  async function asking<T>(doing: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw toForgeError(error, `${doing} of ${named}`)
    }
  }

  async function ownChecks(commit: CommitSha) {
    const runs = await octokit.paginate(octokit.rest.checks.listForRef, {
      ...target,
      ref: commit,
      app_id: appId,
      per_page: 100,
    })
    return runs.filter((run) => run.app?.id === appId)
  }

  const commentReader = { octokit, repository, appId, login: () => acting.login(), memory: acting.comments }
  const ownComment = (pull: PullNumber) => findOwnComment(commentReader, pull)

  async function putCheck(
    { head, run, present }: Extract<Action, { kind: 'put-check' }>,
    isAgain: boolean,
  ): Promise<Performed> {
    // Whoever has just read that no run of this name is there need not have it read once more.
    const isNew = present !== undefined && !isAgain && !present.some(({ name }) => name === run.name)
    const existing = isNew ? undefined : (await ownChecks(head)).find(({ name }) => name === run.name)
    // It was done, and the answer did not arrive.
    if (isAgain && existing?.external_id === run.digest && existing.status === run.status)
      return existing.html_url === null ? {} : { url: existing.html_url }
    const [first = [], ...rest] = chunks(run.annotations, annotationsPerRequest)
    const output = (annotations: CheckRun['annotations']) => ({
      title: run.title,
      summary: run.summary,
      annotations: annotations.map(({ path, startLine, endLine, level, title, message }) => ({
        path,
        start_line: startLine,
        end_line: endLine,
        annotation_level: level,
        title,
        message,
      })),
    })
    const body = {
      ...target,
      name: run.name,
      external_id: run.digest,
      ...(run.detailsUrl !== undefined && { details_url: run.detailsUrl }),
      ...(run.conclusion === undefined
        ? { status: run.status as 'queued' | 'in_progress' }
        : { status: 'completed' as const, conclusion: run.conclusion }),
      output: output(first),
    }
    // An update appends its annotations to the old ones, so a run that has some is replaced, not updated.
    const reusable =
      existing !== undefined && existing.output.annotations_count === 0 && existing.status !== 'completed'
    const { data } = reusable
      ? await octokit.rest.checks.update({ ...body, check_run_id: existing.id })
      : await octokit.rest.checks.create({ ...body, head_sha: head })
    for (const annotations of rest)
      await octokit.rest.checks.update({ ...target, check_run_id: data.id, output: output(annotations) })
    return data.html_url === null ? {} : { url: data.html_url }
  }

  async function perform(action: Action, isAgain: boolean): Promise<Performed> {
    switch (action.kind) {
      case 'put-check':
        return putCheck(action, isAgain)
      case 'put-suggestions':
        await putSuggestions(octokit, target, acting, action)
        return {}
      case 'put-comment': {
        const existing = await ownComment(action.pull)
        if (existing?.body === action.body) return { updatedAt: existing.updated_at }
        const { data } =
          existing === undefined
            ? await octokit.rest.issues.createComment({
                ...target,
                issue_number: action.pull,
                body: action.body,
              })
            : await octokit.rest.issues.updateComment({
                ...target,
                comment_id: existing.id,
                body: action.body,
              })
        return { updatedAt: data.updated_at }
      }
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
        return { pull: await proposeTree(octokit, target, acting, action) }
      case 'open-issue':
      case 'edit-issue':
      case 'say-on-issue':
        return performOnIssue(octokit, target, appId, action)
    }
  }

  return {
    repository,
    readSnapshot: (pull, options) =>
      readSnapshot(octokit, repository, pull, {
        appId,
        login: () => acting.login(),
        memory: acting.comments,
        most: acting.mostComments,
        ...options,
      }),
    stillAs: (snapshots) => stillAs(octokit, repository, snapshots),
    openPulls: () =>
      asking('list the open pull requests', async () => {
        const pulls = await octokit.paginate(octokit.rest.pulls.list, {
          ...target,
          state: 'open',
          per_page: 100,
        })
        return pulls.map((pull) => ({
          pull: pullNumber(pull.number),
          head: commitSha(pull.head.sha),
          baseRef: pull.base.ref,
          author: pull.user === null ? null : userId(pull.user.id),
          draft: pull.draft === true,
          labels: pull.labels.map(({ name }) => name),
          updatedAt: pull.updated_at,
        }))
      }),
    defaultBranch: () =>
      asking('read', async () => (await octokit.rest.repos.get(target)).data.default_branch),
    branches: () =>
      asking('list the branches', async () => {
        const branches = await octokit.paginate(octokit.rest.repos.listBranches, { ...target, per_page: 100 })
        return branches.map(({ name }) => name)
      }),
    branchRules: (branch) => readBranchRules(octokit, repository, branch, { app: appId, isApp: true }),
    permissions: async () => acting.permissionsOn?.(repository),
    ownIssue: (marker, number) =>
      asking('look for our issue', () => findOwnIssue(octokit, target, acting, marker, number)),
    answer: async <Q extends ForgeQuestion>(question: Q) =>
      (await answerQuestion(octokit, repository, question)) as AnswerTo[Q['kind']],
    present: (pull, head) =>
      asking(`read what is shown on pull request ${pull}`, async (): Promise<Present> => {
        const [checks, comment, requested] = await Promise.all([
          ownChecks(head),
          ownComment(pull),
          octokit.rest.pulls.listRequestedReviewers({ ...target, pull_number: pull }),
        ])
        return {
          checks: checks.map((run) => ({
            name: run.name,
            digest: run.external_id ?? '',
            ...(run.html_url !== null && { url: run.html_url }),
          })),
          ...(comment !== undefined && {
            comment: { body: comment.body, updatedAt: comment.updated_at },
          }),
          requestedUsers: requested.data.users.map((user) => user.login),
          requestedTeams: requested.data.teams.map((team) => team.slug),
        }
      }),
    checksOn: (commit) =>
      asking('list the check runs', async () =>
        (await ownChecks(commit)).map((run) => ({ name: run.name, digest: run.external_id ?? '' })),
      ),
    othersChecks: (commit) =>
      asking('list the checks of others', async () => {
        const query = { ...target, ref: commit, per_page: 100 }
        const runs = await octokit.paginate(octokit.rest.checks.listForRef, query)
        return runs
          .filter((run) => run.app?.id !== appId)
          .map((run) => `${run.id} ${run.status} ${run.conclusion ?? ''}`)
          .sort()
      }),
    perform: async (action) => {
      for (let attempt = 1; ; attempt++)
        try {
          return await asking(action.kind, () => perform(action, attempt > 1))
        } catch (error) {
          if (!isPassing(error)) throw error
          // Made once, read later: a list that lags would have it made twice. The queue waits long enough.
          if (action.kind === 'put-comment')
            throw new ForgeError('unavailable', error.message, { cause: error, retryAfter: commentSeconds })
          const { pause } = acting
          if (attempt === attempts || !mayBeDoneAgain(action) || pause === undefined) throw error
          await pause(lag)
        }
    },
    dispatchedRuns: (by, branch) =>
      asking('list the workflow runs', async () => {
        const query = { ...target, event: by, branch, per_page: 50 }
        const { data } = await octokit.rest.actions.listWorkflowRunsForRepo(query)
        return data.workflow_runs.map((run): WorkflowRun => ({
          id: run.id,
          head: commitSha(run.head_sha),
          path: run.path,
          status: run.status === 'completed' || run.status === 'in_progress' ? run.status : 'queued',
          ...(run.conclusion !== null && { conclusion: run.conclusion }),
          url: run.html_url,
          createdAt: run.created_at,
        }))
      }),
  }
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  const result: T[][] = []
  for (let start = 0; start < items.length; start += size) result.push(items.slice(start, start + size))
  return result
}
