// REST routes of the app itself and of accounts: installations, tokens, deliveries, users, teams, the rate limit.
import { narrowed } from '../http/auth.ts'
import type { GitHubState } from '../github-state.ts'
import { Refusal, created, idParam, invalid, noContent, notFound, ok, page, route } from '../http/route.ts'
import type { Call, Route } from '../http/route.ts'
import { hourlyLimit } from '../http/rate-shapes.ts'
import {
  accountView,
  appView,
  fullTeamView,
  installationView,
  profileView,
  shownPermissions,
} from '../views/account-view.ts'
import { repositoryView } from '../views/repository-view.ts'
import type { Delivery } from '../webhooks.ts'
import { accountByLogin } from '../world.ts'
import type { Account, App, Installation, Payload, Repo, Team, World } from '../world.ts'

export function appRoutes(state: GitHubState): Route[] {
  const { world, credentials, webhooks } = state
  return [
    route('GET /app', 'app', (call) => ok(appView(world, appOf(call)))),
    route('GET /apps/{app_slug}', 'anyone', (call) => {
      const found = [...world.apps.values()].find(({ slug }) => slug === call.params['app_slug'])
      if (found === undefined) throw notFound()
      return ok(appView(world, found))
    }),
    route('GET /app/installations', 'app', (call) =>
      page(call, installationsOf(call), (items) => items.map((it) => installationView(world, it))),
    ),
    route('GET /app/installations/{installation_id}', 'app', (call) =>
      ok(installationView(world, installationOf(call))),
    ),
    route('POST /app/installations/{installation_id}/access_tokens', 'app', (call) => {
      const installation = installationOf(call)
      if (installation.suspendedAt !== null) throw new Refusal(403, 'This installation has been suspended')
      const repositories = chosenRepositories(installation, call.body)
      const permissions = narrowed(installation, call.body['permissions'])
      return created({
        ...credentials.installationToken(installation, repositories, permissions),
        permissions: shownPermissions(permissions),
        repository_selection: 'selected',
        ...(repositories === undefined
          ? {}
          : { repositories: [...repositories].map((it) => repositoryView(world, it)) }),
      })
    }),
    route('POST /app-manifests/{code}/conversions', 'anyone', (call) => {
      const code = call.params['code'] ?? ''
      const make = world.manifests.get(code)
      if (make === undefined) throw notFound()
      world.manifests.delete(code)
      const app = make()
      return created({
        ...appView(world, app),
        client_secret: app.clientSecret,
        webhook_secret: app.webhookSecret,
        pem: app.privateKey,
      })
    }),
    route('DELETE /installation/token', 'installation', (call) => {
      credentials.revoke(call.caller)
      return noContent()
    }),
    repoInstallation(state),
    ...['GET /orgs/{org}/installation', 'GET /users/{username}/installation'].map((operation) =>
      route(operation, 'app', (call) => {
        const account = accountByLogin(world, call.params['org'] ?? call.params['username'] ?? '')
        const found = installationsOf(call).find((it) => it.account === account)
        if (found === undefined) throw notFound()
        return ok(installationView(world, found))
      }),
    ),
    route('GET /app/hook/deliveries', 'app', (call) => deliveryPage(call, webhooks.deliveries)),
    route('GET /app/hook/deliveries/{delivery_id}', 'app', (call) => {
      const delivery = deliveryOf(call, webhooks.deliveries)
      return ok({
        ...deliveryView(delivery),
        url: '',
        request: { headers: delivery.requestHeaders, payload: delivery.payload },
        response: { headers: delivery.responseHeaders, payload: delivery.responseBody },
      })
    }),
    route('POST /app/hook/deliveries/{delivery_id}/attempts', 'app', (call) => {
      webhooks.redeliver(deliveryOf(call, webhooks.deliveries))
      return { status: 202, body: {} }
    }),
    route('GET /installation/repositories', 'installation', (call) => {
      if (call.caller.kind !== 'installation') throw notFound()
      const all = [...(call.caller.repositories ?? call.caller.installation.repositories)].filter(
        (it) => !it.deleted,
      )
      return page(call, all, (items) => ({
        total_count: all.length,
        repository_selection: 'selected',
        repositories: items.map((it) => repositoryView(world, it)),
      }))
    }),
    route('GET /rate_limit', 'anyone', (call) => {
      const { installation } = call.caller.kind === 'installation' ? call.caller : { installation: undefined }
      const limit = installation?.limits.hourly ?? hourlyLimit
      const remaining = installation?.remaining ?? limit
      const reset = installation?.resetsAt ?? Math.floor(world.now() / 1000) + 3600
      const core = { limit, remaining, reset, used: limit - remaining }
      return ok({ resources: { core, search: core, graphql: core }, rate: core })
    }),
    ...accountRoutes(world),
  ]
}

// A route below a repository that only the app's JWT opens, hence not a repoRoute.
function repoInstallation({ world }: GitHubState): Route {
  return route('GET /repos/{owner}/{repo}/installation', 'app', (call) => {
    const repo = (call as Call & { repo: Repo }).repo
    const found = installationsOf(call).find((it) => it.repositories.has(repo))
    if (found === undefined) throw notFound()
    return ok(installationView(world, found))
  })
}

function accountRoutes(world: World): Route[] {
  const shown = (account: Account | undefined): ReturnType<typeof ok> => {
    if (account === undefined || account.deleted) throw notFound()
    return ok(profileView(world, account))
  }
  return [
    route('GET /users/{username}', 'anyone', (call) =>
      shown(accountByLogin(world, call.params['username'] ?? '')),
    ),
    route('GET /user/{account_id}', 'anyone', (call) =>
      shown(world.accounts.get(idParam(call, 'account_id'))),
    ),
    route('GET /user', 'anyone', (call) => {
      if (call.caller.kind === 'installation')
        throw new Refusal(403, 'Resource not accessible by integration')
      if (call.caller.kind !== 'user') throw new Refusal(401, 'Requires authentication')
      return shown(call.caller.account)
    }),
    ...teamRoutes(world),
  ]
}

function teamRoutes(world: World): Route[] {
  const members = { members: 'read' } as const
  const base = '/orgs/{org}/teams/{team_slug}'
  const teamOf = (call: Call): Team => {
    const { org = '', team_slug = '' } = call.params
    const organization = accountByLogin(world, org)
    const team = world.teams.find((it) => it.organization === organization && it.slug === team_slug)
    // A token of an installation elsewhere does not see inside this organization.
    const outside = call.caller.kind === 'installation' && call.caller.installation.account !== organization
    if (team === undefined || outside) throw notFound()
    return team
  }
  return [
    route(`GET ${base}`, members, (call) => ok(fullTeamView(world, teamOf(call)))),
    route(`GET ${base}/members`, members, (call) => {
      const active = [...teamOf(call).members].filter(([, it]) => it.state === 'active')
      const people = active.flatMap(([id]) => world.accounts.get(id) ?? []).filter((it) => !it.deleted)
      return page(call, people, (items) => items.map((it) => accountView(world, it)))
    }),
    route(`GET ${base}/memberships/{username}`, members, (call) => {
      const team = teamOf(call)
      const account = accountByLogin(world, call.params['username'] ?? '')
      const member = account && team.members.get(account.id)
      if (member === undefined) throw notFound()
      return ok({ ...member, url: `${world.base}${call.url.pathname}` })
    }),
  ]
}

function appOf(call: Call): App {
  if (call.caller.kind !== 'app') throw notFound()
  return call.caller.app
}

function installationsOf(call: Call): Installation[] {
  const app = appOf(call)
  return [...call.world.installations.values()].filter((it) => it.app === app)
}

function installationOf(call: Call): Installation {
  const id = idParam(call, 'installation_id')
  const found = installationsOf(call).find((it) => it.id === id)
  if (found === undefined) throw notFound()
  return found
}

function chosenRepositories(installation: Installation, body: Payload): ReadonlySet<Repo> | undefined {
  const names = body['repositories'] as string[] | undefined
  const ids = body['repository_ids'] as number[] | undefined
  if (names === undefined && ids === undefined) return undefined
  const chosen = [...installation.repositories].filter(
    (it) => names?.includes(it.name) ?? ids?.includes(it.id) ?? false,
  )
  if (chosen.length !== (names ?? ids)?.length)
    throw invalid(
      'Installation',
      'repositories',
      'invalid',
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    )
  return new Set(chosen)
}

function deliveryView(delivery: Delivery): Payload {
  const { id, guid, deliveredAt, redelivery, seconds, status, event, action, installation, repo } = delivery
  return {
    id,
    guid,
    delivered_at: deliveredAt,
    redelivery,
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
function deliveryPage(call: Call, all: readonly Delivery[]): ReturnType<typeof ok> {
  const app = appOf(call)
  const size = Math.min(100, Number(call.query.get('per_page') ?? 30))
  const cursor = Number(call.query.get('cursor') ?? Number.MAX_SAFE_INTEGER)
  const wanted = call.query.get('status')
  const failed = (it: Delivery): boolean => it.status < 200 || it.status >= 300
  const rest = all
    .filter(
      (it) => it.app === app && it.id <= cursor && (wanted === null || (wanted === 'failure') === failed(it)),
    )
    .sort((one, other) => other.id - one.id)
  const next = rest[size]
  const url = new URL(call.url)
  url.searchParams.set('cursor', String(next?.id))
  return {
    ...ok(rest.slice(0, size).map(deliveryView)),
    headers: next === undefined ? {} : { link: `<${url.href}>; rel="next"` },
  }
}

function deliveryOf(call: Call, all: readonly Delivery[]): Delivery {
  const id = idParam(call, 'delivery_id')
  const app = appOf(call)
  const found = all.find((it) => it.id === id && it.app === app)
  if (found === undefined) throw notFound()
  return found
}
