// REST routes of check runs, check suites and commit statuses.
import { addStatus, askRun, askSuite, createRun, updateRun } from '../checks.ts'
import type { NewStatus } from '../checks.ts'
import { actorOf } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import { Refusal, created, idParam, notFound, ok, page, pageOf, repoRoute, text } from '../http/route.ts'
import type { Reply, RepoCall, Route } from '../http/route.ts'
import { annotationView, latestRuns, runView, statusView, suiteView } from '../views/check-view.ts'
import { apiUrl, repositoryView } from '../views/repository-view.ts'
import type { App, CheckRun, CheckSuite, Status } from '../world.ts'
import { commitOf } from './repository-routes.ts'

const read = { checks: 'read' } as const
const write = { checks: 'write' } as const

export function checkRoutes(state: GitHubState): Route[] {
  const { world } = state
  return [
    repoRoute('POST /check-runs', write, async (call) => {
      text(call, 'name', 'CheckRun')
      const sha = await commitOf(call, text(call, 'head_sha', 'CheckRun'))
      return created(runView(world, await createRun(state, call.repo, appOf(call), sha, call.body)))
    }),
    repoRoute('GET /check-runs/{check_run_id}', read, (call) => ok(runView(world, runOf(call)))),
    repoRoute('PATCH /check-runs/{check_run_id}', write, async (call) => {
      const run = runOf(call)
      if (run.suite.app !== appOf(call))
        throw new Refusal(
          403,
          'Invalid app_id `' +
            String(appOf(call).id) +
            '` - check run can only be modified by the GitHub App that created it.',
        )
      await updateRun(state, run, call.body)
      return ok(runView(world, run))
    }),
    repoRoute('GET /check-runs/{check_run_id}/annotations', read, (call) =>
      page(call, runOf(call).annotations, (items) =>
        items.map((it) => annotationView(world, runOf(call), it)),
      ),
    ),
    repoRoute('POST /check-runs/{check_run_id}/rerequest', write, async (call) => {
      await askRun(state, runOf(call), actorOf(call.caller))
      return created({})
    }),
    repoRoute('GET /check-suites/{check_suite_id}', read, async (call) =>
      ok(await suiteView(world, suiteOf(call))),
    ),
    repoRoute('GET /check-suites/{check_suite_id}/check-runs', read, (call) =>
      runPage(call, suiteOf(call).runs),
    ),
    repoRoute('POST /check-suites/{check_suite_id}/rerequest', write, async (call) => {
      await askSuite(state, suiteOf(call), actorOf(call.caller))
      return created({})
    }),
    repoRoute('GET /commits/{ref}/check-runs', read, async (call) => {
      const sha = await commitOf(call, call.params['ref'] ?? '')
      return runPage(
        call,
        call.repo.suites.filter((it) => it.sha === sha).flatMap((it) => it.runs),
      )
    }),
    repoRoute('GET /commits/{ref}/check-suites', read, async (call) => {
      const sha = await commitOf(call, call.params['ref'] ?? '')
      const app = call.query.get('app_id')
      const suites = call.repo.suites.filter(
        (it) => it.sha === sha && (app === null || it.app.id === Number(app)),
      )
      return await pageOf(
        call,
        suites,
        (it) => suiteView(world, it),
        (items) => ({ total_count: suites.length, check_suites: items }),
      )
    }),
    ...statusRoutes(state),
  ]
}

/** Only apps have checks; people's tokens are told so. */
function appOf(call: RepoCall): App {
  if (call.caller.kind !== 'installation') throw new Refusal(403, 'You must authenticate via a GitHub App.')
  return call.caller.installation.app
}

function runOf(call: RepoCall): CheckRun {
  const id = idParam(call, 'check_run_id')
  const found = call.repo.suites.flatMap((it) => it.runs).find((it) => it.id === id)
  if (found === undefined) throw notFound()
  return found
}

function suiteOf(call: RepoCall): CheckSuite {
  const id = idParam(call, 'check_suite_id')
  const found = call.repo.suites.find((it) => it.id === id)
  if (found === undefined) throw notFound()
  return found
}

function runPage(call: RepoCall, runs: readonly CheckRun[]): Reply {
  const { query, world } = call
  const name = query.get('check_name')
  const status = query.get('status')
  const app = query.get('app_id')
  const found = (query.get('filter') === 'all' ? runs : latestRuns(runs))
    .filter((it) => name === null || it.name === name)
    .filter((it) => status === null || it.status === status)
    .filter((it) => app === null || it.suite.app.id === Number(app))
    .sort((one, other) => other.id - one.id)
  return page(call, found, (items) => ({
    total_count: found.length,
    check_runs: items.map((it) => runView(world, it)),
  }))
}

const levels = ['success', 'pending', 'failure', 'error'] as const

function statusRoutes(state: GitHubState): Route[] {
  const { world } = state
  const needs = { statuses: 'read' } as const
  const newestFirst = async (call: RepoCall): Promise<{ sha: string; statuses: Status[] }> => {
    const sha = await commitOf(call, call.params['ref'] ?? '')
    return { sha, statuses: call.repo.statuses.filter((it) => it.sha === sha).reverse() }
  }
  return [
    repoRoute('POST /statuses/{sha}', { statuses: 'write' }, async (call) => {
      const sha = await commitOf(call, call.params['sha'] ?? '')
      const word = text(call, 'state', 'Status')
      if (!levels.includes(word as Status['state']))
        throw new Refusal(422, 'Validation Failed', [`${word} is not included in the list`])
      const status = await addStatus(
        state,
        call.repo,
        sha,
        actorOf(call.caller),
        call.body as unknown as NewStatus,
      )
      return created(statusView(world, call.repo, status))
    }),
    repoRoute('GET /commits/{ref}/statuses', needs, async (call) => {
      const { statuses } = await newestFirst(call)
      return page(
        call,
        statuses.map((it) => statusView(world, call.repo, it)),
      )
    }),
    repoRoute('GET /commits/{ref}/status', needs, async (call) => {
      const { sha, statuses } = await newestFirst(call)
      const latest = statuses.filter(
        (it, at) => statuses.findIndex((other) => other.context === it.context) === at,
      )
      const failed = latest.some((it) => it.state === 'failure' || it.state === 'error')
      const waits = latest.length === 0 || latest.some((it) => it.state === 'pending')
      const url = `${apiUrl(world, call.repo)}/commits/${sha}`
      return page(call, latest, (items) => ({
        state: failed ? 'failure' : waits ? 'pending' : 'success',
        statuses: items.map((it) => statusView(world, call.repo, it)),
        sha,
        total_count: latest.length,
        repository: repositoryView(world, call.repo),
        commit_url: url,
        url: `${url}/status`,
      }))
    }),
  ]
}
