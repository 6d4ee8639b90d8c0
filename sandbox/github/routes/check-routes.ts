// REST routes of check runs, check suites and commit statuses.
import {
  addCommitStatus,
  rerequestCheckRun,
  rerequestCheckSuite,
  addCheckRun,
  updateCheckRun,
} from '../checks.ts'
import type { NewCommitStatus } from '../checks.ts'
import { getActingAccount } from '../github-state.ts'
import type { GitHubState } from '../github-state.ts'
import {
  GitHubApiError,
  created,
  parseIdParam,
  notFound,
  ok,
  paginate,
  paginateAsync,
  repoRoute,
  requireText,
} from '../http/route.ts'
import type { RouteResponse, RepositoryCall, Route } from '../http/route.ts'
import {
  annotationView,
  findLatestRuns,
  checkRunView,
  commitStatusView,
  checkSuiteView,
} from '../views/check-view.ts'
import { apiUrl, repositoryView } from '../views/repository-view.ts'
import type { MockApp, MockCheckRun, CheckSuite, MockCommitStatus } from '../github-data.ts'
import { requireCommit } from './repository-routes.ts'

const checksReadPermission = { checks: 'read' } as const
const checksWritePermission = { checks: 'write' } as const

export function checkRoutes(state: GitHubState): Route[] {
  const { world } = state
  return [
    repoRoute('POST /check-runs', checksWritePermission, async (call) => {
      requireText(call, 'name', 'CheckRun')
      const sha = await requireCommit(call, requireText(call, 'head_sha', 'CheckRun'))
      return created(
        checkRunView(world, await addCheckRun(state, call.repo, requireApp(call), sha, call.body)),
      )
    }),
    repoRoute('GET /check-runs/{check_run_id}', checksReadPermission, (call) =>
      ok(checkRunView(world, requireCheckRun(call))),
    ),
    repoRoute('PATCH /check-runs/{check_run_id}', checksWritePermission, async (call) => {
      const run = requireCheckRun(call)
      if (run.suite.app !== requireApp(call))
        throw new GitHubApiError(
          403,
          'Invalid app_id `' +
            String(requireApp(call).id) +
            '` - check run can only be modified by the GitHub App that created it.',
        )
      await updateCheckRun(state, run, call.body)
      return ok(checkRunView(world, run))
    }),
    repoRoute('GET /check-runs/{check_run_id}/annotations', checksReadPermission, (call) =>
      paginate(call, requireCheckRun(call).annotations, (items) =>
        items.map((it) => annotationView(world, requireCheckRun(call), it)),
      ),
    ),
    repoRoute('POST /check-runs/{check_run_id}/rerequest', checksWritePermission, async (call) => {
      await rerequestCheckRun(state, requireCheckRun(call), getActingAccount(call.caller))
      return created({})
    }),
    repoRoute('GET /check-suites/{check_suite_id}', checksReadPermission, async (call) =>
      ok(await checkSuiteView(world, requireCheckSuite(call))),
    ),
    repoRoute('GET /check-suites/{check_suite_id}/check-runs', checksReadPermission, (call) =>
      paginateCheckRuns(call, requireCheckSuite(call).runs),
    ),
    repoRoute('POST /check-suites/{check_suite_id}/rerequest', checksWritePermission, async (call) => {
      await rerequestCheckSuite(state, requireCheckSuite(call), getActingAccount(call.caller))
      return created({})
    }),
    repoRoute('GET /commits/{ref}/check-runs', checksReadPermission, async (call) => {
      const sha = await requireCommit(call, call.params['ref'] ?? '')
      return paginateCheckRuns(
        call,
        call.repo.suites.filter((it) => it.sha === sha).flatMap((it) => it.runs),
      )
    }),
    repoRoute('GET /commits/{ref}/check-suites', checksReadPermission, async (call) => {
      const sha = await requireCommit(call, call.params['ref'] ?? '')
      const app = call.query.get('app_id')
      const suites = call.repo.suites.filter(
        (it) => it.sha === sha && (app === null || it.app.id === Number(app)),
      )
      return await paginateAsync(
        call,
        suites,
        (it) => checkSuiteView(world, it),
        (items) => ({ total_count: suites.length, check_suites: items }),
      )
    }),
    ...statusRoutes(state),
  ]
}

/** Only apps have checks; people's tokens are told so. */
function requireApp(call: RepositoryCall): MockApp {
  if (call.caller.kind !== 'installation')
    throw new GitHubApiError(403, 'You must authenticate via a GitHub App.')
  return call.caller.installation.app
}

function requireCheckRun(call: RepositoryCall): MockCheckRun {
  const id = parseIdParam(call, 'check_run_id')
  const found = call.repo.suites.flatMap((it) => it.runs).find((it) => it.id === id)
  if (found === undefined) throw notFound()
  return found
}

function requireCheckSuite(call: RepositoryCall): CheckSuite {
  const id = parseIdParam(call, 'check_suite_id')
  const found = call.repo.suites.find((it) => it.id === id)
  if (found === undefined) throw notFound()
  return found
}

function paginateCheckRuns(call: RepositoryCall, runs: readonly MockCheckRun[]): RouteResponse {
  const { query, world } = call
  const name = query.get('check_name')
  const status = query.get('status')
  const app = query.get('app_id')
  const found = (query.get('filter') === 'all' ? runs : findLatestRuns(runs))
    .filter((it) => name === null || it.name === name)
    .filter((it) => status === null || it.status === status)
    .filter((it) => app === null || it.suite.app.id === Number(app))
    .sort((one, other) => other.id - one.id)
  return paginate(call, found, (items) => ({
    total_count: found.length,
    check_runs: items.map((it) => checkRunView(world, it)),
  }))
}

const commitStatusStates = ['success', 'pending', 'failure', 'error'] as const

function statusRoutes(state: GitHubState): Route[] {
  const { world } = state
  const needs = { statuses: 'read' } as const
  const newestFirst = async (
    call: RepositoryCall,
  ): Promise<{ sha: string; statuses: MockCommitStatus[] }> => {
    const sha = await requireCommit(call, call.params['ref'] ?? '')
    return { sha, statuses: call.repo.statuses.filter((it) => it.sha === sha).reverse() }
  }
  return [
    repoRoute('POST /statuses/{sha}', { statuses: 'write' }, async (call) => {
      const sha = await requireCommit(call, call.params['sha'] ?? '')
      const requestedState = requireText(call, 'state', 'Status')
      if (!commitStatusStates.includes(requestedState as MockCommitStatus['state']))
        throw new GitHubApiError(422, 'Validation Failed', [`${requestedState} is not included in the list`])
      const status = await addCommitStatus(
        state,
        call.repo,
        sha,
        getActingAccount(call.caller),
        call.body as unknown as NewCommitStatus,
      )
      return created(commitStatusView(world, call.repo, status))
    }),
    repoRoute('GET /commits/{ref}/statuses', needs, async (call) => {
      const { statuses } = await newestFirst(call)
      return paginate(
        call,
        statuses.map((it) => commitStatusView(world, call.repo, it)),
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
      return paginate(call, latest, (items) => ({
        state: failed ? 'failure' : waits ? 'pending' : 'success',
        statuses: items.map((it) => commitStatusView(world, call.repo, it)),
        sha,
        total_count: latest.length,
        repository: repositoryView(world, call.repo),
        commit_url: url,
        url: `${url}/status`,
      }))
    }),
  ]
}
