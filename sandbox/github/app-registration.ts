// GitHub's web pages for creating an App from a manifest and installing it. The user is signed in and owns the
// account in the URL. Returns the errors that GitHub returns, with the same messages.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { GitHubAppAdmin } from './app-admin.ts'
import { sendHtmlPage, escapeHtml } from './pages.ts'
import { findAccountByLogin } from './github-data.ts'
import type { MockAccount, MockApp, GitHubPayload, AppPermissions, MockGitHubData } from './github-data.ts'

export interface AppRegistrationContext {
  readonly github: GitHubAppAdmin
  readonly state: MockGitHubData
}

/**
 * The permission that each event requires, from GitHub's documentation of webhooks. For `issue_comment`, a manifest requires
 * `issues`, although comments on pull requests are delivered with only `pull_requests`.
 */
const requiredPermissionByEvent: Readonly<Record<string, string>> = {
  branch_protection_rule: 'administration',
  check_run: 'checks',
  check_suite: 'checks',
  commit_comment: 'contents',
  create: 'contents',
  delete: 'contents',
  deployment: 'deployments',
  deployment_status: 'deployments',
  fork: 'contents',
  gollum: 'contents',
  issue_comment: 'issues',
  issues: 'issues',
  label: 'metadata',
  member: 'members',
  membership: 'members',
  merge_group: 'merge_queues',
  milestone: 'issues',
  organization: 'members',
  public: 'metadata',
  pull_request: 'pull_requests',
  pull_request_review: 'pull_requests',
  pull_request_review_comment: 'pull_requests',
  pull_request_review_thread: 'pull_requests',
  push: 'contents',
  release: 'contents',
  repository: 'metadata',
  repository_dispatch: 'contents',
  repository_ruleset: 'administration',
  star: 'metadata',
  status: 'statuses',
  team: 'members',
  team_add: 'members',
  watch: 'metadata',
  workflow_dispatch: 'actions',
  workflow_job: 'actions',
  workflow_run: 'actions',
}

const supportedAppManifestFields = new Set([
  'name',
  'url',
  'hook_attributes',
  'redirect_url',
  'callback_urls',
  'setup_url',
  'setup_on_update',
  'description',
  'public',
  'default_events',
  'default_permissions',
  'request_oauth_on_install',
])

/** GitHub's errors for a manifest. Empty if GitHub accepts it. */
export function validateAppManifest(manifest: GitHubPayload): string[] {
  const errors: string[] = []
  const isNonEmptyText = (field: string) => toStringOrEmpty(manifest[field]) !== ''
  if (!isNonEmptyText('url')) errors.push(`"url" wasn't supplied.`)
  if (!isNonEmptyText('redirect_url')) errors.push(`"redirect_url" wasn't supplied.`)
  for (const field of Object.keys(manifest))
    if (!supportedAppManifestFields.has(field)) errors.push(`"${field}" is not a permitted key.`)
  if (isNonEmptyText('name') && String(manifest['name']).length > 34)
    errors.push('Name is too long (maximum is 34 characters)')
  errors.push(...validateWebhookAttributes(manifest['hook_attributes']))
  const permissions = (manifest['default_permissions'] ?? {}) as AppPermissions
  const events = (manifest['default_events'] ?? []) as string[]
  const unsupported = events.filter((it) => requiredPermissionByEvent[it] === undefined)
  if (unsupported.length > 0) errors.push(`Default events unsupported: ${unsupported.join(', ')}`)
  const closed = events.filter((it) => permissions[requiredPermissionByEvent[it] ?? ''] === undefined)
  if (closed.length > 0) errors.push(`Default events are not supported by permissions: ${closed.join(', ')}`)
  return errors
}

function validateWebhookAttributes(hook: unknown): string[] {
  if (hook === undefined) return []
  const { url, active: _, ...rest } = hook as GitHubPayload
  const errors = Object.keys(rest).map((it) => `"${it}" is not a permitted key.`)
  if (typeof url !== 'string' || url === '') return [...errors, `"url" wasn't supplied.`]
  if (!URL.canParse(url)) return [...errors, 'Hook url is not a valid URL']
  const { hostname } = new URL(url)
  if (/^(?:localhost|127\.|10\.|192\.168\.|\[::1\])/.test(hostname) || !hostname.includes('.'))
    errors.push(`Hook url is not supported because it isn't reachable over the public Internet (${hostname})`)
  return errors
}

const appCreationPathPattern = /^(?:\/organizations\/(?<org>[^/]+))?\/settings\/apps\/(?<step>new|create)$/
const appInstallationPathPattern = /^\/apps\/(?<slug>[^/]+)\/installations\/new$/

/** Answers these pages. Returns false for every other URL. */
export async function handleAppRegistrationPage(
  at: AppRegistrationContext,
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<boolean> {
  const sendHtml = (status: number, title: string, body: string): true =>
    sendHtmlPage(response, status, title, body)
  const form = appCreationPathPattern.exec(url.pathname)?.groups
  if (form !== undefined && request.method === 'POST') {
    const owner = form['org'] === undefined ? undefined : findAccountByLogin(at.state, form['org'])
    if (form['org'] !== undefined && owner?.type !== 'Organization')
      return sendHtml(404, 'Page not found', '')
    const fields = new URLSearchParams(await text(request))
    const manifest = JSON.parse(fields.get('manifest') ?? '{}') as GitHubPayload
    const errors = validateAppManifest(manifest)
    if (errors.length > 0)
      return sendHtml(
        422,
        'Invalid GitHub App configuration',
        `<p>The configuration does not appear to be a valid GitHub App manifest.</p><ul>${errors.map((it) => `<li>Error ${escapeHtml(it)}</li>`).join('')}</ul>`,
      )
    if (form['step'] === 'new') return sendHtml(200, 'Create GitHub App', renderCreateAppForm(url, manifest))
    const name = fields.get('name') ?? ''
    if (isAppNameTaken(at, name)) return sendHtml(422, 'Create GitHub App', '<p>Name is already taken</p>')
    const back = new URL(String(manifest['redirect_url']))
    back.searchParams.set('code', createAppManifestCode(at, manifest, name, owner))
    back.searchParams.set('state', url.searchParams.get('state') ?? '')
    response.writeHead(302, { location: back.href }).end()
    return true
  }
  const slug = appInstallationPathPattern.exec(url.pathname)?.groups?.['slug']
  const app = [...at.state.apps.values()].find((it) => it.slug === slug)
  if (app === undefined) return false
  return handleAppInstallationPage(at, app, request, sendHtml)
}

function renderCreateAppForm(url: URL, manifest: GitHubPayload): string {
  const create = `${url.pathname.replace(/new$/, 'create')}${url.search}`
  return `<form method="post" action="${escapeHtml(create)}"><label>GitHub App name <input name="name" value="${escapeHtml(toStringOrEmpty(manifest['name']))}"></label>
<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(manifest))}"><button>Create GitHub App</button></form>`
}

const toStringOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '')

const toAppSlug = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z\d]+/g, '-')
    .replace(/^-|-$/g, '')

function isAppNameTaken({ state }: AppRegistrationContext, name: string): boolean {
  return [...state.apps.values()].some(({ slug }) => slug === toAppSlug(name))
}

function createAppManifestCode(
  { github }: AppRegistrationContext,
  manifest: GitHubPayload,
  name: string,
  owner: MockAccount | undefined,
): string {
  const hook = manifest['hook_attributes'] as { url: string } | undefined
  return github.acceptManifest({
    slug: toAppSlug(name),
    ...(owner && { owner }),
    webhookTarget: hook?.url ?? null,
    callbackUrls: (manifest['callback_urls'] ?? []) as string[],
    events: (manifest['default_events'] ?? []) as string[],
    permissions: (manifest['default_permissions'] ?? {}) as AppPermissions,
  })
}

async function handleAppInstallationPage(
  { github, state }: AppRegistrationContext,
  app: MockApp,
  request: IncomingMessage,
  html: (status: number, title: string, body: string) => true,
): Promise<true> {
  const own = [...state.repos.values()].filter((it) => it.owner === app.owner && !it.deleted)
  if (request.method === 'POST') {
    const chosen = new Set(new URLSearchParams(await text(request)).getAll('repository'))
    github.install(
      app,
      app.owner,
      own.filter((it) => chosen.has(it.name)),
    )
    return html(200, 'Okay, the App was installed', '')
  }
  const boxes = own.map(
    (it) =>
      `<p><label><input type="checkbox" name="repository" value="${escapeHtml(it.name)}"> ${escapeHtml(it.name)}</label></p>`,
  )
  return html(
    200,
    `Install ${app.slug}`,
    `<form method="post">${boxes.join('')}<button>Install</button></form>`,
  )
}
