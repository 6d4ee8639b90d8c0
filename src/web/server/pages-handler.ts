// Serves the status pages: identifies the visitor, checks access and reads the store. Anonymous visitors share pages
// cached for seconds. Decides nothing about pull requests.
import { randomUUID } from 'node:crypto'
import { type RepositoryName, toRepositoryKey } from '../../pull-request/snapshot.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { BodyBuffer } from '../../adapters/body-buffer.ts'
import { LruMap } from '../../adapters/lru-map.ts'
import { GitHubOAuthClient } from '../../adapters/github/oauth-client.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RecordedRepository } from '../../ports/status-page-store.ts'
import type { Store } from '../../ports/store.ts'
import {
  isCanonicalUrlPath,
  formatRepositoryPageUrl,
  parsePageUrl,
  parseRequestTarget,
  type ParsedPageUrl,
  type StatusPageRequest,
  type StatusPageFormat,
} from '../../report/urls.ts'
import {
  renderStatusPage,
  type PageRequestContext,
  renderNoticePage,
  noticePages,
  type NoticePageKind,
} from '../pages/status-page.ts'
import { scriptAsset, stylesheetAsset } from '../pages/page-assets.ts'
import { LiveUpdates } from './live-updates.ts'
import { isSetupToken } from '../setup/setup-page.ts'
import type { BotSettings } from '../../jobs/settings.ts'
import {
  hasPageParameters,
  pageSecurityHeaders,
  renderRequestedPage,
  type PageDataSources,
  sendPageResponse,
  negotiatePageFormat,
  type PageResponse,
} from './render-requested-page.ts'
import {
  parseClientIpAddress,
  createConcurrencyLimiter,
  createRequestRateLimiter,
  RepositoryAccessChecker,
  type RequestRateLimiter,
} from './repository-access.ts'
import type { RequestQuotaReader } from './read-operations.ts'
import type { UnfreezeHandler } from './unfreeze.ts'
import { readRuleMarkdown } from '../pages/markdown.ts'
import { SignInFlow, type WebSession } from './sign-in.ts'

/** Pages per minute and IP address, and GitHub requests per minute and user. */
const maxRequestsPerMinute = { pages: 120, questions: 90 } as const
/** Concurrent pages that read the store, and those that may wait. */
const [atOnce, waiting] = [3, 60]
/** Milliseconds for which anonymous pages are cached, and the cache's size in bytes. */
const [madeFor, maxCacheBytes] = [5_000, 32 * 1024 * 1024]
/** Milliseconds for which the repository list is cached. */
const repositoryListTtlMs = 5_000
/** Milliseconds; longer if three sweeps take more time. */
const minRepositoryVisibilityTtlMs = 3600_000
const maxFormBodyBytes = 10_000

interface PagesHandlerOptions {
  readonly settings: BotSettings
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  /** Unfreezes a branch. If absent, pages cannot. */
  readonly resume?: UnfreezeHandler | undefined
  /** If absent, the operations page shows no GitHub limits. */
  readonly requestQuota?: RequestQuotaReader | undefined
  /** Milliseconds between two looks for changes that open pages show. Default: 2000. */
  readonly liveIntervalMs?: number
}

type NoticePageSender = (kind: NoticePageKind, more?: string, headers?: PageResponse['headers']) => true
type PageRequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

/** The data that the response to a request needs. */
interface PageHttpExchange {
  readonly form: StatusPageFormat
  readonly query: URLSearchParams
  readonly session: WebSession | undefined
  /** Anonymous visitors share pages. */
  readonly isShared: boolean
  readonly setting: PageRequestContext
  readonly response: ServerResponse
  /** Returns true, because the request is then answered. */
  readonly send: (answer: PageResponse, cache?: string) => true
  readonly notice: NoticePageSender
}

/** Returns undefined if pages are disabled. */
export function createPagesHandler(options: PagesHandlerOptions): PageRequestHandler | undefined {
  if (options.settings.pages === 'off') return undefined
  const server = new StatusPageServer(options)
  return (request, response) => server.handleRequest(request, response)
}

class StatusPageServer {
  readonly #log: Logger
  readonly #now: () => number
  readonly #pages: BotSettings['pages']
  readonly #resume: UnfreezeHandler | undefined
  readonly #signIn: SignInFlow | undefined
  readonly #budget: RequestRateLimiter
  readonly #readable: RepositoryAccessChecker
  readonly #sources: PageDataSources
  readonly #limitConcurrency = createConcurrencyLimiter(atOnce, waiting)
  readonly #cached: LruMap<string, { readonly answer: PageResponse; readonly until: number }>
  readonly #live: LiveUpdates
  #listed: { readonly all: readonly RecordedRepository[]; readonly until: number } | undefined

  constructor({ settings, store, clock, log, resume, requestQuota, liveIntervalMs }: PagesHandlerOptions) {
    const { pages, publicUrl, signIn: client, gitUrl, apiUrl } = settings
    const now = () => clock.now()
    const person = client && new GitHubOAuthClient({ ...client, apiUrl, webUrl: gitUrl })
    this.#log = log
    this.#now = now
    this.#pages = pages
    this.#resume = resume
    this.#signIn =
      client === undefined || person === undefined || publicUrl === undefined
        ? undefined
        : new SignInFlow({ client: person, clientSecret: client.clientSecret, publicUrl, store, now })
    this.#budget = createRequestRateLimiter(maxRequestsPerMinute.pages, now)
    this.#readable = new RepositoryAccessChecker({
      pages,
      client: person,
      budget: createRequestRateLimiter(maxRequestsPerMinute.questions, now),
      publicFor: Math.max(minRepositoryVisibilityTtlMs, 3000 * settings.sweepSeconds),
      now,
    })
    this.#live = new LiveUpdates({ store, log, intervalMs: liveIntervalMs })
    this.#sources = { store, webUrl: gitUrl, publicUrl, ruleText: readRuleMarkdown, requestQuota }
    this.#cached = new LruMap(
      maxCacheBytes,
      // A character may take two bytes.
      ({ answer }, key) => 2 * (answer.body.length + key.length) + 500,
      ({ until }) => until <= now(),
    )
  }

  async handleRequest(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const target = parseRequestTarget(request.url)
    const address = target && parsePageUrl(target.pathname)
    if (target === undefined || address === undefined) return false
    const { page } = address.pageRequest
    try {
      const isAsset = page === 'style' || page === 'script'
      if (!isAsset && !this.#budget(parseClientIpAddress(request)))
        return this.#startExchange(request, response, target, address, undefined).notice('too-many')
      const session = isAsset ? undefined : await this.#signIn?.readSession(request)
      const exchange = this.#startExchange(request, response, target, address, session)
      return await this.#respond(request, target.pathname, address.pageRequest, exchange)
    } catch (error) {
      const trace = randomUUID()
      this.#log.error({ err: error, trace, page }, 'a page could not be rendered')
      return this.#startExchange(request, response, target, address, undefined).notice('broken', trace)
    }
  }

  #startExchange(
    request: IncomingMessage,
    response: ServerResponse,
    { pathname: path, searchParams: query }: URL,
    address: ParsedPageUrl,
    session: WebSession | undefined,
  ): PageHttpExchange {
    const form = address.form ?? negotiatePageFormat(request.headers.accept)
    const isShared = session === undefined
    const setting: PageRequestContext = {
      path,
      now: this.#now(),
      login: session?.login,
      canSignIn: this.#signIn !== undefined,
    }
    const send = (answer: PageResponse, cache = isShared ? 'public, max-age=10' : 'private, no-cache') => {
      sendPageResponse(request, response, answer, answer.status === 200 ? cache : 'no-store')
      return true as const
    }
    const notice = (kind: NoticePageKind, more?: string, headers: PageResponse['headers'] = {}) => {
      const status = noticePages[kind].status
      const again = status === 429 || status === 503 ? { 'retry-after': '30' } : {}
      const { pageRequest } = address
      const body =
        form === 'json'
          ? `${JSON.stringify({ error: kind })}\n`
          : renderStatusPage(
              renderNoticePage(kind, { ...setting, path: getPathAfterSignIn(pageRequest, path) }, more),
              setting,
            )
      return send({
        status,
        form: form === 'json' ? 'json' : 'html',
        body,
        headers: { ...again, ...headers },
      })
    }
    return { form, query, session, isShared, setting, response, send, notice }
  }

  async #respond(
    request: IncomingMessage,
    path: string,
    pageRequest: StatusPageRequest,
    exchange: PageHttpExchange,
  ): Promise<boolean> {
    const { query, send, notice } = exchange
    if (pageRequest.page === 'style' || pageRequest.page === 'script') {
      const isScript = pageRequest.page === 'script'
      const { version, text } = isScript ? scriptAsset : stylesheetAsset
      const isCurrent = query.get('v') === version
      return send(
        { status: 200, form: isScript ? 'js' : 'css', body: text },
        isCurrent ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
      )
    }
    if (request.method === 'POST') return await this.#handlePost(pageRequest, request, exchange)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return send({ status: 405, form: 'html', body: '', headers: { allow: 'GET, HEAD' } })
    if (pageRequest.page === 'sign-in' || pageRequest.page === 'signed-in')
      return await this.#redirectForSignIn(pageRequest.page, request, exchange)
    if (pageRequest.page === 'sign-out' || pageRequest.page === 'resume') return notice('not-found')
    if (pageRequest.page === 'events') return await this.#openEventStream(pageRequest, request, exchange)
    return await this.#sendPage(path, pageRequest, exchange)
  }

  async #openEventStream(
    { repository }: Extract<StatusPageRequest, { readonly page: 'events' }>,
    request: IncomingMessage,
    { session, response, notice }: PageHttpExchange,
  ): Promise<boolean> {
    const checkAccess = async (who: WebSession | undefined) =>
      this.#readable.checkRead(who, repository, await this.#findListed(repository))
    const access = await checkAccess(session)
    if (access !== 'yes' || request.method !== 'GET') return notice('not-found')
    const stream = {
      response,
      repository,
      client: parseClientIpAddress(request),
      sessionWord: session?.word,
      isAllowed: async () => {
        const now = await this.#signIn?.readSession(request)
        return now?.word === session?.word && (await checkAccess(now)) === 'yes'
      },
    }
    const headers = { ...pageSecurityHeaders, 'cache-control': 'no-store' }
    return this.#live.open(stream, headers) || notice('busy')
  }

  async #redirectForSignIn(
    page: 'sign-in' | 'signed-in',
    request: IncomingMessage,
    { query, send, notice }: PageHttpExchange,
  ): Promise<boolean> {
    const signIn = this.#signIn
    if (signIn === undefined || request.method === 'HEAD') return notice('not-found')
    const redirect = page === 'sign-in' ? signIn.begin(query.get('to')) : await signIn.finish(request, query)
    if (redirect === undefined)
      return notice('refused', 'GitHub sign-in failed or timed out. Sign in again from the home page.')
    return send({
      status: 303,
      form: 'html',
      body: '',
      headers: { location: redirect.to, 'set-cookie': redirect.cookies },
    })
  }

  async #sendPage(
    path: string,
    pageRequest: StatusPageRequest,
    exchange: PageHttpExchange,
  ): Promise<boolean> {
    const { form, query, session, isShared, send, notice } = exchange
    // One key per page, regardless of the rest of the request; older list pages are not cached.
    const key =
      isShared && !hasPageParameters(query) && isCanonicalUrlPath(path)
        ? `${form} ${path} ${'repository' in pageRequest ? this.#live.getVersion(pageRequest.repository) : ''}`
        : undefined
    const before = key === undefined ? undefined : this.#cached.get(key)
    if (before !== undefined) return send(before.answer)
    const page = await this.#limitConcurrency(() => this.#buildResponse(pageRequest, exchange))
    if (page === undefined) return notice('busy')
    if (page === 'ended') return await this.#endSession(session, notice)
    if (typeof page === 'string') return notice(page)
    if (key !== undefined && this.#hasListedSpelling(pageRequest))
      this.#cached.set(key, { answer: page, until: this.#now() + madeFor })
    return send(page)
  }

  async #listInstallationRepositories(): Promise<readonly RecordedRepository[]> {
    const now = this.#now
    if (this.#listed === undefined || this.#listed.until <= now())
      this.#listed = {
        all: await this.#sources.store.listedRepositories(),
        until: now() + repositoryListTtlMs,
      }
    return this.#listed.all
  }

  async #findListed(repository: RepositoryName): Promise<RecordedRepository | undefined> {
    return (await this.#listInstallationRepositories()).find(
      (one) => toRepositoryKey(one.repository) === toRepositoryKey(repository),
    )
  }

  /** Names are case-insensitive; cache only the listed spelling. */
  #hasListedSpelling(requested: StatusPageRequest): boolean {
    return (
      !('repository' in requested) ||
      this.#listed?.all.some(({ repository }) => isDeepStrictEqual(repository, requested.repository)) === true
    )
  }

  async #buildResponse(
    requested: StatusPageRequest,
    exchange: PageHttpExchange,
  ): Promise<PageResponse | NoticePageKind | 'ended'> {
    if (!('repository' in requested)) return this.#buildGeneralResponse(requested, exchange)
    const { form, query, session, setting } = exchange
    const found = await this.#findListed(requested.repository)
    // Badges are embedded in other sites, so they never show private data.
    const access = await this.#readable.checkRead(
      requested.page === 'badge' ? undefined : session,
      requested.repository,
      found,
    )
    if (access === 'silent') return 'github-silent'
    if (access === 'too-many' || access === 'ended') return access
    if (access === 'no' || found === undefined) return 'not-found'
    const formToken = this.#resume === undefined ? undefined : session?.word
    return (
      (await renderRequestedPage(
        { request: requested, form, query, setting, repositories: [found], formToken },
        this.#sources,
      )) ?? 'not-found'
    )
  }

  async #buildGeneralResponse(
    requested: Exclude<StatusPageRequest, { readonly repository: RepositoryName }>,
    { form, query, session, setting }: PageHttpExchange,
  ): Promise<PageResponse | NoticePageKind> {
    if (
      this.#pages === 'signed-in' &&
      session === undefined &&
      requested.page !== 'rule' &&
      requested.page !== 'rules'
    )
      return 'sign-in'
    const isOfAll = requested.page === 'home' || requested.page === 'overview' || requested.page === 'merged'
    const mine = isOfAll
      ? await this.#readable.filterReadable(session, await this.#listInstallationRepositories())
      : []
    return (
      (await renderRequestedPage(
        { request: requested, form, query, setting, repositories: mine },
        this.#sources,
      )) ?? 'not-found'
    )
  }

  /** Signs out or unfreezes. Requires a signed-in user, one of our forms, and a token that GitHub accepts now. */
  async #handlePost(
    requested: StatusPageRequest,
    request: IncomingMessage,
    exchange: PageHttpExchange,
  ): Promise<boolean> {
    const { session, notice } = exchange
    const [signIn, publicUrl] = [this.#signIn, this.#sources.publicUrl]
    if (requested.page !== 'sign-out' && requested.page !== 'resume') return notice('not-found')
    const { origin } = request.headers
    if (signIn === undefined || session === undefined || origin !== publicUrl) return notice('refused')
    if (requested.page === 'sign-out') {
      this.#live.endSession(session.word)
      await signIn.end(session)
      const headers = { 'set-cookie': signIn.clearedCookies, 'clear-site-data': '"cache"' }
      return notice('signed-out', undefined, headers)
    }
    return this.#handleUnfreezeForm(requested, session, request, exchange)
  }

  async #handleUnfreezeForm(
    requested: Extract<StatusPageRequest, { readonly page: 'resume' }>,
    session: WebSession,
    request: IncomingMessage,
    { send, notice }: PageHttpExchange,
  ): Promise<boolean> {
    const resume = this.#resume
    const fields = await readFormBody(request)
    if (resume === undefined || fields === undefined || !isSetupToken(fields.get('word'), session.word))
      return notice('refused')
    const found = await this.#findListed(requested.repository)
    const access = await this.#readable.checkAction(session, requested.repository)
    if (access === 'ended') return await this.#endSession(session, notice)
    if (access === 'silent') return notice('github-silent')
    if (access === 'too-many') return notice(access)
    if (access === 'no' || found === undefined) return notice('not-found')
    const kind = fields.get('kind')
    if (kind !== 'frozen' && kind !== 'audit' && kind !== 'refused') return notice('refused')
    const branch = fields.get('branch') ?? ''
    const why = await resume({
      listed: found,
      kind,
      ...(branch !== '' && { branch }),
      by: { id: session.id, login: session.login },
    })
    if (why !== undefined) return notice('refused', why)
    const headers = { location: getPathAfterSignIn(requested, '/') }
    return send({ status: 303, form: 'html', body: '', headers })
  }

  /** Ends a session whose token GitHub rejected. */
  async #endSession(session: WebSession | undefined, notice: NoticePageSender): Promise<boolean> {
    if (session !== undefined) {
      this.#live.endSession(session.word)
      await this.#signIn?.end(session)
    }
    return notice('sign-in', undefined, { 'set-cookie': this.#signIn?.clearedCookies ?? [] })
  }
}

function getPathAfterSignIn(requested: StatusPageRequest, path: string): string {
  if (requested.page === 'resume' || requested.page === 'events')
    return formatRepositoryPageUrl(requested.repository)
  return ['sign-in', 'signed-in', 'sign-out'].includes(requested.page) ? '/' : path
}

async function readFormBody(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const body = new BodyBuffer()
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (body.length + chunk.length > maxFormBodyBytes) return undefined
    body.add(chunk)
  }
  return new URLSearchParams(body.toBuffer().toString('utf8'))
}
