// Serves the status pages: identifies the visitor, checks access and reads the store. Anonymous visitors share pages
// cached for seconds. Decides nothing about pull requests.
import { randomUUID } from 'node:crypto'
import { repositoryKey } from '../../change/repository-key.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import { LruMap } from '../../examine/catalogs/lru-map.ts'
import { openPersonClient } from '../../github/person-client.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ListedRepository } from '../../ports/page-records.ts'
import type { Store } from '../../ports/store.ts'
import {
  isCanonical,
  repositoryAddress,
  readAddress,
  readTarget,
  type Address,
  type Asked,
  type Form,
} from '../../web/pages/addresses.ts'
import { renderStatusPage, styleSheet, styleVersion, type Setting } from '../../web/pages/frame.ts'
import { noticePage, noticeStatus, type Notice } from '../../web/pages/notice-page.ts'
import { isWord } from '../../web/setup/one-time-word.ts'
import type { Settings } from '../settings.ts'
import { sendAnswer, wantedForm, type Answer } from './answer.ts'
import { openReadable } from './readable.ts'
import { clientOf, openGate, openRequestBudget } from './request-budget.ts'
import type { Resume } from './resume.ts'
import { readRuleText } from './rule-text.ts'
import { show } from './show.ts'
import { openSignIn, type Session } from './sign-in.ts'

/** Pages per minute and address, and GitHub requests per minute and person. */
const perMinute = { pages: 120, questions: 90 } as const
/** Concurrent pages that read the store, and those that may wait. */
const [atOnce, waiting] = [3, 60]
/** Milliseconds for which anonymous pages are cached, and the cache's size in bytes. */
const [madeFor, mostMade] = [5_000, 32 * 1024 * 1024]
/** Milliseconds for which the repository list is cached. */
const listedFor = 5_000
/** Milliseconds; longer if three sweeps take more time. */
const publicAtLeast = 3600_000
const mostBody = 10_000

export interface PagesOptions {
  readonly settings: Settings
  readonly store: Store
  readonly clock: Clock
  readonly log: Logger
  /** Unfreezes a branch. If absent, pages cannot. */
  readonly resume?: Resume | undefined
}

type Reply = (kind: Notice, more?: string, headers?: Answer['headers']) => boolean
type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>

/** Returns undefined if pages are disabled. */
export function openPages({ settings, store, clock, log, resume }: PagesOptions): Handler | undefined {
  const { pages, publicUrl, signIn: client, gitUrl, apiUrl } = settings
  if (pages === 'off') return undefined
  const now = () => clock.now()
  const person = client && openPersonClient({ ...client, apiUrl, webUrl: gitUrl })
  const signIn =
    client === undefined || person === undefined || publicUrl === undefined
      ? undefined
      : openSignIn({ client: person, clientSecret: client.clientSecret, publicUrl, store, now })
  const budget = openRequestBudget(perMinute.pages, now)
  const readable = openReadable({
    pages,
    client: person,
    budget: openRequestBudget(perMinute.questions, now),
    publicFor: Math.max(publicAtLeast, 3000 * settings.sweepSeconds),
    now,
  })
  const showing = { store, webUrl: gitUrl, publicUrl, ruleText: readRuleText }
  const gate = openGate(atOnce, waiting)
  const made = new LruMap<string, { readonly answer: Answer; readonly until: number }>(
    mostMade,
    // A character may take two bytes.
    ({ answer }, key) => 2 * (answer.body.length + key.length) + 500,
    ({ until }) => until <= now(),
  )
  let listed: { readonly all: readonly ListedRepository[]; readonly until: number } | undefined
  const repositories = async () => {
    if (listed === undefined || listed.until <= now())
      listed = { all: await store.listedRepositories(), until: now() + listedFor }
    return listed.all
  }

  /** Names are case-insensitive; cache only the listed spelling. */
  const isAsListed = (asked: Asked) =>
    !('repository' in asked) ||
    listed?.all.some(({ repository }) => isDeepStrictEqual(repository, asked.repository)) === true

  return async (request, response) => {
    const target = readTarget(request.url)
    const address = target && readAddress(target.pathname)
    if (target === undefined || address === undefined) return false
    try {
      if (address.asked.page !== 'style' && !budget.take(clientOf(request)))
        return await answer(request, response, target, address, undefined, 'too-many')
      const who = address.asked.page === 'style' ? undefined : await signIn?.readSession(request)
      return await answer(request, response, target, address, who)
    } catch (error) {
      const trace = randomUUID()
      log.error({ err: error, trace, page: address.asked.page }, 'a page could not be made')
      return await answer(request, response, target, address, undefined, 'broken', trace)
    }
  }

  async function answer(
    request: IncomingMessage,
    response: ServerResponse,
    { pathname: path, searchParams: query }: URL,
    address: Address,
    who: Session | undefined,
    fault?: Notice,
    trace?: string,
  ): Promise<boolean> {
    const { asked } = address
    const form = address.form ?? wantedForm(request.headers.accept)
    const isShared = who === undefined
    const setting: Setting = { path, now: now(), login: who?.login, canSignIn: signIn !== undefined }
    const send = (answer: Answer, cache = isShared ? 'public, max-age=10' : 'private, no-cache') =>
      sendAnswer(request, response, answer, answer.status === 200 ? cache : 'no-store')
    const notice = (kind: Notice, more?: string, headers: Answer['headers'] = {}) => {
      const status = noticeStatus[kind]
      const again = status === 429 || status === 503 ? { 'retry-after': '30' } : {}
      const body =
        form === 'json'
          ? `${JSON.stringify({ error: kind })}\n`
          : renderStatusPage(noticePage(kind, { ...setting, path: pathOf(asked, path) }, more), setting)
      send({ status, form: form === 'json' ? 'json' : 'html', body, headers: { ...again, ...headers } })
      return true
    }
    if (fault !== undefined) return notice(fault, trace)
    if (asked.page === 'style') {
      const isCurrent = query.get('v') === styleVersion
      const sheet: Answer = { status: 200, form: 'css', body: styleSheet }
      send(sheet, isCurrent ? 'public, max-age=31536000, immutable' : 'public, max-age=3600')
      return true
    }
    if (request.method === 'POST') return await act(asked, who, request, send, notice)
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      send({ status: 405, form: 'html', body: '', headers: { allow: 'GET, HEAD' } })
      return true
    }
    if (asked.page === 'sign-in' || asked.page === 'signed-in') {
      if (signIn === undefined || request.method === 'HEAD') return notice('not-found')
      const way =
        asked.page === 'sign-in' ? signIn.begin(query.get('to')) : await signIn.finish(request, query)
      if (way === undefined)
        return notice(
          'refused',
          'GitHub did not sign you in, or it took too long. Begin again on the first page.',
        )
      send({ status: 303, form: 'html', body: '', headers: { location: way.to, 'set-cookie': way.cookies } })
      return true
    }
    if (asked.page === 'sign-out' || asked.page === 'resume') return notice('not-found')

    // One key per page, regardless of the rest of the request; older list pages are not cached.
    const key = isShared && !query.has('before') && isCanonical(path) ? `${form} ${path}` : undefined
    const before = key === undefined ? undefined : made.get(key)
    if (before !== undefined) {
      send(before.answer)
      return true
    }
    const page = await gate(() => answerTo(asked, form, query, who, setting))
    if (page === undefined) return notice('busy')
    if (page === 'ended') return await ended(who, notice)
    if (typeof page === 'string') return notice(page)
    if (key !== undefined && isAsListed(asked)) made.set(key, { answer: page, until: now() + madeFor })
    send(page)
    return true
  }

  async function listedAs(repository: RepositoryName): Promise<ListedRepository | undefined> {
    return (await repositories()).find((one) => repositoryKey(one.repository) === repositoryKey(repository))
  }

  /** Ends a session whose token GitHub rejected. */
  async function ended(who: Session | undefined, notice: Reply): Promise<boolean> {
    if (who !== undefined) await signIn?.end(who)
    return notice('sign-in', undefined, { 'set-cookie': signIn?.gone ?? [] })
  }

  async function answerTo(
    asked: Asked,
    form: Form,
    query: URLSearchParams,
    who: Session | undefined,
    setting: Setting,
  ): Promise<Answer | Notice | 'ended'> {
    if (!('repository' in asked)) {
      if (pages === 'signed-in' && who === undefined && asked.page !== 'rule' && asked.page !== 'rules')
        return 'sign-in'
      const isOfAll = asked.page === 'home' || asked.page === 'overview' || asked.page === 'merged'
      const mine = isOfAll ? await readable.among(who, await repositories()) : []
      return (await show({ asked, form, query, setting, repositories: mine }, showing)) ?? 'not-found'
    }
    const found = await listedAs(asked.repository)
    // Badges are embedded in other sites, so they never show private data.
    const access = await readable.may(asked.page === 'badge' ? undefined : who, asked.repository, found)
    if (access === 'silent') return 'github-silent'
    if (access === 'too-many' || access === 'ended') return access
    if (access === 'no' || found === undefined) return 'not-found'
    const word = resume === undefined ? undefined : who?.word
    return (await show({ asked, form, query, setting, repositories: [found], word }, showing)) ?? 'not-found'
  }

  /** Signs out or unfreezes. Requires a signed-in person, a form of ours, and a token that GitHub accepts now. */
  async function act(
    asked: Asked,
    who: Session | undefined,
    request: IncomingMessage,
    send: (answer: Answer) => void,
    notice: Reply,
  ): Promise<boolean> {
    if (asked.page !== 'sign-out' && asked.page !== 'resume') return notice('not-found')
    const { origin } = request.headers
    if (signIn === undefined || who === undefined || origin !== publicUrl) return notice('refused')
    if (asked.page === 'sign-out') {
      await signIn.end(who)
      const headers = { 'set-cookie': signIn.gone, 'clear-site-data': '"cache"' }
      return notice('signed-out', undefined, headers)
    }
    const fields = await readForm(request)
    if (resume === undefined || fields === undefined || !isWord(fields.get('word'), who.word))
      return notice('refused')
    const found = await listedAs(asked.repository)
    const access = await readable.mayAct(who, asked.repository)
    if (access === 'ended') return await ended(who, notice)
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
      by: { id: who.id, login: who.login },
    })
    if (why !== undefined) return notice('refused', why)
    send({ status: 303, form: 'html', body: '', headers: { location: pathOf(asked, '/') } })
    return true
  }
}

function pathOf(asked: Asked, path: string): string {
  if (asked.page === 'resume') return repositoryAddress(asked.repository)
  return ['sign-in', 'signed-in', 'sign-out'].includes(asked.page) ? '/' : path
}

async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > mostBody) return undefined
    chunks.push(chunk)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}
