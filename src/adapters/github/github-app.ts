// The App's JWT, tokens and Octokits, built from Probot's parts with two changes: only GET is retried (T39), and each
// installation has a prioritized budget instead of Octokit's throttling.
import { Probot, ProbotOctokit } from 'probot'
import type { Logger } from 'pino'
import { Octokit as RestOctokit } from '@octokit/rest'
import { z } from 'zod'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { TokenPermissions } from '../../policy/branch-rules.ts'
import type { Clock } from '../../ports/clock.ts'
import { octokitRequestOptions, createApiVersionPlugin, silentOctokitLog } from './github-fetch.ts'
import { callGitHub, catchNotFound, ForgeError, toForgeError } from './forge-error.ts'
import type { BudgetedFetchListeners } from './budget/budgeted-fetch.ts'
import {
  createInstallationBudgets,
  type ThrottledInstallation,
  type RemainingRateLimit,
} from './budget/installation-budgets.ts'
import {
  defaultQuotaReserves,
  type QuotaReserveByPriorityClass,
  type WorkPriorityClass,
  documentedGitHubRateLimits,
  noGitHubRateLimits,
} from './budget/request-limits.ts'

interface TokenAuthGitHubClientOptions {
  readonly token: string
  /** REST root without a trailing slash. */
  readonly apiUrl: string
  /** False: the server has no limits beyond those in its answers. */
  readonly throttle: boolean
  /** Milliseconds between writes. Default: a second, as GitHub asks. */
  readonly writePause?: number | undefined
  readonly reserves?: QuotaReserveByPriorityClass | undefined
  readonly clock: Clock
  readonly warn: (why: string) => void
}

/** The App's methods for work on one repository. */
export type TokenAuthGitHubClient = Pick<GitHubApp, 'appId' | 'login' | 'octokit' | 'gitToken'>

const viewerSchema = z.object({ viewer: z.object({ login: z.string() }) })

const appSchema = z.object({ id: z.number().int().positive() })

const appLoginPattern = /^(?<slug>[a-z0-9][a-z0-9-]*)\[bot\]$/i

export type Octokit = ProbotOctokit

type OctokitOptions = NonNullable<ConstructorParameters<typeof ProbotOctokit>[0]>

export interface GitHubAppOptions {
  readonly appId: number
  /** PEM text. */
  readonly privateKey: string
  readonly webhookSecret: string
  /** REST root without a trailing slash. Default: GitHub.com's. */
  readonly apiUrl?: string | undefined
  /** False: the server has no limits beyond those in its answers. */
  readonly throttle?: boolean | undefined
  /** Milliseconds between writes. Default: a second, as GitHub asks. */
  readonly writePause?: number | undefined
  readonly reserves?: QuotaReserveByPriorityClass | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Receives the number of requests that remain in an installation's hour. */
  readonly onRemaining?: (left: RemainingRateLimit) => void
  /** Called with each request's result. */
  readonly onAnswer?: BudgetedFetchListeners['onAnswer']
}

export interface InstalledRepository {
  readonly installation: number
  readonly repository: RepositoryName
  /** Anyone may read it. Absent: unknown. */
  readonly isPublic?: boolean
}

/** The plugin's list and 429, because an immediate retry would break the limit again. */
const nonRetryableHttpStatuses = [400, 401, 403, 404, 410, 422, 429, 451]

/** Renew this early, because fetching a large repository takes minutes. */
const tokenRenewalMarginMs = 20 * 60_000

async function listInstallationRepositories(
  octokit: Octokit,
  installation: number,
): Promise<readonly InstalledRepository[]> {
  const repositories = await octokit.paginate(octokit.rest.apps.listReposAccessibleToInstallation, {
    per_page: 100,
  })
  return repositories
    .filter(({ archived }) => !archived)
    .map(({ owner, name, private: isPrivate, visibility = 'public' }) => ({
      installation,
      repository: { owner: owner.login, name },
      isPublic: isPrivate === false && visibility === 'public',
    }))
}

function createOctokitClass(log: Logger) {
  return ProbotOctokit.plugin(
    (octokit) => {
      octokit.hook.before('request', (request) => {
        // The retry plugin would repeat POST, PATCH and PUT on 405, 409 and 5xx. Requests that are not idempotent must not be repeated.
        if (request.method !== 'GET') request.request = { ...request.request, retries: 0 }
      })
      return {}
    },
    createApiVersionPlugin((why) => log.warn(why)),
  ).defaults((octokitOptions: OctokitOptions): OctokitOptions => ({
    // Last, because Probot sets defaults for all of these.
    ...octokitOptions,
    userAgent: 'catalog-bot',
    // Five quick retries for reads, because one failure restarts an evaluation of some forty calls. The queue handles longer
    // failures.
    retry: { retries: 5, retryAfterBaseValue: 40, doNotRetry: nonRetryableHttpStatuses },
    request: { ...(octokitOptions.request as object | undefined), ...octokitRequestOptions },
    throttle: { enabled: false },
  }))
}

export class GitHubApp {
  readonly appId: number
  readonly probot: Probot
  readonly #clock: Clock
  readonly #log: Logger
  readonly #budgets
  #app: Octokit | undefined
  #account: string | undefined
  readonly #gitTokens = new Map<string, { token: string; until: number }>()

  constructor(options: GitHubAppOptions) {
    const { appId, log, clock, throttle = true, writePause = documentedGitHubRateLimits.writePause } = options
    this.appId = appId
    this.#clock = clock
    this.#log = log
    this.probot = new Probot({
      appId,
      privateKey: options.privateKey,
      secret: options.webhookSecret,
      Octokit: createOctokitClass(log),
      log,
      ...(options.apiUrl !== undefined && { baseUrl: options.apiUrl }),
    })
    this.#budgets = createInstallationBudgets({
      clock,
      limits: throttle ? { ...documentedGitHubRateLimits, writePause } : noGitHubRateLimits,
      reserves: options.reserves ?? defaultQuotaReserves,
      onRemaining: options.onRemaining,
      onAnswer: options.onAnswer,
    })
  }

  /** With the App's own key, for tokens and installations. */
  async #asApp(): Promise<Octokit> {
    const octokit = await this.probot.auth()
    if (octokit !== this.#app) this.#budgets.attach(octokit, 'app', 'landing')
    this.#app = octokit
    return octokit
  }

  /** The App's account, `catalog-bot[bot]`. Rejects with a ForgeError. */
  readonly login = async (): Promise<string> => {
    if (this.#account !== undefined) return this.#account
    return callGitHub("read the App's account", async () => {
      const { data } = await (await this.#asApp()).rest.apps.getAuthenticated()
      this.#account = `${data?.slug ?? ''}[bot]`
      return this.#account
    })
  }

  /**
   * An Octokit with one installation's token and budget, for one job of this class. `onSent` is called for each request
   * that counts against the hour.
   */
  readonly octokit = async (
    installation: number,
    work: WorkPriorityClass = 'look',
    onSent?: () => void,
  ): Promise<Octokit> => {
    const octokit = await this.probot.auth(installation)
    this.#budgets.attach(octokit, installation, work, onSent)
    return octokit
  }

  /** A token for git to read and push this repository. Valid for an hour. */
  readonly gitToken = async (installation: number, repository: RepositoryName): Promise<string> => {
    const key = `${installation} ${repository.owner}/${repository.name}`
    const known = this.#gitTokens.get(key)
    if (known !== undefined && known.until - tokenRenewalMarginMs > this.#clock.now()) return known.token
    try {
      const octokit = await this.#asApp()
      const answer = await octokit.rest.apps.createInstallationAccessToken({
        installation_id: installation,
        repositories: [repository.name],
        permissions: { contents: 'write', metadata: 'read' },
      })
      this.#gitTokens.set(key, { token: answer.data.token, until: Date.parse(answer.data.expires_at) })
      return answer.data.token
    } catch (error) {
      throw toForgeError(error, `get a token for ${repository.owner}/${repository.name}`)
    }
  }

  /** Whether the App can still see this repository. Rejects with a ForgeError if GitHub doesn't respond. */
  readonly isInstalledOn = async (repository: RepositoryName): Promise<boolean> => {
    const reading = this.#readInstallation(repository, 'check whether the App is installed on')
    return (await catchNotFound(reading))?.suspended_at === null
  }

  /** Rejects with a ForgeError. */
  readonly installationOn = async (repository: RepositoryName): Promise<number> =>
    (await this.#readInstallation(repository, "find the App's installation on")).id
  /** The App's current permissions here, regardless of its tokens. Rejects with a ForgeError. */
  readonly permissionsOn = async (repository: RepositoryName): Promise<TokenPermissions> =>
    (await this.#readInstallation(repository, "read the App's permissions on")).permissions

  #readInstallation({ owner, name }: RepositoryName, doing: string) {
    return callGitHub(
      `${doing} ${owner}/${name}`,
      async () => (await (await this.#asApp()).rest.apps.getRepoInstallation({ owner, repo: name })).data,
    )
  }

  /** All installations that GitHub reports. Rejects with a ForgeError if GitHub does not report any. */
  readonly installedRepositories = async (): Promise<readonly InstalledRepository[]> => {
    try {
      const appItself = await this.#asApp()
      const installations = await appItself.paginate(appItself.rest.apps.listInstallations, { per_page: 100 })
      const all: InstalledRepository[] = []
      const failures: unknown[] = []
      const active = installations.filter(({ suspended_at }) => suspended_at === null)
      for (const { id } of active)
        try {
          // One request per hundred repositories. The pages need them for access control.
          all.push(...(await listInstallationRepositories(await this.octokit(id, 'landing'), id)))
        } catch (error) {
          failures.push(error)
          // A suspended or blocked installation must not hold up the others.
          const failure = toForgeError(error, `list the repositories of installation ${id}`)
          this.#log.warn(
            { err: failure },
            'the repositories of an installation could not be listed; skipping the installation for now',
          )
        }
      if (failures.length > 0 && failures.length === active.length) throw failures[0]
      return all
    } catch (error) {
      throw toForgeError(error, 'list the installations')
    }
  }

  /** Requests waiting now. */
  readonly waiting = (): Readonly<Record<WorkPriorityClass, number>> => this.#budgets.waiting()
  /** Installations with work waiting for GitHub's limit. */
  readonly held = (): readonly ThrottledInstallation[] => this.#budgets.held()
}

/**
 * A client for a single App token, such as a workflow's GITHUB_TOKEN, or a token created from an App's key. A person's
 * token is rejected, because only Apps can write check runs, and because catalog-bot's comments would be
 * indistinguishable from that user's. Asks GitHub for the token's owner. Rejects with a ForgeError: `unauthorized`, or
 * `rejected` if it isn't an App's.
 */
export async function createGitHubClientFromToken(
  options: TokenAuthGitHubClientOptions,
): Promise<TokenAuthGitHubClient> {
  const { token, apiUrl, clock, warn, throttle, writePause = documentedGitHubRateLimits.writePause } = options
  const OurOctokit = RestOctokit.plugin(createApiVersionPlugin(warn))
  const budgets = createInstallationBudgets({
    clock,
    limits: throttle ? { ...documentedGitHubRateLimits, writePause } : noGitHubRateLimits,
    reserves: options.reserves ?? defaultQuotaReserves,
  })
  const clientFor = (work: WorkPriorityClass) => {
    const octokit = new OurOctokit({
      auth: token,
      baseUrl: apiUrl,
      userAgent: 'catalog-bot',
      log: silentOctokitLog,
      request: { ...octokitRequestOptions },
    })
    budgets.attach(octokit, 0, work)
    return octokit
  }
  const octokit = clientFor('look')
  const { login, slug } = await readTokenOwner(octokit)
  const id = await readAppId(octokit, slug)
  return {
    appId: id,
    login: () => Promise.resolve(login),
    // Both kinds of Octokit share the code used here (REST, GraphQL, pages, hooks).
    octokit: (_installation, work = 'look') => Promise.resolve(clientFor(work) as unknown as Octokit),
    gitToken: () => Promise.resolve(token),
  }
}

async function readTokenOwner(
  octokit: RestOctokit,
): Promise<{ readonly login: string; readonly slug: string }> {
  const { login } = await callGitHub(
    'identify the owner of the token',
    async () => viewerSchema.parse(await octokit.graphql('query Viewer { viewer { login } }')).viewer,
  )
  const slug = appLoginPattern.exec(login)?.groups?.['slug']
  if (slug === undefined)
    throw new ForgeError(
      'rejected',
      `the token belongs to ${login}, which is not an App. Only Apps can write check runs. Use a workflow's GITHUB_TOKEN or an App installation token`,
    )
  return { login, slug }
}

function readAppId(octokit: RestOctokit, slug: string): Promise<number> {
  return callGitHub(`read the ID of the App ${slug}`, async () => {
    const { data } = await octokit.request('GET /apps/{app_slug}', { app_slug: slug })
    return appSchema.parse(data).id
  })
}
