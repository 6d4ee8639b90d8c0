// REST routes of the app itself and of accounts: installations, tokens, deliveries, users, teams, the rate limit.
import { narrowTokenPermissions, type IssuedTokenStore } from '../http/auth.ts'
import {
  GitHubApiError,
  respondCreated,
  parseIdParam,
  createValidationError,
  createNotFoundError,
  respondOk,
  paginate,
  defineRoute,
} from '../http/route.ts'
import type { RouteRequest, Route } from '../http/route.ts'
import { defaultHourlyRateLimit } from '../http/rate-limit-types.ts'
import {
  toAppView,
  toFullTeamView,
  toInstallationView,
  toProfileView,
  toPermissionsView,
} from '../views/account-view.ts'
import { toRepositoryView } from '../views/repository-view.ts'
import type { WebhookDelivery, WebhookDispatcher } from '../webhooks.ts'
import { findAccountByLogin } from '../github-data.ts'
import type {
  MockAccount,
  MockApp,
  Installation,
  GitHubPayload,
  MockRepository,
  Team,
} from '../github-data.ts'

// A repository route that only accepts the app's JWT, so it does not use defineRepositoryRoute.
const repoInstallationRoute = defineRoute('GET /repos/{owner}/{repo}/installation', 'app', (call) => {
  const repo = (call as RouteRequest & { repo: MockRepository }).repo
  const found = listInstallations(call).find((it) => it.repositories.has(repo))
  if (found === undefined) throw createNotFoundError()
  return respondOk(toInstallationView(found))
})

const accountResponse = (account: MockAccount | undefined): ReturnType<typeof respondOk> => {
  if (account === undefined || account.deleted) throw createNotFoundError()
  return respondOk(toProfileView(account))
}

const membersReadPermission = { members: 'read' } as const
const teamPath = '/orgs/{org}/teams/{team_slug}'
const requireTeam = (call: RouteRequest): Team => {
  const { org = '', team_slug = '' } = call.params
  const organization = findAccountByLogin(call.state, org)
  const team = call.state.teams.find((it) => it.organization === organization && it.slug === team_slug)
  // A token of another organization's installation has no access to this organization.
  const outside = call.caller.kind === 'installation' && call.caller.installation.account !== organization
  if (team === undefined || outside) throw createNotFoundError()
  return team
}

function requireAppCaller(call: RouteRequest): MockApp {
  if (call.caller.kind !== 'app') throw createNotFoundError()
  return call.caller.app
}

function listInstallations(call: RouteRequest): Installation[] {
  const app = requireAppCaller(call)
  return [...call.state.installations.values()].filter((it) => it.app === app)
}

function requireInstallation(call: RouteRequest): Installation {
  const id = parseIdParam(call, 'installation_id')
  const found = listInstallations(call).find((it) => it.id === id)
  if (found === undefined) throw createNotFoundError()
  return found
}

function parseRepositorySelection(
  installation: Installation,
  body: GitHubPayload,
): ReadonlySet<MockRepository> | undefined {
  const names = body['repositories'] as string[] | undefined
  const ids = body['repository_ids'] as number[] | undefined
  if (names === undefined && ids === undefined) return undefined
  const chosen = [...installation.repositories].filter(
    (it) => names?.includes(it.name) ?? ids?.includes(it.id) ?? false,
  )
  if (chosen.length !== (names ?? ids)?.length)
    throw createValidationError(
      'Installation',
      'repositories',
      'invalid',
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    )
  return new Set(chosen)
}

function toWebhookDeliveryView(delivery: WebhookDelivery): GitHubPayload {
  const { id, guid, deliveredAt, seconds, status, event, action, installation, repo } = delivery
  return {
    id,
    guid,
    delivered_at: deliveredAt,
    redelivery: false,
    duration: Math.round(seconds * 100) / 100,
    status:
      status >= 200 && status < 300
        ? 'OK'
        : status === 0
          ? 'failed to connect to host'
          : `Invalid HTTP Response: ${status}`,
    status_code: status,
    event,
    action,
    installation_id: installation.id,
    repository_id: repo?.id ?? null,
    throttled_at: null,
  }
}

// Deliveries page by cursor, newest first.
function paginateWebhookDeliveries(
  call: RouteRequest,
  all: readonly WebhookDelivery[],
): ReturnType<typeof respondOk> {
  const app = requireAppCaller(call)
  const size = Math.min(100, Number(call.query.get('per_page') ?? 30))
  const cursor = Number(call.query.get('cursor') ?? Number.MAX_SAFE_INTEGER)
  const wanted = call.query.get('status')
  const hasFailed = (it: WebhookDelivery): boolean => it.status < 200 || it.status >= 300
  const rest = all
    .filter(
      (it) =>
        it.app === app && it.id <= cursor && (wanted === null || (wanted === 'failure') === hasFailed(it)),
    )
    .sort((one, other) => other.id - one.id)
  const next = rest[size]
  const url = new URL(call.url)
  url.searchParams.set('cursor', String(next?.id))
  return {
    ...respondOk(rest.slice(0, size).map(toWebhookDeliveryView)),
    headers: next === undefined ? {} : { link: `<${url.href}>; rel="next"` },
  }
}

const teamRoutes: readonly Route[] = [
  defineRoute(`GET ${teamPath}`, membersReadPermission, (call) =>
    respondOk(toFullTeamView(requireTeam(call))),
  ),
  defineRoute(`GET ${teamPath}/memberships/{username}`, membersReadPermission, (call) => {
    const team = requireTeam(call)
    const account = findAccountByLogin(call.state, call.params['username'] ?? '')
    const member = account && team.members.get(account.id)
    if (member === undefined) throw createNotFoundError()
    return respondOk({ ...member, url: `${call.state.base}${call.url.pathname}` })
  }),
]

const accountRoutes: readonly Route[] = [
  defineRoute('GET /users/{username}', 'anyone', (call) =>
    accountResponse(findAccountByLogin(call.state, call.params['username'] ?? '')),
  ),
  defineRoute('GET /user', 'anyone', (call) => {
    if (call.caller.kind === 'installation')
      throw new GitHubApiError(403, 'Resource not accessible by integration')
    if (call.caller.kind !== 'user') throw new GitHubApiError(401, 'Requires authentication')
    return accountResponse(call.caller.account)
  }),
  ...teamRoutes,
]

export function createAppRoutes(credentials: IssuedTokenStore, webhooks: WebhookDispatcher): Route[] {
  return [
    defineRoute('GET /app', 'app', (call) => respondOk(toAppView(requireAppCaller(call)))),
    defineRoute('GET /apps/{app_slug}', 'anyone', (call) => {
      const found = [...call.state.apps.values()].find(({ slug }) => slug === call.params['app_slug'])
      if (found === undefined) throw createNotFoundError()
      return respondOk(toAppView(found))
    }),
    defineRoute('GET /app/installations', 'app', (call) =>
      paginate(call, listInstallations(call), (items) => items.map((it) => toInstallationView(it))),
    ),
    defineRoute('POST /app/installations/{installation_id}/access_tokens', 'app', (call) => {
      const installation = requireInstallation(call)
      if (installation.suspendedAt !== null)
        throw new GitHubApiError(403, 'This installation has been suspended')
      const repositories = parseRepositorySelection(installation, call.body)
      const permissions = narrowTokenPermissions(installation, call.body['permissions'])
      return respondCreated({
        ...credentials.installationToken(installation, repositories, permissions),
        permissions: toPermissionsView(permissions),
        repository_selection: 'selected',
        ...(repositories === undefined
          ? {}
          : { repositories: [...repositories].map((it) => toRepositoryView(it)) }),
      })
    }),
    defineRoute('POST /app-manifests/{code}/conversions', 'anyone', (call) => {
      const code = call.params['code'] ?? ''
      const make = call.state.manifests.get(code)
      if (make === undefined) throw createNotFoundError()
      call.state.manifests.delete(code)
      const app = make()
      return respondCreated({
        ...toAppView(app),
        client_secret: app.clientSecret,
        webhook_secret: app.webhookSecret,
        pem: app.privateKey,
      })
    }),
    repoInstallationRoute,
    defineRoute('GET /app/hook/deliveries', 'app', (call) =>
      paginateWebhookDeliveries(call, webhooks.deliveries),
    ),
    defineRoute('GET /installation/repositories', 'installation', (call) => {
      if (call.caller.kind !== 'installation') throw createNotFoundError()
      const all = [...(call.caller.repositories ?? call.caller.installation.repositories)].filter(
        (it) => !it.deleted,
      )
      return paginate(call, all, (items) => ({
        total_count: all.length,
        repository_selection: 'selected',
        repositories: items.map((it) => toRepositoryView(it)),
      }))
    }),
    defineRoute('GET /rate_limit', 'anyone', (call) => {
      const { installation } = call.caller.kind === 'installation' ? call.caller : { installation: undefined }
      const limit = installation?.limits.hourly ?? defaultHourlyRateLimit
      const remaining = installation?.remaining ?? limit
      const reset = installation?.resetsAt ?? Math.floor(call.state.now() / 1000) + 3600
      const core = { limit, remaining, reset, used: limit - remaining }
      return respondOk({ resources: { core, search: core, graphql: core }, rate: core })
    }),
    ...accountRoutes,
  ]
}
