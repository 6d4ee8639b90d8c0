// emulate as the GitHub for the bot: one address for the REST routes, git, and webhooks. emulator-workarounds.ts fills each named gap
// of emulate on the way; everything else is emulate's own response.
import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createEmulator, type Emulator } from 'emulate'
import { startSmartHttpServer, type SmartHttpServer } from '../../adapters/git/smart-http.ts'
import {
  createEmulatorWorkarounds,
  type EmulatorWorkaround,
  type EmulatorWorkaroundContext,
} from './emulator-workarounds.ts'
import { createGitBackend, type AuthenticatedRequestSender, type GitBackend } from './served-git.ts'
import { findFreePort } from '../../../scripts/free-port.ts'

export interface RecordedGitHubRequest {
  readonly method: string
  readonly path: string
  readonly token: string
  readonly apiVersion: string | undefined
  readonly status: number
}

export interface SecondGitHubServer {
  readonly url: string
  readonly emulate: Emulator
  readonly appId: number
  readonly privateKey: string
  readonly git: GitBackend
  readonly gaps: readonly EmulatorWorkaround[]
  /** Names of the gaps that were needed. */
  readonly closedGaps: ReadonlySet<string>
  /** The REST requests and their outcomes. */
  readonly recordedRequests: readonly RecordedGitHubRequest[]
  /** Sets the target of webhooks from now on. */
  sendWebhooksTo(url: string): void
  ask: AuthenticatedRequestSender
  stop(): Promise<void>
}

export interface SecondGitHubOptions {
  readonly directory: string
  readonly webhookSecret: string
  readonly permissions: Readonly<Record<string, string>>
  readonly events: readonly string[]
  /** Organization that owns the repository, and its administrator. */
  readonly organization: string
  readonly administrator: string
  readonly people: readonly string[]
  readonly repository: string
}

/** The token of each user is `token-of-LOGIN`. */
export const createUserToken = (login: string): string => `token-of-${login}`

export async function startSecondGitHub(options: SecondGitHubOptions): Promise<SecondGitHubServer> {
  const { directory, organization, administrator, webhookSecret } = options
  const front = createServer()
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`
  const logins = [administrator, ...options.people]
  const appId = 4711
  const port = await findFreePort()
  const inner = `http://127.0.0.1:${port}`
  const emulate = await createEmulator({
    service: 'github',
    port,
    baseUrl: url,
    seed: {
      tokens: Object.fromEntries(
        logins.map((login) => [createUserToken(login), { login, scopes: ['repo', 'admin:org'] }]),
      ),
      github: {
        users: logins.map((login) => ({ login })),
        orgs: [{ login: organization, members: [{ login: administrator, role: 'admin' }] }],
        repos: [{ owner: organization, name: options.repository, auto_init: false }],
        apps: [
          {
            app_id: appId,
            slug: 'catalog-bot',
            name: 'catalog-bot',
            permissions: options.permissions,
            events: options.events,
            webhook_url: `${url}/_webhooks`,
            webhook_secret: webhookSecret,
            installations: [{ installation_id: 100, account: organization, repository_selection: 'all' }],
          },
        ],
      },
    },
  })
  const root = join(directory, 'git')
  await mkdir(root, { recursive: true })
  const ask: AuthenticatedRequestSender = async (token, method, path, body) => {
    const answer = await fetch(`${inner}${path}`, {
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return { status: answer.status, data: text === '' ? null : (JSON.parse(text) as unknown) }
  }
  const git = createGitBackend(root, ask)
  const backend = await startSmartHttpServer(join(root, 'any'))
  const closedGaps = new Set<string>()
  const recordedRequests: RecordedGitHubRequest[] = []
  const gapContext: EmulatorWorkaroundContext = {
    organization,
    administratorToken: createUserToken(administrator),
    appId,
    git,
    ask,
    note: (name) => void closedGaps.add(name),
  }
  const gaps = createEmulatorWorkarounds(gapContext)
  const rest = createRestApiHandler(inner, gaps, recordedRequests, closedGaps)
  let receiver: string | undefined
  front.on('request', (request, response) => {
    void (async () => {
      const path = request.url ?? '/'
      const body = await readRequestBody(request)
      if (path === '/_webhooks')
        await forwardWebhook(request, body, gaps, closedGaps, receiver, webhookSecret, response)
      else if (/\.git\//.test(path))
        await serveGitTransport(request, body, git, gaps, closedGaps, backend, response)
      else await rest(request, body, response)
    })().catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(JSON.stringify({ message: String(error) }))
    })
  })
  return {
    url,
    emulate,
    appId,
    privateKey: emulate.generatedSecrets.find(({ kind }) => kind === 'github.app_private_key')?.value ?? '',
    git,
    gaps,
    closedGaps,
    recordedRequests,
    ask,
    sendWebhooksTo(to) {
      receiver = to
    },
    async stop() {
      front.closeAllConnections()
      await new Promise((resolve) => front.close(resolve))
      await backend.close()
      await emulate.close()
    },
  }
}

async function readRequestBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function createRestApiHandler(
  inner: string,
  gaps: readonly EmulatorWorkaround[],
  asked: RecordedGitHubRequest[],
  closedGaps: Set<string>,
) {
  return async (request: IncomingMessage, body: Buffer, response: ServerResponse): Promise<void> => {
    const method = request.method ?? 'GET'
    const path = request.url ?? '/'
    const token = (request.headers.authorization ?? '').replace(/^(bearer|token) /i, '')
    const json = body.length === 0 ? undefined : (JSON.parse(body.toString()) as unknown)
    const question = { method, path, token, body: json }
    const headers: Record<string, string> = { 'content-type': 'application/json; charset=utf-8' }
    let status = 0
    let data: unknown
    for (const gap of gaps) {
      const answer = await gap.answer?.(question)
      if (answer === undefined) continue
      closedGaps.add(gap.name)
      ;({ status, data } = answer)
      break
    }
    if (status === 0) {
      const answer = await fetch(`${inner}${path}`, {
        method,
        headers: Object.fromEntries(
          ['authorization', 'accept', 'content-type', 'x-github-api-version', 'user-agent'].flatMap(
            (name) => {
              const value = request.headers[name]
              return typeof value === 'string' ? [[name, value]] : []
            },
          ),
        ),
        ...(body.length > 0 && { body: new Uint8Array(body) }),
      })
      status = answer.status
      const link = answer.headers.get('link')
      if (link !== null) headers['link'] = link
      const text = await answer.text()
      data = text === '' ? undefined : JSON.parse(text)
      for (const gap of gaps) {
        const amended = await gap.amend?.(question, { status, data })
        if (amended === undefined) continue
        closedGaps.add(gap.name)
        data = amended
      }
    }
    const version = request.headers['x-github-api-version']
    asked.push({ method, path, token, status, apiVersion: typeof version === 'string' ? version : undefined })
    response.writeHead(status, headers)
    response.end(data === undefined ? undefined : JSON.stringify(data))
  }
}

async function forwardWebhook(
  request: IncomingMessage,
  body: Buffer,
  gaps: readonly EmulatorWorkaround[],
  closedGaps: Set<string>,
  receiver: string | undefined,
  secret: string,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(202).end()
  if (receiver === undefined) return
  let delivery = {
    event: String(request.headers['x-github-event']),
    id: String(request.headers['x-github-delivery']),
    payload: JSON.parse(body.toString()) as Record<string, unknown>,
  }
  for (const gap of gaps) {
    const amended = gap.deliver?.(delivery)
    if (amended === undefined) continue
    closedGaps.add(gap.name)
    delivery = amended
  }
  const bytes = JSON.stringify(delivery.payload)
  await fetch(receiver, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': delivery.event,
      'x-github-delivery': delivery.id,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`,
    },
    body: bytes,
  }).catch(() => undefined)
}

async function serveGitTransport(
  request: IncomingMessage,
  body: Buffer,
  git: GitBackend,
  gaps: readonly EmulatorWorkaround[],
  closedGaps: Set<string>,
  backend: SmartHttpServer,
  response: ServerResponse,
): Promise<void> {
  const path = request.url ?? ''
  const [, repository = ''] = /^\/([^/]+\/[^/]+)\.git\//.exec(path) ?? []
  const [, basic = ''] = /^basic (.*)$/i.exec(request.headers.authorization ?? '') ?? []
  const [, token = ''] = Buffer.from(basic, 'base64').toString().split(':')
  const isPush = path.includes('git-receive-pack')
  closedGaps.add('no git')
  if (isPush && token === '') {
    response.writeHead(401, { 'www-authenticate': 'Basic realm="GitHub"' }).end()
    return
  }
  const takes = isPush && request.method === 'POST'
  // git first asks whether it may send a pack at all, with a lone flush.
  const rejection = takes && body.length > 4 ? await git.checkPush(repository, token, body) : undefined
  if (rejection !== undefined) {
    response.writeHead(200, { 'content-type': 'application/x-git-receive-pack-result' }).end(rejection)
    return
  }
  const answer = await fetch(`${backend.url}${path}`, {
    method: request.method ?? 'GET',
    headers: Object.fromEntries(
      ['content-type', 'content-encoding', 'git-protocol'].flatMap((name) => {
        const value = request.headers[name]
        return typeof value === 'string' ? [[name, value]] : []
      }),
    ),
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  })
  const bytes = Buffer.from(await answer.arrayBuffer())
  if (takes && body.length > 4)
    for (const gap of gaps) if ((await gap.pushed?.(repository)) === true) closedGaps.add(gap.name)
  response
    .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
    .end(bytes)
}
