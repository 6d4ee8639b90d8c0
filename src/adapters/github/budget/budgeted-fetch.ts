// An Octokit's fetch within an installation's budget. Each attempt, including retries, waits for permission,
// revalidates cached responses, and reports GitHub's limits. For a request that must not be sent, this module creates a
// response like GitHub's.
import { createHash } from 'node:crypto'
import {
  fetchFromGitHub,
  isSuccessStatusWithBody,
  toParsedResponse,
  type ParsedResponse,
} from '../github-fetch.ts'
import { parseRateLimitQuota, parseRateLimitRejection, type RateLimitQuota } from '../forge-error.ts'
import { LruMap } from '../../lru-map.ts'
import type { RequestBudget } from './request-budget.ts'
import {
  type RequestWaitReason,
  type WorkPriorityClass,
  computeRequestCost,
  type RateLimitResource,
} from './request-limits.ts'

interface CachedResponse {
  readonly etag: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Buffer
}

export interface ResponseCache {
  get(key: string): CachedResponse | undefined
  /** Undefined removes the entry. */
  put(key: string, answer: CachedResponse | undefined): void
  readonly bytes: number
}

/** Bytes per installation. */
const maxResponseCacheBytes = 4 * 1024 * 1024

/** Bytes per answer. Longer ones are lists that change all the time. */
const maxCachedResponseBytes = 256 * 1024

/** Overhead beside body and key. */
const cacheEntryOverheadBytes = 1024

/** Marks answers to requests that were never sent. */
export const throttledResponseHeaderName = 'x-catalog-bot-held'

export interface BudgetedFetchListeners {
  onQuota(quota: RateLimitQuota & { readonly resource: RateLimitResource }): void
  onAnswer(how: 'sent' | 'unchanged' | 'refused' | 'held', work: WorkPriorityClass): void
}

export interface BudgetedFetchOptions {
  readonly budget: RequestBudget
  readonly cache: ResponseCache
  readonly work: WorkPriorityClass
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly events: BudgetedFetchListeners
}

type BudgetedFetch = (input: string, init?: RequestInit) => Promise<Response | ParsedResponse>

export function createBudgetedFetch(options: BudgetedFetchOptions): BudgetedFetch {
  const { budget, cache, work, now, events } = options
  let hasBegun = false
  return async (url, init = {}) => {
    const cost = computeRequestCost(init.method ?? 'GET', url, init.body)
    const pass = await budget.acquirePass({ ...cost, work, hasBegun })
    if (pass.kind === 'held') {
      events.onAnswer('held', work)
      return createThrottledResponse(pass.why, pass.milliseconds)
    }
    hasBegun ||= !cost.isForToken
    try {
      const key =
        (init.method ?? 'GET') === 'GET' ? toResponseCacheKey(url, new Headers(init.headers)) : undefined
      const known = key === undefined ? undefined : cache.get(key)
      const answer = await fetchFromGitHub(
        url,
        known === undefined ? init : toConditionalRequest(init, known),
      )
      const bytes = isSuccessStatusWithBody(answer.status)
        ? Buffer.from(await answer.arrayBuffer())
        : undefined
      const plain = bytes && toParsedResponse(answer, bytes.toString(), init.method)
      const header = (name: string) => answer.headers.get(name)
      const quota = parseRateLimitQuota(header, now())
      const rejection = parseRateLimitRejection(
        answer.status,
        header,
        await readRateLimitMessage(answer, plain, cost.resource),
      )
      pass.recordResponse({ quota, rejection, isFailure: answer.status >= 500 })
      if (quota !== undefined && !cost.isForToken)
        events.onQuota({ ...quota, resource: quota.resource ?? cost.resource })
      events.onAnswer(
        rejection === undefined ? (answer.status === 304 ? 'unchanged' : 'sent') : 'refused',
        work,
      )
      if (answer.status === 304 && known !== undefined)
        return toParsedResponse(
          {
            status: 200,
            url: answer.url,
            headers: refreshCachedResponseHeaders(known.headers, answer.headers),
          },
          known.body.toString(),
        )
      // A server error doesn't invalidate the cached response.
      if (key !== undefined && rejection === undefined && answer.status < 500)
        cache.put(key, toCachedResponse(answer, bytes))
      return plain ?? answer
    } finally {
      pass.end()
    }
  }
}

/** With `no-cache`, as browsers revalidate. Otherwise fetch sends headers that prevent cached responses. */
function toConditionalRequest(init: RequestInit, { etag }: CachedResponse): RequestInit {
  const headers = new Headers(init.headers)
  headers.set('if-none-match', etag)
  return { ...init, headers, cache: 'no-cache' }
}

function toCachedResponse(
  { status, headers }: Response,
  body: Buffer | undefined,
): CachedResponse | undefined {
  const etag = headers.get('etag')
  return status !== 200 || etag === null || body === undefined
    ? undefined
    : { etag, headers: [...headers], body }
}

/** GitHub's message, if a limit may be the reason. */
async function readRateLimitMessage(
  answer: Response,
  plain: ParsedResponse | undefined,
  resource: RateLimitResource,
): Promise<string> {
  if (answer.status === 403) return parseErrorMessage(await answer.clone().text())
  if (resource !== 'graphql' || plain === undefined) return ''
  const { errors } = (plain.body ?? {}) as { errors?: unknown }
  if (!Array.isArray(errors)) return ''
  return (errors as unknown[])
    .map((error) => {
      const { type, message } = (error ?? {}) as { type?: unknown; message?: unknown }
      return `${String(type)}\n${String(message)}`
    })
    .join('\n')
}

function parseErrorMessage(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown }
    return typeof message === 'string' ? message : ''
  } catch {
    return text
  }
}

/** The cached headers with the new limit headers. */
function refreshCachedResponseHeaders(old: readonly (readonly [string, string])[], fresh: Headers): Headers {
  const headers = new Headers(old.map(([name, value]): [string, string] => [name, value]))
  for (const [name, value] of fresh)
    if (name === 'date' || name === 'etag' || name.startsWith('x-ratelimit-')) headers.set(name, value)
  return headers
}

/** A 403, which no plugin repeats. */
function createThrottledResponse(why: RequestWaitReason, milliseconds: number): Response {
  const message = 'to stay within the rate limit, catalog-bot did not send this request'
  return Response.json(
    { message },
    {
      status: 403,
      headers: {
        [throttledResponseHeaderName]: why,
        'retry-after': String(Math.max(1, Math.ceil(milliseconds / 1000))),
      },
    },
  )
}

/**
 * GitHub's answers for conditional requests, which cost nothing of the hourly limit. Cached per installation and
 * credential, and only used when GitHub confirms them.
 */
export function createResponseCache(maxBytes = maxResponseCacheBytes): ResponseCache {
  const entries = new LruMap<string, CachedResponse>(
    maxBytes,
    ({ body }, key) => body.length + key.length + cacheEntryOverheadBytes,
  )
  return {
    get: (key) => entries.get(key),
    put(key, answer) {
      if (answer === undefined || answer.body.length > maxCachedResponseBytes) entries.delete(key)
      else entries.set(key, answer)
    },
    get bytes() {
      return entries.weight
    },
  }
}

/** Everything an answer depends on. Contains no token. */
export function toResponseCacheKey(url: string, headers: Headers): string {
  const credential = createHash('sha256')
    .update(headers.get('authorization') ?? '')
    .digest('hex')
  return [credential, headers.get('accept'), headers.get('x-github-api-version'), url].join(' ')
}
