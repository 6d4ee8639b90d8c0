// A REST route of the sandbox: a GitHub operation, the permission that it requires, and a handler.
import type { ApiCaller } from './caller.ts'
import type {
  GitHubPayload,
  AppPermissions,
  MockAccount,
  MockApp,
  MockRepository,
  MockGitHubData,
} from '../github-data.ts'

export interface RouteResponse {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface RouteRequest {
  readonly state: MockGitHubData
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  readonly body: GitHubPayload
  readonly caller: ApiCaller
  /** The requested URL, for Link headers. */
  readonly url: URL
}

/** A call of a route below `/repos/{owner}/{repo}`. */
export interface RepositoryRouteRequest extends RouteRequest {
  readonly repo: MockRepository
}

export interface Route {
  readonly method: string
  readonly template: string
  readonly needs: RouteAccessRequirement
  readonly handle: (call: RouteRequest) => Promise<RouteResponse> | RouteResponse
}

/**
 * Who may call: the app itself by JWT ('app'), anyone ('anyone'), an installation token ('installation'), or a
 * token with one of these permissions (GitHub accepts several for comments and labels).
 */
export type RouteAccessRequirement =
  'app' | 'anyone' | 'installation' | { readonly repo: readonly AppPermissions[] } | AppPermissions

/** An error that GitHub returns. */
export class GitHubApiError extends Error {
  readonly status: number
  readonly errors: readonly unknown[] | undefined
  constructor(status: number, message: string, errors?: readonly unknown[]) {
    super(message)
    this.status = status
    this.errors = errors
  }
}

export const createNotFoundError = (): GitHubApiError => new GitHubApiError(404, 'Not Found')
export const createNotAccessibleError = (): GitHubApiError =>
  new GitHubApiError(403, 'Resource not accessible by integration')

/** The acting account. An installation acts as its app's bot account. */
export function getActingAccount(caller: ApiCaller): MockAccount {
  if (caller.kind === 'installation') return caller.installation.app.bot
  if (caller.kind === 'user') return caller.account
  throw new GitHubApiError(401, 'Requires authentication')
}

export const findCallerApp = (caller: ApiCaller): MockApp | null =>
  caller.kind === 'installation' ? caller.installation.app : null

/** 422 with GitHub's list of invalid fields. */
export function createValidationError(
  resource: string,
  field: string,
  code = 'invalid',
  message?: string,
): GitHubApiError {
  return new GitHubApiError(422, 'Validation Failed', [
    { resource, field, code, ...(message ? { message } : {}) },
  ])
}

export function defineRoute(
  operation: string,
  needs: RouteAccessRequirement,
  handle: Route['handle'],
): Route {
  const [method = '', template = ''] = operation.split(' ')
  return { method, template, needs, handle }
}

/** A route below a repository: the rest of its path, and the permissions of which any one is sufficient. */
export function defineRepositoryRoute(
  operation: string,
  needs: AppPermissions | readonly AppPermissions[],
  handle: (call: RepositoryRouteRequest) => Promise<RouteResponse> | RouteResponse,
): Route {
  const [method = '', rest = ''] = operation.split(' ')
  return {
    method,
    template: `/repos/{owner}/{repo}${rest}`,
    needs: { repo: Array.isArray(needs) ? (needs as readonly AppPermissions[]) : [needs as AppPermissions] },
    handle: handle as Route['handle'],
  }
}

export const respondOk = (body: unknown): RouteResponse => ({ status: 200, body })
export const respondCreated = (body: unknown): RouteResponse => ({ status: 201, body })
export const respondNoContent = (): RouteResponse => ({ status: 204 })

/** One page of a list with GitHub's Link header. `per_page` is 30 by default and at most 100. */
export function paginate<T>(
  call: RouteRequest,
  items: readonly T[],
  wrap: (items: readonly T[]) => unknown = (it) => it,
): RouteResponse {
  const size = Math.min(100, Math.max(1, parseIntegerOrDefault(call.query.get('per_page'), 30)))
  const number = Math.max(1, parseIntegerOrDefault(call.query.get('page'), 1))
  const last = Math.max(1, Math.ceil(items.length / size))
  const link = (rel: string, target: number): string => {
    const url = new URL(call.url)
    url.searchParams.set('page', String(target))
    return `<${url.href}>; rel="${rel}"`
  }
  const links = [
    ...(number > 1 ? [link('prev', Math.min(number - 1, last)), link('first', 1)] : []),
    ...(number < last ? [link('next', number + 1), link('last', last)] : []),
  ]
  return {
    status: 200,
    body: wrap(items.slice((number - 1) * size, number * size)),
    headers: links.length === 0 ? {} : { link: links.join(', ') },
  }
}

/** A page whose items are rendered asynchronously. Only the items on the page are rendered. */
export async function paginateAsync<T>(
  call: RouteRequest,
  items: readonly T[],
  show: (item: T) => Promise<unknown>,
  wrap?: (items: readonly unknown[]) => unknown,
): Promise<RouteResponse> {
  const reply = paginate(call, items)
  const shown = await Promise.all((reply.body as T[]).map(show))
  return { ...reply, body: wrap === undefined ? shown : wrap(shown) }
}

function parseIntegerOrDefault(text: string | null, otherwise: number): number {
  return text !== null && /^\d+$/.test(text) ? Number(text) : otherwise
}

/** A path parameter that must be a number. Other values are not found. */
export function parseIdParam(call: RouteRequest, name: string): number {
  const text = call.params[name] ?? ''
  if (!/^\d+$/.test(text)) throw createNotFoundError()
  return Number(text)
}

/** A required string of the request's body, or GitHub's 422. */
export function requireStringField(call: RouteRequest, field: string, resource: string): string {
  const value = call.body[field]
  if (typeof value !== 'string' || value === '') throw createValidationError(resource, field, 'missing_field')
  return value
}
