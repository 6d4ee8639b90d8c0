// The first start: creates the MockGitHub App from its manifest and stores the credentials. Requires the word from the
// terminal, because the App's creator decides whom catalog-bot trusts.
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { fetchFromGitHub } from '../../github/github-fetch.ts'
import { parseRequestTarget } from '../pages/page-urls.ts'
import { escapeHtml } from '../escape-html.ts'
import { sendPage, type HtmlPage } from '../html-page.ts'
import { isSetupToken } from './setup-token.ts'
import {
  formatWebhookUrl,
  buildAppManifest,
  parseSetupForm,
  formatRegistrationUrl,
  type SetupFormField,
  type AppRegistration,
} from './app-registration.ts'

export interface SetupOptions {
  readonly host: string
  readonly port: number
  /** Grants access; valid for one App. */
  readonly token: string
  readonly gitUrl: string
  readonly apiUrl: string
  readonly publicUrl: string | undefined
  /** Seconds between sweeps, shown if MockGitHub cannot reach the bot. */
  readonly sweepSeconds: number
  readonly manifest: Readonly<Record<string, unknown>>
  /** Called once. */
  readonly onCreated: (app: CreatedApp) => Promise<void>
}

export interface CreatedApp {
  readonly id: number
  readonly slug: string
  readonly pem: string
  readonly webhookSecret: string
  /** The App's OAuth client; absent if MockGitHub returns none. */
  readonly client?: { readonly id: string; readonly secret: string }
  readonly url: string
}

const createdAppSchema = z.object({
  id: z.number().int().positive(),
  slug: z.string(),
  pem: z.string().includes('-----BEGIN'),
  webhook_secret: z.string().min(1).nullish(),
  client_id: z
    .string()
    .regex(/^[\w.-]+$/)
    .nullish(),
  client_secret: z.string().regex(/^\w+$/).nullish(),
  html_url: z.url(),
})

export interface SetupServer {
  readonly port: number
  close(): Promise<void>
}

/** Shows the setup page until `close()` is called. Rejects if the port is taken. */
export async function startSetupServer(options: SetupOptions): Promise<SetupServer> {
  // Two concurrent browsers create only one App.
  const state = { isTaken: false }
  const server = createServer((request, response) => {
    handleSetupRequest(request, response, options, state).catch((error: unknown) => {
      state.isTaken = false
      const page = renderFailedPage(error instanceof Error ? error.message : String(error), options.token)
      if (response.headersSent) response.end()
      else sendPage(response, 502, page)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    port,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function handleSetupRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: SetupOptions,
  state: { isTaken: boolean },
): Promise<void> {
  const { token, gitUrl } = options
  const url = parseRequestTarget(request.url) ?? new URL('http://localhost')
  if (url.pathname === '/healthz') return void response.writeHead(200).end('waiting for setup\n')
  if (url.pathname === '/setup' && isSetupToken(url.searchParams.get('word'), token)) {
    const query = url.searchParams
    if (!query.has('name')) return sendPage(response, 200, renderFormPage(options, query, {}))
    const form = parseSetupForm(query, isGitHubHosted(gitUrl))
    if ('problems' in form) return sendPage(response, 422, renderFormPage(options, query, form.problems))
    const here = findOwnUrl(request, options, form.wanted)
    if (here === undefined)
      return sendPage(response, 422, renderFormPage(options, query, { address: missingUrlMessage }))
    return sendPage(response, 200, renderConfirmPage(options, form.wanted, here), new URL(gitUrl).origin)
  }
  if (
    url.pathname === '/setup/created' &&
    isSetupToken(url.searchParams.get('state'), token) &&
    !state.isTaken
  ) {
    state.isTaken = true
    const created = await exchangeManifestCode(url.searchParams.get('code') ?? '', options.apiUrl)
    await options.onCreated(created)
    return sendPage(response, 200, renderCreatedPage(created, token))
  }
  sendPage(response, 404, {
    title: 'Page not found',
    body: '<p>Open the address that the terminal shows.</p>',
  })
}

/** MockGitHub.com and GHE.com send webhooks only to public addresses. */
const isGitHubHosted = (gitUrl: string): boolean => /^https:\/\/(?:github\.com|[^/]+\.ghe\.com)$/.test(gitUrl)

/**
 * The address that MockGitHub redirects to with the code for the App's key. Trusts a Host header only if it names the local
 * machine, and otherwise uses the operator's `publicUrl`.
 */
function findOwnUrl(
  { headers: { host = '' } }: IncomingMessage,
  { publicUrl }: SetupOptions,
  { address }: AppRegistration,
): string | undefined {
  const isOwnMachine = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/.test(host)
  return isOwnMachine ? `http://${host}` : (publicUrl ?? address)
}

const missingUrlMessage =
  'Give the public address, or start catalog-bot with PUBLIC_URL: GitHub sends this browser back there. Or open this page at http://localhost, such as through an SSH tunnel.'

async function exchangeManifestCode(code: string, apiUrl: string): Promise<CreatedApp> {
  if (!/^[\w-]{1,200}$/.test(code)) throw new TypeError('The code in the address is not one of GitHub.')
  const reply = await fetchFromGitHub(`${apiUrl}/app-manifests/${code}/conversions`, {
    method: 'POST',
    headers: { accept: 'application/vnd.github+json', 'user-agent': 'catalog-bot' },
    redirect: 'error',
    signal: AbortSignal.timeout(20_000),
  }).catch(() => undefined)
  if (reply === undefined) throw new Error(`${new URL(apiUrl).host} cannot be reached from here.`)
  if (reply.status === 404)
    throw new Error('GitHub does not know the code any more: it holds for one hour, and once.')
  const app = reply.ok
    ? createdAppSchema.safeParse(await reply.json().catch(() => undefined)).data
    : undefined
  if (app === undefined) throw new Error(`GitHub answered ${reply.status}, and with no App.`)
  return {
    id: app.id,
    slug: app.slug,
    pem: app.pem,
    ...(app.client_id && app.client_secret && { client: { id: app.client_id, secret: app.client_secret } }),
    // MockGitHub creates no secret without a hook, but the bot never accepts unsigned deliveries.
    webhookSecret: app.webhook_secret ?? randomBytes(32).toString('hex'),
    url: app.html_url,
  }
}

function renderFormPage(
  { token, sweepSeconds }: SetupOptions,
  query: URLSearchParams,
  problems: Readonly<Partial<Record<SetupFormField, string>>>,
): HtmlPage {
  const field = (name: SetupFormField, label: string, hint: string, extra: string) => {
    const problem = problems[name]
    return `<label for="${name}">${label}<small>${hint}</small></label>
<input id="${name}" name="${name}" value="${escapeHtml(query.get(name) ?? '')}" ${extra}${problem === undefined ? '' : ` aria-invalid="true" aria-describedby="${name}-problem"`}>${problem === undefined ? '' : `<span class="wrong" id="${name}-problem">${escapeHtml(problem)}</span>`}`
  }
  return {
    title: 'Create the GitHub App',
    body: `<p>catalog-bot has no credentials yet. It runs as a GitHub App of yours. Nothing is created before you say so on GitHub.</p>
<form method="get" action="/setup"><input type="hidden" name="word" value="${escapeHtml(token)}">
${field('organization', 'Organization', 'Whose the App shall be. Empty: your own account. An App can be installed by its owner only.', 'autocomplete="off" autofocus')}
${field('name', 'Name', 'It stands above the bot’s comments, and nobody else’s App on GitHub may have it. Empty: “catalog-bot” and the organization.', 'maxlength="34" autocomplete="off"')}
${field('address', 'Public address', `Where GitHub reaches this bot, such as <code>https://bot.example.com</code>. Empty: GitHub sends nothing, and the bot looks at every open pull request each ${sweepSeconds} s by itself.`, 'type="url" placeholder="https://" autocomplete="off"')}
<button type="submit">Continue</button></form>`,
  }
}

function renderConfirmPage(
  { manifest, gitUrl, token, sweepSeconds }: SetupOptions,
  wanted: AppRegistration,
  here: string,
): HtmlPage {
  const complete = buildAppManifest(wanted, manifest, `${here}/setup/created`)
  const permissions = Object.entries((manifest['default_permissions'] ?? {}) as Record<string, string>)
  const hook =
    wanted.address === undefined
      ? `GitHub sends nothing. The bot looks at every open pull request each ${sweepSeconds} s. You can add an address later, in the App’s settings.`
      : `GitHub sends to <code>${escapeHtml(formatWebhookUrl(wanted.address))}</code>.`
  return {
    title: 'This App will be created',
    body: `<p><strong>${escapeHtml(wanted.name)}</strong>, owned by ${wanted.organization === undefined ? 'your account' : `<strong>${escapeHtml(wanted.organization)}</strong>`}. ${hook}</p>
<details><summary>What it may do</summary><table>${permissions.map(([name, level]) => `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(level)}</td></tr>`).join('')}</table></details>
<form method="post" action="${escapeHtml(formatRegistrationUrl(gitUrl, wanted, token))}">
<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(complete))}">
<button type="submit">Create it on GitHub</button></form>
<p><a href="/setup?word=${escapeHtml(token)}">Back</a></p>`,
  }
}

function renderCreatedPage(app: CreatedApp, token: string): HtmlPage {
  const next = `/setup/installed?word=${token}`
  return {
    title: 'App created',
    body: `<p><strong>${escapeHtml(app.slug)}</strong> was created. Its key and secrets are stored. The bot starts now.</p>
<p>This page goes on by itself. If it does not: <a href="${escapeHtml(next)}">where the App is installed</a>.</p>`,
    refresh: { seconds: 4, to: next },
  }
}

function renderFailedPage(why: string, token: string): HtmlPage {
  return {
    title: 'The App was not stored',
    body: `<p class="wrong">${escapeHtml(why)}</p><p><a href="/setup?word=${escapeHtml(token)}">Begin again</a>. If GitHub made an App already, delete it in its settings first: its key is known to nobody.</p>`,
  }
}
