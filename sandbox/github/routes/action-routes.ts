// REST routes of Actions: workflows, their runs, and the two ways to start one from outside.
import { resolveCommit } from '../git/git-store.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { Refusal, idParam, noContent, notFound, ok, page, pageOf, repoRoute, text } from '../http/route.ts'
import type { Reply, RepoCall, Route } from '../http/route.ts'
import { workflowRunView, workflowView } from '../views/check-view.ts'
import { apiUrl, webUrl } from '../views/repository-view.ts'
import { startRun } from '../workflows.ts'
import type { Payload, Repo, Workflow, WorkflowRun, World } from '../world.ts'

const read = { actions: 'read' } as const

export function actionRoutes(state: GitHubState): Route[] {
  const { world } = state
  return [
    repoRoute('GET /actions/workflows', read, (call) => {
      const { repo } = call
      return page(call, repo.workflows, (items) => ({
        total_count: repo.workflows.length,
        workflows: items.map((it) => workflowView(world, repo, it)),
      }))
    }),
    repoRoute('GET /actions/workflows/{workflow_id}', read, (call) =>
      ok(workflowView(world, call.repo, workflowOf(call))),
    ),
    repoRoute('GET /actions/workflows/{workflow_id}/runs', read, async (call) => {
      const workflow = workflowOf(call)
      return await runPage(
        world,
        call,
        call.repo.runs.filter((it) => it.workflow === workflow),
      )
    }),
    repoRoute('GET /actions/runs', read, (call) => runPage(world, call, call.repo.runs)),
    repoRoute('GET /actions/runs/{run_id}', read, async (call) => {
      const id = idParam(call, 'run_id')
      const run = call.repo.runs.find((it) => it.id === id)
      if (run === undefined) throw notFound()
      return ok(await workflowRunView(world, call.repo, run))
    }),
    repoRoute('POST /actions/workflows/{workflow_id}/dispatches', { actions: 'write' }, async (call) => {
      const { repo, body } = call
      const workflow = workflowOf(call)
      const ref = text(call, 'ref', 'Workflow')
      const sha = await resolveCommit(repo.path, ref)
      if (sha === undefined) throw new Refusal(422, `No ref found for: ${ref}`)
      const branch = ref.replace('refs/heads/', '')
      const inputs = (body['inputs'] ?? {}) as Payload
      const run = await startRun(
        state,
        repo,
        workflow,
        'workflow_dispatch',
        branch,
        sha,
        actorOf(call.caller),
        inputs,
      )
      if (body['return_run_details'] !== true) return noContent()
      return ok({
        workflow_run_id: run.id,
        run_url: `${apiUrl(world, repo)}/actions/runs/${run.id}`,
        html_url: `${webUrl(world, repo)}/actions/runs/${run.id}`,
      })
    }),
    repoRoute('POST /dispatches', { contents: 'write' }, async (call) => {
      const { repo, body } = call
      const type = text(call, 'event_type', 'RepositoryDispatch')
      const payload = (body['client_payload'] ?? {}) as Payload
      const actor = actorOf(call.caller)
      state.webhooks.emit('repository_dispatch', type, repo, actor, {
        branch: repo.defaultBranch,
        client_payload: payload,
      })
      const sha = tipOf(repo)
      for (const workflow of repo.workflows.filter((it) => it.dispatchTypes.includes(type)))
        await startRun(state, repo, workflow, 'repository_dispatch', repo.defaultBranch, sha, actor, payload)
      return noContent()
    }),
  ]
}

function tipOf(repo: Repo): string {
  const sha = repo.known.get(`refs/heads/${repo.defaultBranch}`)
  if (sha === undefined) throw notFound()
  return sha
}

/** A workflow by its id or its file's name. */
function workflowOf(call: RepoCall): Workflow {
  const name = call.params['workflow_id'] ?? ''
  const found = call.repo.workflows.find((it) => it.file === name || String(it.id) === name)
  if (found === undefined) throw notFound()
  return found
}

function runPage(world: World, call: RepoCall, runs: readonly WorkflowRun[]): Promise<Reply> {
  const { query, repo } = call
  const filters: Record<string, (run: WorkflowRun) => string | null> = {
    branch: (it) => it.branch,
    event: (it) => it.event,
    head_sha: (it) => it.sha,
    actor: (it) => it.actor.login,
  }
  const status = query.get('status')
  const found = runs
    .filter((it) =>
      Object.entries(filters).every(([key, value]) => !query.has(key) || query.get(key) === value(it)),
    )
    .filter((it) => status === null || it.status === status || it.conclusion === status)
    .reverse()
  return pageOf(
    call,
    found,
    (it) => workflowRunView(world, repo, it),
    (items) => ({
      total_count: found.length,
      workflow_runs: items,
    }),
  )
}
