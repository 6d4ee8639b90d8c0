// The first start creates the App from its manifest. Requires the terminal's code: its creator sets the trust.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { fetchFromGitHub } from '../../adapters/github/github-fetch.ts'
import type { SavedAppCredentials } from '../../jobs/saved-credentials.ts'
import { parseRequestTarget } from '../../report/urls.ts'
import { htmlTemplate, renderPreformattedText, type Html, sendHtmlPage, type HtmlPage } from '../html.ts'
import { isPublicHost } from '../../adapters/registry/transport/egress-policy.ts'

interface AppRegistration {
  /** An organization's login; undefined for a personal App. */
  readonly organization: string | undefined
  readonly name: string
  /** catalog-bot's public URL without a trailing slash. If undefined, only sweeps run. */
  readonly address: string | undefined
}

type SetupFormFieldName = 'organization' | 'name' | 'address'

type SetupFormParseResult =
  | { readonly registration: AppRegistration }
  | { readonly problems: Readonly<Partial<Record<SetupFormFieldName, string>>> }

/** GitHub's limit. */
const maxAppNameLength = 34

// RFC 2606 reserves these names.
const reservedDomainPattern = /\.(?:test|example|invalid)\.?$/i

/** The OAuth callback: see web/server/sign-in.ts. */
const formatCallbackUrl = (address: string): string => `${address}/sign-in/back`

const formatWebhookUrl = (address: string): string => `${address}/api/github/webhooks`

interface SetupServerOptions {
  readonly host: string
  readonly port: number
  /** Grants access; valid for one App. */
  readonly token: string
  readonly gitUrl: string
  readonly apiUrl: string
  readonly publicUrl: string | undefined
  /** Seconds between sweeps, shown if GitHub cannot reach catalog-bot. */
  readonly sweepSeconds: number
  readonly manifest: Readonly<Record<string, unknown>>
  /** Called once. */
  readonly onCreated: (app: CreatedApp) => Promise<void>
}

export interface CreatedApp extends SavedAppCredentials {
  readonly slug: string
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

export interface RunningSetupServer {
  readonly port: number
  close(): Promise<void>
}

/** Shows the setup page until `close()` is called. Rejects if the port is taken. */
export async function startSetupServer(options: SetupServerOptions): Promise<RunningSetupServer> {
  // Two concurrent browsers create only one App.
  const state = { isTaken: false }
  const server = createServer((request, response) => {
    handleSetupRequest(request, response, options, state).catch((error: unknown) => {
      state.isTaken = false
      const page = renderSetupFailedPage(
        error instanceof Error ? error.message : String(error),
        options.token,
      )
      if (response.headersSent) response.end()
      else sendHtmlPage(response, 502, page)
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
  options: SetupServerOptions,
  state: { isTaken: boolean },
): Promise<void> {
  const { token, gitUrl } = options
  const url = parseRequestTarget(request.url) ?? new URL('http://localhost')
  // Ready, because otherwise a load balancer would send no visitor to the setup page.
  if (['/livez', '/readyz', '/healthz'].includes(url.pathname))
    return void response.writeHead(200, { 'content-type': 'text/plain' }).end('waiting for setup\n')
  if (url.pathname === '/setup' && isSetupToken(url.searchParams.get('word'), token)) {
    const query = url.searchParams
    if (!query.has('name')) return sendHtmlPage(response, 200, renderSetupFormPage(options, query, {}))
    const form = parseSetupForm(query, isGitHubCloudUrl(gitUrl))
    if ('problems' in form)
      return sendHtmlPage(response, 422, renderSetupFormPage(options, query, form.problems))
    const here = chooseSetupRedirectUrl(request, options, form.registration)
    if (here === undefined)
      return sendHtmlPage(
        response,
        422,
        renderSetupFormPage(options, query, { address: missingPublicUrlMessage }),
      )
    return sendHtmlPage(
      response,
      200,
      renderAppConfirmationPage(options, form.registration, here),
      new URL(gitUrl).origin,
    )
  }
  if (
    url.pathname === '/setup/created' &&
    isSetupToken(url.searchParams.get('state'), token) &&
    !state.isTaken
  ) {
    state.isTaken = true
    const created = await exchangeManifestCode(url.searchParams.get('code') ?? '', options.apiUrl)
    await options.onCreated(created)
    return sendHtmlPage(response, 200, renderAppCreatedPage(created, token))
  }
  sendHtmlPage(response, 404, {
    title: 'Page not found',
    body: htmlTemplate`<p>Open the URL shown in the terminal.</p>`,
  })
}

/** GitHub.com and GHE.com send webhooks only to public addresses. */
const isGitHubCloudUrl = (gitUrl: string): boolean =>
  /^https:\/\/(?:github\.com|[^/]+\.ghe\.com)$/.test(gitUrl)

/**
 * The address that GitHub redirects to with the code for the App's key. Trusts a Host header only if it names the local
 * machine, and otherwise uses the administrator's `publicUrl`.
 */
function chooseSetupRedirectUrl(
  { headers: { host = '' } }: IncomingMessage,
  { publicUrl }: SetupServerOptions,
  { address }: AppRegistration,
): string | undefined {
  const isOwnMachine = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/.test(host)
  return isOwnMachine ? `http://${host}` : (publicUrl ?? address)
}

const missingPublicUrlMessage =
  'Enter the public URL or start catalog-bot with PUBLIC_URL, because GitHub redirects your browser to that URL. Alternatively, open this page at http://localhost, for example through an SSH tunnel.'

async function exchangeManifestCode(code: string, apiUrl: string): Promise<CreatedApp> {
  if (!/^[\w-]{1,200}$/.test(code))
    throw new TypeError('The setup code in the URL is not a valid GitHub code.')
  const reply = await fetchFromGitHub(`${apiUrl}/app-manifests/${code}/conversions`, {
    method: 'POST',
    headers: { accept: 'application/vnd.github+json', 'user-agent': 'catalog-bot' },
    redirect: 'error',
    signal: AbortSignal.timeout(20_000),
  }).catch(() => undefined)
  if (reply === undefined) throw new Error(`catalog-bot cannot reach ${new URL(apiUrl).host}.`)
  if (reply.status === 404) throw new Error('The setup code expired or was already used. Start again.')
  const app = reply.ok
    ? createdAppSchema.safeParse(await reply.json().catch(() => undefined)).data
    : undefined
  if (app === undefined)
    throw new Error(`GitHub returned HTTP ${reply.status} and did not create the App. Try again.`)
  return {
    id: app.id,
    slug: app.slug,
    pem: app.pem,
    ...(app.client_id && app.client_secret && { client: { id: app.client_id, secret: app.client_secret } }),
    // GitHub creates no secret without a webhook, but catalog-bot never accepts unsigned deliveries.
    webhookSecret: app.webhook_secret ?? randomBytes(32).toString('hex'),
    url: app.html_url,
  }
}

function renderSetupFormPage(
  { token, sweepSeconds }: SetupServerOptions,
  query: URLSearchParams,
  problems: Readonly<Partial<Record<SetupFormFieldName, string>>>,
): HtmlPage {
  const field = (name: SetupFormFieldName, label: string, hint: Html | string, extra: Html) => {
    const problem = problems[name]
    return htmlTemplate`<label for="${name}">${label}<small>${hint}</small></label>
<input id="${name}" name="${name}" value="${renderPreformattedText(query.get(name) ?? '')}" ${extra}${problem !== undefined && htmlTemplate` aria-invalid="true" aria-describedby="${name}-problem"`}>${problem !== undefined && htmlTemplate`<span class="wrong" id="${name}-problem">${problem}</span>`}`
  }
  return {
    title: 'Create the GitHub App',
    body: htmlTemplate`<p>catalog-bot has no credentials yet. It runs as a GitHub App that you own. Nothing is created until you confirm on GitHub.</p>
<form method="get" action="/setup"><input type="hidden" name="word" value="${token}">
${field('organization', 'Organization', 'Organization that owns the App. Leave empty to use your account. Only the owner can install the App.', htmlTemplate`autocomplete="off" autofocus`)}
${field('name', 'Name', 'Name of the App, which GitHub shows as the author of comments. The name must be unique on GitHub. If you leave this field empty, the name is “catalog-bot” followed by the name of the organization. If you do not enter an organization, enter a name.', htmlTemplate`maxlength="34" autocomplete="off"`)}
${field('address', 'Public URL', htmlTemplate`URL at which GitHub can reach catalog-bot, such as <code>https://bot.example.com</code>. If empty, GitHub sends no webhooks, and catalog-bot checks every open pull request every ${sweepSeconds} seconds.`, htmlTemplate`type="url" placeholder="https://" autocomplete="off"`)}
<button type="submit">Continue</button></form>`,
  }
}

function renderAppConfirmationPage(
  { manifest, gitUrl, token, sweepSeconds }: SetupServerOptions,
  registration: AppRegistration,
  here: string,
): HtmlPage {
  // GitHub requires a home page.
  const url = registration.address ?? [gitUrl, registration.organization].filter(Boolean).join('/')
  const complete = buildAppManifest(registration, { ...manifest, url }, `${here}/setup/created`)
  const permissions = Object.entries((manifest['default_permissions'] ?? {}) as Record<string, string>)
  const hook =
    registration.address === undefined
      ? htmlTemplate`GitHub sends no webhooks. catalog-bot checks every open pull request every ${sweepSeconds} seconds. You can add a URL later in the App’s settings.`
      : htmlTemplate`GitHub sends webhooks to <code>${formatWebhookUrl(registration.address)}</code>.`
  return {
    title: 'Review the App',
    body: htmlTemplate`<p><strong>${registration.name}</strong>, owned by ${registration.organization === undefined ? 'your account' : htmlTemplate`<strong>${registration.organization}</strong>`}. ${hook}</p>
<details><summary>Permissions</summary><table>${permissions.map(([name, level]) => htmlTemplate`<tr><td><code>${name}</code></td><td>${level}</td></tr>`)}</table></details>
<form method="post" action="${formatAppRegistrationUrl(gitUrl, registration, token)}">
<input type="hidden" name="manifest" value="${renderPreformattedText(JSON.stringify(complete))}">
<button type="submit">Create the App on GitHub</button></form>
<p><a href="/setup?word=${token}">Back</a></p>`,
  }
}

function renderAppCreatedPage(app: CreatedApp, token: string): HtmlPage {
  const next = `/setup/installed?word=${token}`
  return {
    title: 'App created',
    body: htmlTemplate`<p><strong>${app.slug}</strong> was created, and its key and secrets are stored. catalog-bot is starting.</p>
<p>This page redirects automatically. If it does not, <a href="${next}">view the App’s installations</a>.</p>`,
    refresh: { seconds: 4, to: next },
  }
}

function renderSetupFailedPage(why: string, token: string): HtmlPage {
  return {
    title: 'The App’s credentials were not stored',
    body: htmlTemplate`<p class="wrong">${why}</p><p><a href="/setup?word=${token}">Start again</a>. If GitHub already created an App, delete it in its settings first, because its key is lost.</p>`,
  }
}

/** `isHosted`: the App is on GitHub.com, which sends webhooks only to public addresses. */
export function parseSetupForm(fields: URLSearchParams, isHosted: boolean): SetupFormParseResult {
  const [organization, given, address] = ['organization', 'name', 'address'].map((field) =>
    (fields.get(field) ?? '').trim(),
  ) as [string, string, string]
  const problems: Partial<Record<SetupFormFieldName, string>> = {}
  if (organization !== '' && !/^[a-z\d](?:-?[a-z\d])*$/i.test(organization))
    problems.organization =
      'Enter a valid organization name. It can contain only letters, digits, and single hyphens.'
  const name = given === '' && organization !== '' ? suggestAppName(organization) : given
  if (name === '') problems.name = 'Enter a name for the App.'
  else if (name.length > maxAppNameLength)
    problems.name = `GitHub allows at most ${maxAppNameLength} characters; this name has ${name.length}.`
  else if (!/[\p{L}\p{N}]/u.test(name)) problems.name = 'The name must contain a letter or digit.'
  const wrong = address === '' ? undefined : findPublicUrlProblem(address, isHosted)
  if (wrong !== undefined) problems.address = wrong
  if (Object.keys(problems).length > 0) return { problems }
  return {
    registration: {
      organization: organization === '' ? undefined : organization,
      name,
      address: address === '' ? undefined : address.replace(/\/+$/, ''),
    },
  }
}

/** A name that is probably free: names are unique across GitHub. */
function suggestAppName(organization: string): string {
  return `catalog-bot ${organization}`.slice(0, maxAppNameLength)
}

function findPublicUrlProblem(address: string, isHosted: boolean): string | undefined {
  if (!URL.canParse(address)) return 'Enter a valid URL that starts with https://.'
  const { protocol, hostname, username, password, search, hash } = new URL(address)
  if (protocol !== 'https:' && protocol !== 'http:') return 'The URL must start with https://.'
  if (username !== '' || password !== '') return 'Remove the user name and password from the URL.'
  if (search !== '' || hash !== '')
    return 'Remove the query (after ?) and the fragment (after #) from the URL.'
  if (isHosted && (!isPublicHost(hostname) || reservedDomainPattern.test(hostname)))
    return `GitHub cannot reach ${hostname}. Enter a URL on the public internet, or leave this field empty.`
  return undefined
}

/** Omits the hook and events if there is no address, which GitHub requires even for a hook that is off. */
export function buildAppManifest(
  { name, address }: AppRegistration,
  manifest: Readonly<Record<string, unknown>>,
  redirectUrl: string,
): Readonly<Record<string, unknown>> {
  const { default_events: events, hook_attributes: _, ...rest } = manifest
  return {
    ...rest,
    name,
    redirect_url: redirectUrl,
    ...(address === undefined
      ? { default_events: [] }
      : {
          hook_attributes: { url: formatWebhookUrl(address), active: true },
          default_events: events,
          callback_urls: [formatCallbackUrl(address)],
        }),
  }
}

export function formatAppRegistrationUrl(
  gitUrl: string,
  { organization }: AppRegistration,
  state: string,
): string {
  const owner = organization === undefined ? '' : `/organizations/${encodeURIComponent(organization)}`
  return `${gitUrl}${owner}/settings/apps/new?state=${encodeURIComponent(state)}`
}

/** 144 random bits, safe in URLs. */
export const createSetupToken = (): string => randomBytes(18).toString('base64url')

export function isSetupToken(candidate: string | null, token: string): boolean {
  const [a, b] = [Buffer.from(candidate ?? ''), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b)
}
