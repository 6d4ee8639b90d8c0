// A GitHub in one process, for the demo, the stories, and the contract tests of the adapter: REST, webhooks, and
// Git's smart HTTP over real bare repositories, with injected faults. It listens only on loopback and does not
// contain real secrets.
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { startProcessLauncher } from '../../src/adapters/git/launcher.ts'
import { IssuedTokenStore, canSeeRepository, formatCallerName } from './http/auth.ts'
import { advanceMergeQueues } from './branch-rules/merge-queue.ts'
import {
  FaultInjector,
  createRateLimitFaultOutcome,
  type FaultMatcher,
  type FaultOutcome,
} from './http/faults.ts'
import type { RateLimits } from './http/rate-limit-types.ts'
import { handleGitHttpRequest, isGitHttpPath } from './git/git-http.ts'
import { handleAppRegistrationPage, type AppRegistrationContext } from './app-registration.ts'
import { renderHtmlPage } from './pages.ts'
import { createSignInPages } from './sign-in-pages.ts'
import { MockUserActions } from './user-actions.ts'
import { RestRouter, type RecordedHttpExchange, type ApiRequestRecord } from './http/router.ts'
import { actionsRoutes } from './routes/action-routes.ts'
import { createAppRoutes } from './routes/app-routes.ts'
import { checkRoutes } from './routes/check-routes.ts'
import { deploymentRoutes } from './routes/deployment-routes.ts'
import { issueRoutes } from './routes/issue-routes.ts'
import { pullRoutes } from './routes/pull-routes.ts'
import { repositoryRoutes } from './routes/repository-routes.ts'
import { ruleRoutes } from './routes/rule-routes.ts'
import { gitWriteRoutes } from './routes/git-write-routes.ts'
import { WebhookDispatcher } from './webhooks.ts'
import { type Installation, MockGitHubData, findRepositoryByName } from './github-data.ts'
import { executeGraphqlQuery, type GraphqlResult } from './graphql/execute-query.ts'
import { findCommentFieldsByNodeId, findCommentFieldsByNodeIds } from './graphql/comment-fields.ts'
import { createMutationFields } from './graphql/mutations.ts'
import { parseQuery } from './graphql/parse-query.ts'
import { toRepositoryFields } from './graphql/repository-fields.ts'
import {
  GitHubApiError,
  createNotFoundError,
  respondOk,
  defineRoute,
  type RouteRequest,
  type Route,
} from './http/route.ts'

export interface MockGitHubOptions {
  /** 0 or undefined: any free port. */
  readonly port?: number
  /** The folder of the bare repositories. Created if it does not exist, and not deleted at the end. */
  readonly directory: string
  /** The destination of webhooks, for example `http://127.0.0.1:3000/api/github/webhooks`. Can be set later. */
  readonly webhookTarget?: string
  readonly clock?: { now(): number }
  /** The hourly request limit of an installation. Default: GitHub's 5000. */
  readonly hourlyLimit?: number
  /** Receives every request, answer, and webhook. See `violations`. */
  readonly validator?: GitHubTrafficValidator
}

/** Lists the violations in the traffic, one line each. Empty if there are none. */
export interface GitHubTrafficValidator {
  checkExchange(exchange: RecordedHttpExchange): string[]
  checkWebhook(event: string, action: string | null, payload: unknown): string[]
}

export class MockGitHub extends MockUserActions {
  readonly url: string
  readonly webhooks: WebhookDispatcher
  /** Every request, ordered by the time of its answer. */
  readonly requests: ApiRequestRecord[]
  /** The findings of the traffic validator. Empty without one. */
  readonly violations: string[]
  readonly #parts: MockGitHubComponents
  readonly #stopProcessLauncher = startProcessLauncher()

  constructor(state: MockGitHubData, credentials: IssuedTokenStore, parts: MockGitHubComponents) {
    super(state, credentials)
    this.url = state.base
    this.webhooks = parts.webhooks
    this.requests = parts.requests
    this.violations = parts.violations
    this.#parts = parts
  }

  get port(): number {
    return (this.#parts.server.address() as AddressInfo).port
  }

  /** Sets the destination of webhooks from now on. Undefined: no destination. */
  sendWebhooksTo(url: string | undefined): void {
    this.#parts.target.url = url
  }

  /** Makes the next `times` matching requests fail this way. Returns a function that cancels it. */
  fail(matcher: FaultMatcher, outcome: FaultOutcome, times = 1): () => void {
    return this.#parts.faults.fail(matcher, outcome, times)
  }

  /** Matching reads repeat their last answer until the returned function is called. */
  lag(matcher: FaultMatcher): () => void {
    return this.#parts.faults.lag(matcher)
  }

  /** Rejects the next `times` REST calls because of a rate limit, with a wait time in seconds. */
  limitRate(kind: 'primary' | 'secondary', waitSeconds: number, times = 1): () => void {
    const outcome = createRateLimitFaultOutcome(kind, this.state.now() / 1000, waitSeconds)
    return this.#parts.faults.fail((it) => !it.template.startsWith('/{owner}/'), outcome, times)
  }

  /**
   * Locks a branch as another process would. Git rejects pushes with its own message until the returned function is
   * called.
   */
  async lockBranch(repository: string, branch: string): Promise<() => Promise<void>> {
    const file = join(this.repository(repository).path, 'refs', 'heads', `${branch}.lock`)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, '', { flag: 'wx' })
    return async () => rm(file, { force: true })
  }

  /** The remaining requests of an installation in this hour. */
  setRemaining(installation: Installation, remaining: number): void {
    installation.remaining = remaining
    installation.resetsAt = Math.max(installation.resetsAt, Math.floor(this.state.now() / 1000) + 3600)
  }

  /** Sets the hourly limit of an installation from now on, and resets its hour. */
  setLimits(installation: Installation, limits: Partial<RateLimits>): void {
    installation.limits = { ...installation.limits, ...limits }
    installation.resetsAt = 0
    installation.use.graphql.resetsAt = 0
  }

  clearFaults(): void {
    this.#parts.faults.clear()
  }

  /** Resolves when no delivery is pending and no background computation is running. */
  async settled(): Promise<void> {
    await this.state.settled()
  }

  async stop(): Promise<void> {
    await this.webhooks.close()
    await this.state.settled()
    await new Promise((resolve) => {
      this.#parts.server.close(resolve)
      this.#parts.server.closeAllConnections()
    })
    this.#stopProcessLauncher()
  }
}

interface MockGitHubComponents {
  readonly webhooks: WebhookDispatcher
  readonly requests: ApiRequestRecord[]
  readonly violations: string[]
  readonly faults: FaultInjector
  readonly server: Server
  readonly target: { url: string | undefined }
}

export async function startMockGitHub(options: MockGitHubOptions): Promise<MockGitHub> {
  await mkdir(options.directory, { recursive: true })
  const target = { url: options.webhookTarget }
  const now = (): number => options.clock?.now() ?? Date.now()
  const state = new MockGitHubData(options.directory, now, options.hourlyLimit)
  const webhooks = new WebhookDispatcher(state, () => target.url)
  const credentials = new IssuedTokenStore(state)
  state.webhooks = webhooks
  state.queueDue = (repo) => {
    const waits = [...repo.queues.values()].some((entries) => entries.length > 0)
    if (waits) state.runInBackground(state.runSerialized(repo, () => advanceMergeQueues(repo)))
  }
  const faults = new FaultInjector()
  const requests: ApiRequestRecord[] = []
  const violations: string[] = []
  const record = (it: ApiRequestRecord): void => void requests.push(it)
  const routes = [...createRestRoutes(credentials, webhooks), graphqlRoute]
  let observe: ((exchange: RecordedHttpExchange) => void) | undefined
  const { validator } = options
  if (validator) {
    observe = (exchange) => void violations.push(...validator.checkExchange(exchange))
    webhooks.observe = ({ event, action, payload }) =>
      void violations.push(...validator.checkWebhook(event, action, payload))
  }
  const router = new RestRouter({ state, credentials, faults, routes, record, observe })
  const page = (request: IncomingMessage, response: ServerResponse, path: string): boolean => {
    // REST paths have other shapes, but an account could have the same name as one, so routes have priority.
    const html =
      request.method === 'GET' && !router.knows('GET', path) ? renderHtmlPage(state, path) : undefined
    if (html === undefined) return false
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(html)
    return true
  }
  const signIn = createSignInPages(state, credentials)
  // For browsers, once the server's address is known.
  const browsed: { at?: AppRegistrationContext } = {}
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', state.base)
    // Clients that expect an Enterprise Server add this prefix to every REST path.
    if (url.pathname.startsWith('/api/v3/')) url.pathname = url.pathname.slice('/api/v3'.length)
    if (url.pathname === '/api/graphql') url.pathname = '/graphql'
    if (isGitHttpPath(url.pathname))
      await handleGitHttpRequest({ state, credentials, faults, record }, request, response, url)
    else if (page(request, response, url.pathname)) return
    else if (await signIn.answer(request, response, url)) return
    else if (
      browsed.at !== undefined &&
      (await handleAppRegistrationPage(browsed.at, request, response, url))
    )
      return
    else await router.handle(request, response, url)
  }
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500)
      response.end(String(error))
    })
  })
  // By default, Node closes idle connections after five seconds. A client on a busy machine could reuse one at that
  // moment and lose its request.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port ?? 0, '127.0.0.1', resolve)
  })
  state.base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const github = new MockGitHub(state, credentials, {
    webhooks,
    requests,
    violations,
    faults,
    server,
    target,
  })
  browsed.at = { github, state }
  return github
}

export const createRestRoutes = (credentials: IssuedTokenStore, webhooks: WebhookDispatcher): Route[] => [
  ...createAppRoutes(credentials, webhooks),
  ...repositoryRoutes,
  ...gitWriteRoutes,
  ...ruleRoutes,
  ...pullRoutes,
  ...issueRoutes,
  ...checkRoutes,
  ...actionsRoutes,
  ...deploymentRoutes,
]

/** `POST /graphql`: the merge features that REST does not have. These are the merge queue, and the rules of a ref for its caller. Also shows who edited a comment. */
const graphqlRoute = defineRoute('POST /graphql', {}, async (call) => respondOk(await respondToQuery(call)))

async function respondToQuery({ state, body, caller }: RouteRequest): Promise<GraphqlResult> {
  const { query = '', variables } = body as { query?: string; variables?: Record<string, unknown> }
  let operation
  try {
    operation = parseQuery(query, variables ?? {})
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { data: null, errors: [{ type: 'PARSE_ERROR', path: [], message }] }
  }
  if (operation.kind === 'mutation')
    return await executeGraphqlQuery(createMutationFields(state, caller), operation.fields)
  const repository = ({ owner, name }: Record<string, unknown>): object => {
    const repo = findRepositoryByName(state, String(owner), String(name))
    if (repo === undefined || !canSeeRepository(caller, repo)) throw createNotFoundError()
    return toRepositoryFields(caller, repo)
  }
  const node = ({ id }: Record<string, unknown>): object => findCommentFieldsByNodeId(state, caller, id)
  const nodes = ({ ids }: Record<string, unknown>): object =>
    findCommentFieldsByNodeIds(state, caller, ids as unknown[])
  const viewer = (): object => {
    if (caller.kind === 'anonymous' || caller.kind === 'app')
      throw new GitHubApiError(401, 'Requires authentication')
    return { login: formatCallerName(caller) }
  }
  return await executeGraphqlQuery({ repository, node, nodes, viewer }, operation.fields)
}
