// Serves the status pages: identifies the visitor, checks access and reads the store. Anonymous visitors share pages
// cached for seconds. Decides nothing about pull requests.
import { randomUUID } from 'node:crypto'
import { toRepositoryKey } from '../../pull-request/repository-key.ts'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { LruMap } from '../../adapters/lru-map.ts'
import { createOAuthClient } from '../../adapters/github/oauth-client.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RecordedRepository } from '../../ports/page-records.ts'
import type { Store } from '../../ports/store.ts'
import {
  isCanonicalUrlPath,
  formatRepositoryPageUrl,
  parsePageUrl,
  parseRequestTarget,
  type ParsedPageUrl,
  type StatusPageRequest,
  type StatusPageFormat,
} from '../../report/page-urls.ts'
import {
  renderStatusPage,
  minifiedStylesheet,
  stylesheetVersion,
  type PageRequestContext,
} from '../pages/status-page.ts'
import { renderNoticePage, httpStatusByNotice, type NoticeKind } from '../pages/notice-page.ts'
import { isSetupToken } from '../setup/setup-token.ts'
import type { BotSettings } from '../../jobs/settings.ts'
import { sendPageResponse, negotiatePageFormat, type PageResponse } from './page-response.ts'
import {
  createRepositoryAccessChecker,
  parseClientIpAddress,
  createConcurrencyLimiter,
  createRequestRateLimiter,
} from './repository-access.ts'
import type { UnfreezeHandler } from './unfreeze.ts'
import { readRuleText } from '../pages/rule-pages.ts'
import { renderRequestedPage } from './render-requested-page.ts'
import { createSignInFlow, type PageSession } from './sign-in.ts'

/** Pages per minute and address, and GitHub requests per minute and person. */
const maxRequestsPerMinute = { pages: 120, questions: 90 } as const
/** Concurrent pages that read the store, and those that may wait. */
const [atOnce, waiting] = [3, 60]
/** Milliseconds for which anonymous pages are cached, and the cache's size in bytes. */
const [madeFor, maxCacheBytes] = [5_000, 32 * 1024 * 1024]
/** Milliseconds for which the repository list is cached. */
const repositoryListTtlMs = 5_000
/** Milliseconds; longer if three sweeps take more time. */
const minPublicVisibilityTtlMs = 3600_000
const maxFormBytes = 10_000

export interface PagesHandlerOptions {
  readonly settings: BotSettings
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  /** Unfreezes a branch. If absent, pages cannot. */
  readonly resume?: UnfreezeHandler | undefined
}

type NoticePageSender = (kind: NoticeKind, more?: string, headers?: PageResponse['headers']) => boolean
type PageRequestHandler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

/** Returns undefined if pages are disabled. */
export function createPagesHandler({
  settings,
  store,
  clock,
  log,
  resume,
}: PagesHandlerOptions): PageRequestHandler | undefined {
  const { pages, publicUrl, signIn: client, gitUrl, apiUrl } = settings
  if (pages === 'off') return undefined
  const now = () => clock.now()
  const person = client && createOAuthClient({ ...client, apiUrl, webUrl: gitUrl })
  const signIn =
    client === undefined || person === undefined || publicUrl === undefined
      ? undefined
      : createSignInFlow({ client: person, clientSecret: client.clientSecret, publicUrl, store, now })
  const budget = createRequestRateLimiter(maxRequestsPerMinute.pages, now)
  const readable = createRepositoryAccessChecker({
    pages,
    client: person,
    budget: createRequestRateLimiter(maxRequestsPerMinute.questions, now),
    publicFor: Math.max(minPublicVisibilityTtlMs, 3000 * settings.sweepSeconds),
    now,
  })
  const showing = { store, webUrl: gitUrl, publicUrl, ruleText: readRuleText }
  const gate = createConcurrencyLimiter(atOnce, waiting)
  const made = new LruMap<string, { readonly answer: PageResponse; readonly until: number }>(
    maxCacheBytes,
    // A character may take two bytes.
    ({ answer }, key) => 2 * (answer.body.length + key.length) + 500,
    ({ until }) => until <= now(),
  )
  let listed: { readonly all: readonly RecordedRepository[]; readonly until: number } | undefined
  const repositories = async () => {
    if (listed === undefined || listed.until <= now())
      listed = { all: await store.listedRepositories(), until: now() + repositoryListTtlMs }
    return listed.all
  }

  /** Names are case-insensitive; cache only the listed spelling. */
  const hasListedSpelling = (requested: StatusPageRequest) =>
    !('repository' in requested) ||
    listed?.all.some(({ repository }) => isDeepStrictEqual(repository, requested.repository)) === true

  return async (request, response) => {
    const target = parseRequestTarget(request.url)
    const address = target && parsePageUrl(target.pathname)
    if (target === undefined || address === undefined) return false
    try {
      if (address.pageRequest.page !== 'style' && !budget.take(parseClientIpAddress(request)))
        return await respond(request, response, target, address, undefined, 'too-many')
      const session = address.pageRequest.page === 'style' ? undefined : await signIn?.readSession(request)
      return await respond(request, response, target, address, session)
    } catch (error) {
      const trace = randomUUID()
      log.error({ err: error, trace, page: address.pageRequest.page }, 'a page could not be rendered')
      return await respond(request, response, target, address, undefined, 'broken', trace)
    }
  }

  async function respond(
    request: IncomingMessage,
    response: ServerResponse,
    { pathname: path, searchParams: query }: URL,
    address: ParsedPageUrl,
    session: PageSession | undefined,
    fault?: NoticeKind,
    trace?: string,
  ): Promise<boolean> {
    const { pageRequest } = address
    const form = address.form ?? negotiatePageFormat(request.headers.accept)
    const isShared = session === undefined
    const setting: PageRequestContext = {
      path,
      now: now(),
      login: session?.login,
      canSignIn: signIn !== undefined,
    }
    const send = (answer: PageResponse, cache = isShared ? 'public, max-age=10' : 'private, no-cache') =>
      sendPageResponse(request, response, answer, answer.status === 200 ? cache : 'no-store')
    const sendNotice = (kind: NoticeKind, more?: string, headers: PageResponse['headers'] = {}) => {
      const status = httpStatusByNotice[kind]
      const again = status === 429 || status === 503 ? { 'retry-after': '30' } : {}
      const body =
        form === 'json'
          ? `${JSON.stringify({ error: kind })}\n`
          : renderStatusPage(
              renderNoticePage(kind, { ...setting, path: getPathAfterSignIn(pageRequest, path) }, more),
              setting,
            )
      send({ status, form: form === 'json' ? 'json' : 'html', body, headers: { ...again, ...headers } })
      return true
    }
    if (fault !== undefined) return sendNotice(fault, trace)
    if (pageRequest.page === 'style') {
      const isCurrent = query.get('v') === stylesheetVersion
      const sheet: PageResponse = { status: 200, form: 'css', body: minifiedStylesheet }
      send(sheet, isCurrent ? 'public, max-age=31536000, immutable' : 'public, max-age=3600')
      return true
    }
    if (request.method === 'POST') return await handlePost(pageRequest, session, request, send, sendNotice)
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      send({ status: 405, form: 'html', body: '', headers: { allow: 'GET, HEAD' } })
      return true
    }
    if (pageRequest.page === 'sign-in' || pageRequest.page === 'signed-in') {
      if (signIn === undefined || request.method === 'HEAD') return sendNotice('not-found')
      const redirect =
        pageRequest.page === 'sign-in' ? signIn.begin(query.get('to')) : await signIn.finish(request, query)
      if (redirect === undefined)
        return sendNotice('refused', 'GitHub sign-in failed or timed out. Sign in again from the home page.')
      send({
        status: 303,
        form: 'html',
        body: '',
        headers: { location: redirect.to, 'set-cookie': redirect.cookies },
      })
      return true
    }
    if (pageRequest.page === 'sign-out' || pageRequest.page === 'resume') return sendNotice('not-found')

    // One key per page, regardless of the rest of the request; older list pages are not cached.
    const key = isShared && !query.has('before') && isCanonicalUrlPath(path) ? `${form} ${path}` : undefined
    const before = key === undefined ? undefined : made.get(key)
    if (before !== undefined) {
      send(before.answer)
      return true
    }
    const page = await gate(() => buildResponse(pageRequest, form, query, session, setting))
    if (page === undefined) return sendNotice('busy')
    if (page === 'ended') return await endSession(session, sendNotice)
    if (typeof page === 'string') return sendNotice(page)
    if (key !== undefined && hasListedSpelling(pageRequest))
      made.set(key, { answer: page, until: now() + madeFor })
    send(page)
    return true
  }

  async function findListed(repository: RepositoryName): Promise<RecordedRepository | undefined> {
    return (await repositories()).find(
      (one) => toRepositoryKey(one.repository) === toRepositoryKey(repository),
    )
  }

  /** Ends a session whose token GitHub rejected. */
  async function endSession(session: PageSession | undefined, notice: NoticePageSender): Promise<boolean> {
    if (session !== undefined) await signIn?.end(session)
    return notice('sign-in', undefined, { 'set-cookie': signIn?.clearedCookies ?? [] })
  }

  async function buildResponse(
    requested: StatusPageRequest,
    form: StatusPageFormat,
    query: URLSearchParams,
    session: PageSession | undefined,
    setting: PageRequestContext,
  ): Promise<PageResponse | NoticeKind | 'ended'> {
    if (!('repository' in requested)) {
      if (
        pages === 'signed-in' &&
        session === undefined &&
        requested.page !== 'rule' &&
        requested.page !== 'rules'
      )
        return 'sign-in'
      const isOfAll =
        requested.page === 'home' || requested.page === 'overview' || requested.page === 'merged'
      const mine = isOfAll ? await readable.filterReadable(session, await repositories()) : []
      return (
        (await renderRequestedPage(
          { asked: requested, form, query, setting, repositories: mine },
          showing,
        )) ?? 'not-found'
      )
    }
    const found = await findListed(requested.repository)
    // Badges are embedded in other sites, so they never show private data.
    const access = await readable.checkRead(
      requested.page === 'badge' ? undefined : session,
      requested.repository,
      found,
    )
    if (access === 'silent') return 'github-silent'
    if (access === 'too-many' || access === 'ended') return access
    if (access === 'no' || found === undefined) return 'not-found'
    const formToken = resume === undefined ? undefined : session?.word
    return (
      (await renderRequestedPage(
        { asked: requested, form, query, setting, repositories: [found], formToken },
        showing,
      )) ?? 'not-found'
    )
  }

  /** Signs out or unfreezes. Requires a signed-in person, a form of ours, and a token that GitHub accepts now. */
  async function handlePost(
    requested: StatusPageRequest,
    session: PageSession | undefined,
    request: IncomingMessage,
    send: (answer: PageResponse) => void,
    notice: NoticePageSender,
  ): Promise<boolean> {
    if (requested.page !== 'sign-out' && requested.page !== 'resume') return notice('not-found')
    const { origin } = request.headers
    if (signIn === undefined || session === undefined || origin !== publicUrl) return notice('refused')
    if (requested.page === 'sign-out') {
      await signIn.end(session)
      const headers = { 'set-cookie': signIn.clearedCookies, 'clear-site-data': '"cache"' }
      return notice('signed-out', undefined, headers)
    }
    const fields = await readFormBody(request)
    if (resume === undefined || fields === undefined || !isSetupToken(fields.get('word'), session.word))
      return notice('refused')
    const found = await findListed(requested.repository)
    const access = await readable.checkAction(session, requested.repository)
    if (access === 'ended') return await endSession(session, notice)
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
    send({ status: 303, form: 'html', body: '', headers: { location: getPathAfterSignIn(requested, '/') } })
    return true
  }
}

function getPathAfterSignIn(requested: StatusPageRequest, path: string): string {
  if (requested.page === 'resume') return formatRepositoryPageUrl(requested.repository)
  return ['sign-in', 'signed-in', 'sign-out'].includes(requested.page) ? '/' : path
}

async function readFormBody(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > maxFormBytes) return undefined
    chunks.push(chunk)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}
