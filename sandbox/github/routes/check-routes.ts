// REST routes of check runs, check suites and commit statuses.
import {
  addCommitStatus,
  rerequestCheckRun,
  rerequestCheckSuite,
  addCheckRun,
  updateCheckRun,
} from '../checks.ts'
import type { CommitStatusInput } from '../checks.ts'
import { getActingAccount } from '../github-state.ts'
import type { MockGitHubState } from '../github-state.ts'
import {
  GitHubApiError,
  respondCreated,
  parseIdParam,
  createNotFoundError,
  respondOk,
  paginate,
  paginateAsync,
  defineRepositoryRoute,
  requireStringField,
} from '../http/route.ts'
import type { RouteResponse, RepositoryRouteRequest, Route } from '../http/route.ts'
import {
  toAnnotationView,
  findLatestCheckRuns,
  toCheckRunView,
  toCommitStatusView,
  toCheckSuiteView,
} from '../views/check-view.ts'
import { getRepositoryApiUrl, toRepositoryView } from '../views/repository-view.ts'
import type { MockApp, MockCheckRun, CheckSuite, MockCommitStatus } from '../github-data.ts'
import { requireCommit } from './repository-routes.ts'

const checksReadPermission = { checks: 'read' } as const
const checksWritePermission = { checks: 'write' } as const

export function createCheckRoutes(state: MockGitHubState): Route[] {
  const { world } = state
  return [
    defineRepositoryRoute('POST /check-runs', checksWritePermission, async (call) => {
      requireStringField(call, 'name', 'CheckRun')
      const sha = await requireCommit(call, requireStringField(call, 'head_sha', 'CheckRun'))
      return respondCreated(
        toCheckRunView(
          world,
          await addCheckRun(state, call.repo, requireInstallationApp(call), sha, call.body),
        ),
      )
    }),
    defineRepositoryRoute('GET /check-runs/{check_run_id}', checksReadPermission, (call) =>
      respondOk(toCheckRunView(world, requireCheckRun(call))),
    ),
    defineRepositoryRoute('PATCH /check-runs/{check_run_id}', checksWritePermission, async (call) => {
      const run = requireCheckRun(call)
      if (run.suite.app !== requireInstallationApp(call))
        throw new GitHubApiError(
          403,
          'Invalid app_id `' +
            String(requireInstallationApp(call).id) +
            '` - check run can only be modified by the GitHub App that created it.',
        )
      await updateCheckRun(state, run, call.body)
      return respondOk(toCheckRunView(world, run))
    }),
    defineRepositoryRoute('GET /check-runs/{check_run_id}/annotations', checksReadPermission, (call) =>
      paginate(call, requireCheckRun(call).annotations, (items) =>
        items.map((it) => toAnnotationView(world, requireCheckRun(call), it)),
      ),
    ),
    defineRepositoryRoute(
      'POST /check-runs/{check_run_id}/rerequest',
      checksWritePermission,
      async (call) => {
        await rerequestCheckRun(state, requireCheckRun(call), getActingAccount(call.caller))
        return respondCreated({})
      },
    ),
    defineRepositoryRoute('GET /check-suites/{check_suite_id}', checksReadPermission, async (call) =>
      respondOk(await toCheckSuiteView(world, requireCheckSuite(call))),
    ),
    defineRepositoryRoute('GET /check-suites/{check_suite_id}/check-runs', checksReadPermission, (call) =>
      paginateCheckRuns(call, requireCheckSuite(call).runs),
    ),
    defineRepositoryRoute(
      'POST /check-suites/{check_suite_id}/rerequest',
      checksWritePermission,
      async (call) => {
        await rerequestCheckSuite(state, requireCheckSuite(call), getActingAccount(call.caller))
        return respondCreated({})
      },
    ),
    defineRepositoryRoute('GET /commits/{ref}/check-runs', checksReadPermission, async (call) => {
      const sha = await requireCommit(call, call.params['ref'] ?? '')
      return paginateCheckRuns(
        call,
        call.repo.suites.filter((it) => it.sha === sha).flatMap((it) => it.runs),
      )
    }),
    defineRepositoryRoute('GET /commits/{ref}/check-suites', checksReadPermission, async (call) => {
      const sha = await requireCommit(call, call.params['ref'] ?? '')
      const app = call.query.get('app_id')
      const suites = call.repo.suites.filter(
        (it) => it.sha === sha && (app === null || it.app.id === Number(app)),
      )
      return await paginateAsync(
        call,
        suites,
        (it) => toCheckSuiteView(world, it),
        (items) => ({ total_count: suites.length, check_suites: items }),
      )
    }),
    ...createCommitStatusRoutes(state),
  ]
}

/** Only apps can create checks. Users' tokens get GitHub's error. */
function requireInstallationApp(call: RepositoryRouteRequest): MockApp {
  if (call.caller.kind !== 'installation')
    throw new GitHubApiError(403, 'You must authenticate via a GitHub App.')
  return call.caller.installation.app
}

function requireCheckRun(call: RepositoryRouteRequest): MockCheckRun {
  const id = parseIdParam(call, 'check_run_id')
  const found = call.repo.suites.flatMap((it) => it.runs).find((it) => it.id === id)
  if (found === undefined) throw createNotFoundError()
  return found
}

function requireCheckSuite(call: RepositoryRouteRequest): CheckSuite {
  const id = parseIdParam(call, 'check_suite_id')
  const found = call.repo.suites.find((it) => it.id === id)
  if (found === undefined) throw createNotFoundError()
  return found
}

function paginateCheckRuns(call: RepositoryRouteRequest, runs: readonly MockCheckRun[]): RouteResponse {
  const { query, world } = call
  const name = query.get('check_name')
  const status = query.get('status')
  const app = query.get('app_id')
  const found = (query.get('filter') === 'all' ? runs : findLatestCheckRuns(runs))
    .filter((it) => name === null || it.name === name)
    .filter((it) => status === null || it.status === status)
    .filter((it) => app === null || it.suite.app.id === Number(app))
    .sort((one, other) => other.id - one.id)
  return paginate(call, found, (items) => ({
    total_count: found.length,
    check_runs: items.map((it) => toCheckRunView(world, it)),
  }))
}

const commitStatusStates = ['success', 'pending', 'failure', 'error'] as const

function createCommitStatusRoutes(state: MockGitHubState): Route[] {
  const { world } = state
  const needs = { statuses: 'read' } as const
  const newestFirst = async (
    call: RepositoryRouteRequest,
  ): Promise<{ sha: string; statuses: MockCommitStatus[] }> => {
    const sha = await requireCommit(call, call.params['ref'] ?? '')
    return { sha, statuses: call.repo.statuses.filter((it) => it.sha === sha).reverse() }
  }
  return [
    defineRepositoryRoute('POST /statuses/{sha}', { statuses: 'write' }, async (call) => {
      const sha = await requireCommit(call, call.params['sha'] ?? '')
      const requestedState = requireStringField(call, 'state', 'Status')
      if (!commitStatusStates.includes(requestedState as MockCommitStatus['state']))
        throw new GitHubApiError(422, 'Validation Failed', [`${requestedState} is not included in the list`])
      const status = await addCommitStatus(
        state,
        call.repo,
        sha,
        getActingAccount(call.caller),
        call.body as unknown as CommitStatusInput,
      )
      return respondCreated(toCommitStatusView(world, call.repo, status))
    }),
    defineRepositoryRoute('GET /commits/{ref}/statuses', needs, async (call) => {
      const { statuses } = await newestFirst(call)
      return paginate(
        call,
        statuses.map((it) => toCommitStatusView(world, call.repo, it)),
      )
    }),
    defineRepositoryRoute('GET /commits/{ref}/status', needs, async (call) => {
      const { sha, statuses } = await newestFirst(call)
      const latest = statuses.filter(
        (it, at) => statuses.findIndex((other) => other.context === it.context) === at,
      )
      const failed = latest.some((it) => it.state === 'failure' || it.state === 'error')
      const waits = latest.length === 0 || latest.some((it) => it.state === 'pending')
      const url = `${getRepositoryApiUrl(world, call.repo)}/commits/${sha}`
      return paginate(call, latest, (items) => ({
        state: failed ? 'failure' : waits ? 'pending' : 'success',
        statuses: items.map((it) => toCommitStatusView(world, call.repo, it)),
        sha,
        total_count: latest.length,
        repository: toRepositoryView(world, call.repo),
        commit_url: url,
        url: `${url}/status`,
      }))
    }),
  ]
}
