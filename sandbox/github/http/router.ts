// Routes HTTP requests: matching, authentication, rate limits, ETags, faults, and the request log. It is independent
// of pull requests. Git's own protocol bypasses it.
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { requireRouteAccess, canSeeRepository, formatCallerName } from './auth.ts'
import type { IssuedTokenStore } from './auth.ts'
import type { ApiCaller } from './caller.ts'
import type { FaultInjector } from './faults.ts'
import {
  RateLimitError,
  refundHourlyRateLimit,
  formatRateLimitHeaders,
  consumeRateLimit,
} from './rate-limits.ts'
import { GitHubApiError, createNotFoundError } from './route.ts'
import type { RouteRequest, RouteResponse, Route } from './route.ts'
import { summarizeOperation } from '../graphql/summarize-operation.ts'
import { findRepositoryByName } from '../github-data.ts'
import type { GitHubPayload, MockRepository, MockGitHubData } from '../github-data.ts'

export interface ApiRequestRecord {
  readonly method: string
  readonly template: string
  readonly path: string
  readonly callerName: string
  /** 0 when no answer was given. */
  readonly status: number
  /** The name of a GraphQL operation. */
  readonly operation?: string
  /** The number of writes: one for a REST request other than GET, or the number of mutations for GraphQL. */
  readonly writes?: number
}

/** One exchange, for validation against GitHub's API description. */
export interface RecordedHttpExchange {
  readonly method: string
  readonly template: string
  readonly query: URLSearchParams
  readonly requestBody: unknown
  readonly status: number
  readonly responseBody: unknown
}

export interface RestRouterOptions {
  readonly state: MockGitHubData
  readonly credentials: IssuedTokenStore
  readonly faults: FaultInjector
  readonly routes: readonly Route[]
  readonly record: (record: ApiRequestRecord) => void
  readonly observe: ((exchange: RecordedHttpExchange) => void) | undefined
}

interface RouteMatch {
  readonly route: Route
  readonly params: Record<string, string>
}

// In these templates, `{path}` and `{ref}` can contain slashes. Other parameters end at a slash.
const multiSegmentRoutePattern =
  /\/(contents\/\{path\}|git\/(ref|refs|matching-refs)\/\{ref\}|branches\/\{branch\}|compare\/\{basehead\})$/

function compileRoutePattern(route: Route): { route: Route; pattern: RegExp; names: string[] } {
  const names = [...route.template.matchAll(/\{(\w+)\}/g)].map((it) => it[1] ?? '')
  const wide = multiSegmentRoutePattern.test(route.template) ? names.at(-1) : undefined
  const source = route.template
    .replace(/[.[\]]/g, '\\$&')
    .replace(/\{(\w+)\}/g, (_, name) => (name === wide ? '(.*)' : '([^/]+)'))
  // A ref can contain slashes, too: commits/{ref}/check-runs of a branch `topic/one`. The root has no path.
  return {
    route,
    names,
    pattern: new RegExp(
      `^${source.replace('/commits/([^/]+)', '/commits/(.+?)').replace('/contents/(.*)', '/contents(?:/(.*))?')}$`,
    ),
  }
}

export class RestRouter {
  readonly #options: RestRouterOptions
  readonly #table: ReturnType<typeof compileRoutePattern>[]
  /** The last successful answers by caller and URL, which a lagging replica repeats. */
  readonly #remembered = new Map<string, RouteResponse>()

  constructor(options: RestRouterOptions) {
    this.#options = options
    // Longer templates first, so that `commits/{ref}/status` does not match as a commit of that name.
    const countSegments = ({ template }: Route): number => template.split('/').length
    this.#table = [...options.routes]
      .sort((one, other) => countSegments(other) - countSegments(one))
      .map(compileRoutePattern)
  }

  async handle(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { credentials, faults, record } = this.#options
    const method = request.method ?? 'GET'
    const matched = this.#match(method, url.pathname)
    const template = matched?.route.template ?? url.pathname
    const raw = Buffer.concat(await request.toArray())
    const requestInfo = {
      method,
      template,
      path: url.pathname,
      ...summarizeRequestOperation(method, template, raw),
    }
    let callerName = this.#guess(request)
    const fault = faults.take(requestInfo)
    const dropConnection = (): void => {
      record({ ...requestInfo, callerName, status: 0 })
      response.destroy()
    }
    if (fault !== undefined && 'disconnect' in fault && fault.disconnect === 'before') return dropConnection()
    if (fault !== undefined && 'timeout' in fault) {
      record({ ...requestInfo, callerName, status: 0 })
      return
    }
    let reply: RouteResponse
    let body: unknown
    let caller: ApiCaller | undefined
    if (fault !== undefined && 'status' in fault) {
      reply = {
        status: fault.status,
        body: fault.body ?? { message: 'Server Error' },
        headers: fault.headers ?? {},
      }
    } else {
      try {
        caller = credentials.identify(request.headers.authorization)
        callerName = formatCallerName(caller)
        body = parseRequestBody(raw)
        const key = `${callerName} ${url.href}`
        const old = faults.lags(requestInfo) ? this.#remembered.get(key) : undefined
        reply = old ?? (await this.#answer(matched, caller, url, body))
        if (method === 'GET' && reply.status === 200) this.#remembered.set(key, reply)
        if (caller.kind === 'installation')
          reply = {
            ...reply,
            headers: {
              ...reply.headers,
              ...formatRateLimitHeaders(caller.installation, { method, template, body }),
            },
          }
      } catch (error) {
        reply = toRestErrorResponse(error)
      }
      this.#options.observe?.({
        method,
        template,
        query: url.searchParams,
        requestBody: body,
        status: reply.status,
        responseBody: reply.body,
      })
    }
    if (fault !== undefined && 'disconnect' in fault) return dropConnection()
    if (fault !== undefined && 'applyThenFail' in fault)
      reply = { status: fault.applyThenFail, body: { message: 'Server Error' } }
    const status = sendRouteResponse(request, response, reply)
    if (status === 304 && caller?.kind === 'installation')
      refundHourlyRateLimit(caller.installation, { method, template, body })
    record({ ...requestInfo, callerName, status })
  }

  /** The caller's name for the log, before authentication, because faults apply to requests from any caller. */
  #guess(request: IncomingMessage): string {
    try {
      return formatCallerName(this.#options.credentials.identify(request.headers.authorization))
    } catch {
      return 'unknown'
    }
  }

  /** Whether a path belongs to REST. */
  knows(method: string, path: string): boolean {
    return this.#match(method, path) !== undefined
  }

  #match(method: string, path: string): RouteMatch | undefined {
    for (const { route, pattern, names } of this.#table) {
      const found = route.method === method ? pattern.exec(path) : null
      if (found === null) continue
      try {
        return {
          route,
          params: Object.fromEntries(
            names.map((name, at) => [name, decodeURIComponent(found[at + 1] ?? '')]),
          ),
        }
      } catch {
        return undefined
      }
    }
    return undefined
  }

  async #answer(
    matched: RouteMatch | undefined,
    caller: ApiCaller,
    url: URL,
    body: unknown,
  ): Promise<RouteResponse> {
    const { state } = this.#options
    if (matched === undefined) throw createNotFoundError()
    const { route, params } = matched
    let repo: MockRepository | undefined
    if (route.template.startsWith('/repos/')) {
      repo = findRepositoryByName(state, params['owner'] ?? '', params['repo'] ?? '')
      if (repo === undefined) throw createNotFoundError()
      if (caller.kind !== 'app' && !canSeeRepository(caller, repo)) throw createNotFoundError()
    }
    requireRouteAccess(caller, route.needs, repo)
    if (caller.kind === 'installation') consumeRateLimit(caller.installation, { ...route, body })
    if (repo?.archived === true && route.method !== 'GET')
      throw new GitHubApiError(403, 'Repository was archived so is read-only.')
    const call: RouteRequest & { repo?: MockRepository } = {
      state,
      params,
      query: url.searchParams,
      body: (body ?? {}) as GitHubPayload,
      caller,
      url,
      ...(repo === undefined ? {} : { repo }),
    }
    return await route.handle(call)
  }
}

function parseRequestBody(raw: Buffer): unknown {
  if (raw.length === 0) return undefined
  let value: unknown
  try {
    value = JSON.parse(raw.toString())
  } catch {
    throw new GitHubApiError(400, 'Problems parsing JSON')
  }
  // Labels can be a bare list. GitHub requires an object for everything else.
  if (Array.isArray(value)) return { labels: value }
  if (typeof value !== 'object' || value === null)
    throw new GitHubApiError(400, 'Body should be a JSON object')
  return value
}

function summarizeRequestOperation(
  method: string,
  template: string,
  raw: Buffer,
): Pick<ApiRequestRecord, 'operation' | 'writes'> {
  if (template !== '/graphql') return { writes: method === 'GET' || method === 'HEAD' ? 0 : 1 }
  try {
    return summarizeOperation(parseRequestBody(raw))
  } catch {
    return { writes: 0 }
  }
}

function toRestErrorResponse(error: unknown): RouteResponse {
  if (!(error instanceof GitHubApiError))
    return {
      status: 500,
      body: { message: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    }
  const { status, message, errors } = error
  const documentation_url = 'https://docs.github.com/rest'
  return {
    status,
    body: { message, ...(errors ? { errors } : {}), documentation_url, status: String(status) },
    ...(error instanceof RateLimitError && { headers: error.headers }),
  }
}

function sendRouteResponse(request: IncomingMessage, response: ServerResponse, reply: RouteResponse): number {
  const bytes = reply.body === undefined ? undefined : Buffer.from(JSON.stringify(reply.body))
  const headers: Record<string, string> = {
    'x-github-media-type': 'github.v3; format=json',
    ...reply.headers,
  }
  if (bytes !== undefined) headers['content-type'] = 'application/json; charset=utf-8'
  if (request.method === 'GET' && reply.status === 200 && bytes !== undefined) {
    headers['etag'] = `W/"${createHash('sha256').update(bytes).digest('hex')}"`
    if (request.headers['if-none-match'] === headers['etag']) {
      response.writeHead(304, headers).end()
      return 304
    }
  }
  if (bytes !== undefined) headers['content-length'] = String(bytes.length)
  response.writeHead(reply.status, headers).end(bytes)
  return reply.status
}
