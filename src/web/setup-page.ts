// The first start: a page that creates the GitHub App from its manifest, and keeps what GitHub answers. Open only
// while there are no credentials, only to this machine, and only with the word that the terminal shows: who creates
// the App here decides whom the bot believes.
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { z } from 'zod'
import { escapeHtml } from './escape-html.ts'

export interface SetupOptions {
  readonly host: string
  readonly port: number
  /** `https://github.com` or an enterprise server, and its REST root. */
  readonly gitUrl: string
  readonly apiUrl: string
  /** The parsed app.yml. */
  readonly manifest: Readonly<Record<string, unknown>>
  /** Called once with what GitHub made. */
  readonly onCreated: (app: CreatedApp) => Promise<void>
}

export interface CreatedApp {
  readonly id: number
  readonly slug: string
  readonly pem: string
  readonly webhookSecret: string
  readonly url: string
}

const conversion = z.object({
  id: z.number().int().positive(),
  slug: z.string(),
  pem: z.string().includes('-----BEGIN'),
  webhook_secret: z.string().min(1),
  html_url: z.url(),
})

export interface SetupPage {
  /** With the word that lets in: for the terminal only. */
  readonly address: string
  close(): Promise<void>
}

/** Shows the setup page until an App was created or `close()` is called. Rejects when the port is taken. */
export async function showSetupPage(options: SetupOptions): Promise<SetupPage> {
  const word = randomBytes(18).toString('base64url')
  const server = createServer((request, response) => {
    answer(request, response, options, word).catch(() => {
      if (!response.headersSent) response.writeHead(502, { 'content-type': 'text/plain' })
      response.end('GitHub sent an unexpected answer. Open the address in the terminal again.\n')
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    address: `http://localhost:${port}/setup?word=${word}`,
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
  word: string,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://localhost')
  const page = (status: number, body: string) => {
    response
      .writeHead(status, {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'referrer-policy': 'no-referrer',
        'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; form-action ${options.gitUrl}; frame-ancestors 'none'`,
      })
      .end(body)
  }
  if (url.pathname === '/healthz') return void response.writeHead(200).end('waiting for setup\n')
  if (url.pathname === '/setup' && isWord(url.searchParams.get('word'), word))
    return page(200, formPage(options, word, `http://${request.headers.host ?? 'localhost'}`))
  if (url.pathname === '/setup/created' && isWord(url.searchParams.get('state'), word)) {
    const created = await convert(url.searchParams.get('code') ?? '', options.apiUrl)
    await options.onCreated(created)
    return page(200, donePage(created))
  }
  page(404, shell('Page not found', '<p>Open the address that the terminal shows.</p>'))
}

function isWord(given: string | null, word: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(word)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** Exchanges the code that GitHub sent along for the App's key and secrets. */
async function convert(code: string, apiUrl: string): Promise<CreatedApp> {
  if (!/^[\w-]{1,200}$/.test(code)) throw new TypeError('not a conversion code')
  const reply = await fetch(`${apiUrl}/app-manifests/${code}/conversions`, {
    method: 'POST',
    headers: { accept: 'application/vnd.github+json', 'user-agent': 'catalog-bot' },
    redirect: 'error',
    signal: AbortSignal.timeout(20_000),
  })
  if (!reply.ok) throw new Error(`GitHub answered ${reply.status}`)
  const app = conversion.parse(await reply.json())
  return { id: app.id, slug: app.slug, pem: app.pem, webhookSecret: app.webhook_secret, url: app.html_url }
}

function formPage({ manifest, gitUrl }: SetupOptions, word: string, here: string): string {
  const complete = {
    ...manifest,
    redirect_url: `${here}/setup/created`,
    hook_attributes: { url: `${here}/api/github/webhooks`, active: true },
  }
  return shell(
    'Create the GitHub App',
    `<p>catalog-bot has no credentials yet. The button creates a GitHub App in your account, with the
permissions of <code>app.yml</code>. GitHub then sends its key to this page.</p>
<form method="post" action="${escapeHtml(`${gitUrl}/settings/apps/new?state=${word}`)}">
<input type="hidden" name="manifest" value="${escapeHtml(JSON.stringify(complete))}">
<button type="submit">Create the App on GitHub</button></form>
<p>GitHub will send webhooks to <code>${escapeHtml(complete.hook_attributes.url)}</code> and must be able to reach it. If the bot has
another public address, change it in the App's settings.</p>`,
  )
}

function donePage(app: CreatedApp): string {
  return shell(
    'App created',
    `<p><strong>${escapeHtml(app.slug)}</strong> was created. Its key and secrets are stored. The bot starts now.</p>
<p><a href="${escapeHtml(app.url)}/installations/new">Install it on a catalog repository</a></p>`,
  )
}

function shell(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>catalog-bot: ${escapeHtml(title)}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color:#1f2328}button{font:inherit;padding:.5rem 1rem;border-radius:6px;border:1px solid #1f883d;background:#1f883d;color:#fff;cursor:pointer}code{background:#eff2f5;padding:.1rem .3rem;border-radius:4px;overflow-wrap:anywhere}</style>
<h1>${escapeHtml(title)}</h1>${body}</html>`
}
