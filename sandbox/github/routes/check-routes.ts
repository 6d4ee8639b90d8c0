// REST routes of check runs and commit statuses.
import { addCommitStatus, addCheckRun, updateCheckRun } from '../checks.ts'
import type { CommitStatusInput } from '../checks.ts'
import {
  GitHubApiError,
  respondCreated,
  parseIdParam,
  createNotFoundError,
  respondOk,
  paginate,
  defineRepositoryRoute,
  requireStringField,
  getActingAccount,
} from '../http/route.ts'
import type { RouteResponse, RepositoryRouteRequest, Route } from '../http/route.ts'
import { findLatestCheckRuns, toCheckRunView, toCommitStatusView } from '../views/check-view.ts'
import { getRepositoryApiUrl, toRepositoryView } from '../views/repository-view.ts'
import type { MockApp, MockCheckRun, MockCommitStatus } from '../github-data.ts'
import { requireCommit } from './repository-routes.ts'

const checksReadPermission = { checks: 'read' } as const
const checksWritePermission = { checks: 'write' } as const

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

function paginateCheckRuns(call: RepositoryRouteRequest, runs: readonly MockCheckRun[]): RouteResponse {
  const { query } = call
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
    check_runs: items.map((it) => toCheckRunView(it)),
  }))
}

const commitStatusStates = ['success', 'pending', 'failure', 'error'] as const

const commitStatusRoutes: readonly Route[] = [
  defineRepositoryRoute('POST /statuses/{sha}', { statuses: 'write' }, async (call) => {
    const sha = await requireCommit(call, call.params['sha'] ?? '')
    const requestedState = requireStringField(call, 'state', 'Status')
    if (!commitStatusStates.includes(requestedState as MockCommitStatus['state']))
      throw new GitHubApiError(422, 'Validation Failed', [`${requestedState} is not included in the list`])
    const status = await addCommitStatus(
      call.repo,
      sha,
      getActingAccount(call.caller),
      call.body as unknown as CommitStatusInput,
    )
    return respondCreated(toCommitStatusView(call.repo, status))
  }),
  defineRepositoryRoute('GET /commits/{ref}/status', { statuses: 'read' }, async (call) => {
    const sha = await requireCommit(call, call.params['ref'] ?? '')
    const statuses = call.repo.statuses.filter((it) => it.sha === sha).reverse()
    const latest = statuses.filter(
      (it, at) => statuses.findIndex((other) => other.context === it.context) === at,
    )
    const failed = latest.some((it) => it.state === 'failure' || it.state === 'error')
    const waits = latest.length === 0 || latest.some((it) => it.state === 'pending')
    const url = `${getRepositoryApiUrl(call.repo)}/commits/${sha}`
    return paginate(call, latest, (items) => ({
      state: failed ? 'failure' : waits ? 'pending' : 'success',
      statuses: items.map((it) => toCommitStatusView(call.repo, it)),
      sha,
      total_count: latest.length,
      repository: toRepositoryView(call.repo),
      commit_url: url,
      url: `${url}/status`,
    }))
  }),
]

export const checkRoutes: readonly Route[] = [
  defineRepositoryRoute('POST /check-runs', checksWritePermission, async (call) => {
    requireStringField(call, 'name', 'CheckRun')
    const sha = await requireCommit(call, requireStringField(call, 'head_sha', 'CheckRun'))
    return respondCreated(
      toCheckRunView(await addCheckRun(call.repo, requireInstallationApp(call), sha, call.body)),
    )
  }),
  defineRepositoryRoute('GET /check-runs/{check_run_id}', checksReadPermission, (call) =>
    respondOk(toCheckRunView(requireCheckRun(call))),
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
    await updateCheckRun(run, call.body)
    return respondOk(toCheckRunView(run))
  }),
  defineRepositoryRoute('GET /commits/{ref}/check-runs', checksReadPermission, async (call) => {
    const sha = await requireCommit(call, call.params['ref'] ?? '')
    return paginateCheckRuns(
      call,
      call.repo.suites.filter((it) => it.sha === sha).flatMap((it) => it.runs),
    )
  }),
  ...commitStatusRoutes,
]
