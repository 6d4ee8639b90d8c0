// REST routes of Actions: the runs of workflows, and the two ways to trigger one through the API.
import { resolveCommit } from '../git/git-store.ts'
import {
  GitHubApiError,
  respondNoContent,
  createNotFoundError,
  paginateAsync,
  defineRepositoryRoute,
  requireStringField,
  getActingAccount,
} from '../http/route.ts'
import type { RouteResponse, RepositoryRouteRequest, Route } from '../http/route.ts'
import { toWorkflowRunView } from '../views/check-view.ts'
import { startWorkflowRun } from '../workflows.ts'
import type { GitHubPayload, MockRepository, Workflow, MockWorkflowRun } from '../github-data.ts'

function getDefaultBranchTipSha(repo: MockRepository): string {
  const sha = repo.knownRefs.get(`refs/heads/${repo.defaultBranch}`)
  if (sha === undefined) throw createNotFoundError()
  return sha
}

/** A workflow by its id or its file's name. */
function requireWorkflow(call: RepositoryRouteRequest): Workflow {
  const name = call.params['workflow_id'] ?? ''
  const found = call.repo.workflows.find((it) => it.file === name || String(it.id) === name)
  if (found === undefined) throw createNotFoundError()
  return found
}

function paginateWorkflowRuns(call: RepositoryRouteRequest): Promise<RouteResponse> {
  const { query, repo } = call
  const filters: Record<string, (run: MockWorkflowRun) => string | null> = {
    branch: (it) => it.branch,
    event: (it) => it.event,
    head_sha: (it) => it.sha,
    actor: (it) => it.actor.login,
  }
  const status = query.get('status')
  const found = repo.runs
    .filter((it) =>
      Object.entries(filters).every(([key, value]) => !query.has(key) || query.get(key) === value(it)),
    )
    .filter((it) => status === null || it.status === status || it.conclusion === status)
    .reverse()
  return paginateAsync(
    call,
    found,
    (it) => toWorkflowRunView(repo, it),
    (items) => ({ total_count: found.length, workflow_runs: items }),
  )
}

export const actionsRoutes: readonly Route[] = [
  defineRepositoryRoute('GET /actions/runs', { actions: 'read' }, (call) => paginateWorkflowRuns(call)),
  defineRepositoryRoute(
    'POST /actions/workflows/{workflow_id}/dispatches',
    { actions: 'write' },
    async (call) => {
      const { repo, body } = call
      const workflow = requireWorkflow(call)
      const ref = requireStringField(call, 'ref', 'Workflow')
      const sha = await resolveCommit(repo.path, ref)
      if (sha === undefined) throw new GitHubApiError(422, `No ref found for: ${ref}`)
      const branch = ref.replace('refs/heads/', '')
      const inputs = (body['inputs'] ?? {}) as GitHubPayload
      await startWorkflowRun(
        repo,
        workflow,
        'workflow_dispatch',
        branch,
        sha,
        getActingAccount(call.caller),
        inputs,
      )
      return respondNoContent()
    },
  ),
  defineRepositoryRoute('POST /dispatches', { contents: 'write' }, async (call) => {
    const { repo, body } = call
    const type = requireStringField(call, 'event_type', 'RepositoryDispatch')
    const payload = (body['client_payload'] ?? {}) as GitHubPayload
    const actor = getActingAccount(call.caller)
    repo.github.webhooks.emit('repository_dispatch', type, repo, actor, {
      branch: repo.defaultBranch,
      client_payload: payload,
    })
    const sha = getDefaultBranchTipSha(repo)
    for (const workflow of repo.workflows.filter((it) => it.dispatchTypes.includes(type)))
      await startWorkflowRun(repo, workflow, 'repository_dispatch', repo.defaultBranch, sha, actor, payload)
    return respondNoContent()
  }),
]
