// The first start: creates the GitHub App from its manifest and stores the credentials. Requires the word from the
// terminal, because the App's creator decides whom catalog-bot trusts.
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { githubFetch } from '../../github/github-fetch.ts'
import { readTarget } from '../pages/addresses.ts'
import { escapeHtml } from '../escape-html.ts'
import { sendPage, type HtmlPage } from '../html-page.ts'
import { isWord } from './one-time-word.ts'
import { hookOf, manifestFor, readForm, registrationUrl, type Field, type WantedApp } from './wanted-app.ts'

export interface SetupOptions {
  readonly host: string
  readonly port: number
  /** Grants access; valid for one App. */
  readonly word: string
  readonly gitUrl: string
  readonly apiUrl: string
  readonly publicUrl: string | undefined
  /** Seconds between sweeps, shown if GitHub cannot reach the bot. */
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
  /** The App's OAuth client; absent if GitHub returns none. */
  readonly client?: { readonly id: string; readonly secret: string }
  readonly url: string
}

const conversion = z.object({
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

export interface SetupPage {
  readonly port: number
  close(): Promise<void>
}

/** Shows the setup page until `close()` is called. Rejects if the port is taken. */
export async function showSetupPage(options: SetupOptions): Promise<SetupPage> {
  // Two concurrent browsers create only one App.
  const state = { isTaken: false }
  const server = createServer((request, response) => {
    answer(request, response, options, state).catch((error: unknown) => {
      state.isTaken = false
      const page = failedPage(error instanceof Error ? error.message : String(error), options.word)
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

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: SetupOptions,
  state: { isTaken: boolean },
): Promise<void> {
  const { word, gitUrl } = options
  const url = readTarget(request.url) ?? new URL('http://localhost')
  if (url.pathname === '/healthz') return void response.writeHead(200).end('waiting for setup\n')
  if (url.pathname === '/setup' && isWord(url.searchParams.get('word'), word)) {
    const asked = url.searchParams
    if (!asked.has('name')) return sendPage(response, 200, formPage(options, asked, {}))
    const form = readForm(asked, isHosted(gitUrl))
    if ('problems' in form) return sendPage(response, 422, formPage(options, asked, form.problems))
    const here = ownAddress(request, options, form.wanted)
    if (here === undefined) return sendPage(response, 422, formPage(options, asked, { address: noAddress }))
    return sendPage(response, 200, confirmPage(options, form.wanted, here), new URL(gitUrl).origin)
  }
  if (url.pathname === '/setup/created' && isWord(url.searchParams.get('state'), word) && !state.isTaken) {
    state.isTaken = true
    const created = await convert(url.searchParams.get('code') ?? '', options.apiUrl)
    await options.onCreated(created)
    return sendPage(response, 200, createdPage(created, word))
  }
  sendPage(response, 404, {
    title: 'Page not found',
    body: '<p>Open the address that the terminal shows.</p>',
  })
}

/** GitHub.com and GHE.com send webhooks only to public addresses. */
const isHosted = (gitUrl: string): boolean => /^https:\/\/(?:github\.com|[^/]+\.ghe\.com)$/.test(gitUrl)

/**
 * The address that GitHub redirects to with the code for the App's key. Trusts a Host header only if it names the local
 * machine, and otherwise uses the operator's `publicUrl`.
 */
function ownAddress(
  { headers: { host = '' } }: IncomingMessage,
  { publicUrl }: SetupOptions,
  { address }: WantedApp,
): string | undefined {
  const isOwnMachine = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/.test(host)
  return isOwnMachine ? `http://${host}` : (publicUrl ?? address)
}

const noAddress =
  'Give the public address, or start catalog-bot with PUBLIC_URL: GitHub sends this browser back there. Or open this page at http://localhost, such as through an SSH tunnel.'

async function convert(code: string, apiUrl: string): Promise<CreatedApp> {
  if (!/^[\w-]{1,200}$/.test(code)) throw new TypeError('The code in the address is not one of GitHub.')
  const reply = await githubFetch(`${apiUrl}/app-manifests/${code}/conversions`, {
    method: 'POST',
    headers: { accept: 'application/vnd.github+json', 'user-agent': 'catalog-bot' },
    redirect: 'error',
    signal: AbortSignal.timeout(20_000),
  }).catch(() => undefined)
  if (reply === undefined) throw new Error(`${new URL(apiUrl).host} cannot be reached from here.`)
  if (reply.status === 404)
    throw new Error('GitHub does not know the code any more: it holds for one hour, and once.')
  const app = reply.ok ? conversion.safeParse(await reply.json().catch(() => undefined)).data : undefined
  if (app === undefined) throw new Error(`GitHub answered ${reply.status}, and with no App.`)
  return {
    id: app.id,
    slug: app.slug,
    pem: app.pem,
    ...(app.client_id && app.client_secret && { client: { id: app.client_id, secret: app.client_secret } }),
    // GitHub creates no secret without a hook, but the bot never accepts unsigned deliveries.
    webhookSecret: app.webhook_secret ?? randomBytes(32).toString('hex'),
    url: app.html_url,
  }
}

function formPage(
  { word, sweepSeconds }: SetupOptions,
  asked: URLSearchParams,
  problems: Readonly<Partial<Record<Field, string>>>,
): HtmlPage {
  const field = (name: Field, label: string, hint: string, extra: string) => {
    const problem = problems[name]
    return `<label for="${name}">${label}<small>${hint}</small></label>
<input id="${name}" name="${name}" value="${escapeHtml(asked.get(name) ?? '')}" ${extra}${problem === undefined ? '' : ` aria-invalid="true" aria-describedby="${name}-problem"`}>${problem === undefined ? '' : `<span class="wrong" id="${name}-problem">${escapeHtml(problem)}</span>`}`
  }
  return {
    title: 'Create the GitHub App',
    body: `<p>catalog-bot has no credentials yet. It runs as a GitHub App of yours. Nothing is created before you say so on GitHub.</p>
<form method="get" action="/setup"><input type="hidden" name="word" value="${escapeHtml(word)}">
${field('organization', 'Organization', 'Whose the App shall be. Empty: your own account. An App can be installed by its owner only.', 'autocomplete="off" autofocus')}
${field('name', 'Name', 'It stands above the bot’s comments, and nobody else’s App on GitHub may have it. Empty: “catalog-bot” and the organization.', 'maxlength="34" autocomplete="off"')}
${field('address', 'Public address', `Where GitHub reaches this bot, such as <code>https://bot.example.com</code>. Empty: GitHub sends nothing, and the bot looks at every open pull request each ${sweepSeconds} s by itself.`, 'type="url" placeholder="https://" autocomplete="off"')}
<button type="submit">Continue</button></form>`,
  }
}

function confirmPage(
  { manifest, gitUrl, word, sweepSeconds }: SetupOptions,
  wanted: WantedApp,
  here: string,
): HtmlPage {
  const complete = manifestFor(wanted, manifest, `${here}/setup/created`)
  const permissions = Object.entries((manifest['default_permissions'] ?? {}) as Record<string, string>)
  const hook =
    wanted.address === undefined
      ? `GitHub sends nothing. The bot looks at every open pull request each ${sweepSeconds} s. You can add an address later, in the App’s settings.`
      : `GitHub sends to <code>${escapeHtml(hookOf(wanted.address))}</code>.`
  return {
    title: 'This App will be created',
    body: `<p><strong>${escapeHtml(wanted.name)}</strong>, owned by ${wanted.organization === undefined ? 'your account' : `<strong>${escapeHtml(wanted.organization)}</strong>`}. ${hook}</p>
<details><summary>What it may do</summary><table>${permissions.map(([name, level]) => `<tr><td><code>${escapeHtml(name)}</code></td><td>${escapeHtml(level)}</td></tr>`).join('')}</table></details>
<form method="post" action="${escapeHtml(registrationUrl(gitUrl, wanted, word))}">
<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(complete))}">
<button type="submit">Create it on GitHub</button></form>
<p><a href="/setup?word=${escapeHtml(word)}">Back</a></p>`,
  }
}

function createdPage(app: CreatedApp, word: string): HtmlPage {
  const next = `/setup/installed?word=${word}`
  return {
    title: 'App created',
    body: `<p><strong>${escapeHtml(app.slug)}</strong> was created. Its key and secrets are stored. The bot starts now.</p>
<p>This page goes on by itself. If it does not: <a href="${escapeHtml(next)}">where the App is installed</a>.</p>`,
    refresh: { seconds: 4, to: next },
  }
}

function failedPage(why: string, word: string): HtmlPage {
  return {
    title: 'The App was not stored',
    body: `<p class="wrong">${escapeHtml(why)}</p><p><a href="/setup?word=${escapeHtml(word)}">Begin again</a>. If GitHub made an App already, delete it in its settings first: its key is known to nobody.</p>`,
  }
}
