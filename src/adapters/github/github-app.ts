// The App's JWT, tokens and Octokits, from Probot's parts with two changes: only GET is retried (T39), and each
// installation has a prioritized budget instead of Octokit's throttling.
import { Probot, ProbotOctokit } from 'probot'
import type { Logger } from 'pino'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { TokenPermissions } from '../../policy/branch-rules.ts'
import type { Clock } from '../../ports/clock.ts'
import { createApiVersionPlugin } from './api-version.ts'
import { toForgeError } from './forge-error.ts'
import type { BudgetedFetchListeners } from './budget/budgeted-fetch.ts'
import {
  createInstallationBudgets,
  type ThrottledInstallation,
  type RemainingRateLimit,
} from './budget/installation-budgets.ts'
import { documentedGitHubRateLimits, noGitHubRateLimits } from './budget/github-limits.ts'
import { defaultQuotaReserves, type QuotaReserveByWorkClass, type WorkClass } from './budget/work-class.ts'
import { parsedResponseOptions } from './parsed-response.ts'

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
  readonly reserves?: QuotaReserveByWorkClass | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Hears what is left of an installation's hour. */
  readonly onRemaining?: (left: RemainingRateLimit) => void
  /** Hears each request's result. */
  readonly onAnswer?: BudgetedFetchListeners['onAnswer']
}

export interface InstalledRepository {
  readonly installation: number
  readonly repository: RepositoryName
  /** Anyone may read it. Absent: unknown. */
  readonly isPublic?: boolean
}

export interface GitHubApp {
  readonly appId: number
  readonly probot: Probot
  /** The App's account, `catalog-bot[bot]`. Rejects with a ForgeError. */
  login(): Promise<string>
  /**
   * An Octokit with one installation's token and budget, for one job of this class. `onSent` hears each request that
   * counts against the hour.
   */
  octokit(installation: number, work?: WorkClass, onSent?: () => void): Promise<Octokit>
  /** A token for git to read and push this repository. Valid for an hour. */
  gitToken(installation: number, repository: RepositoryName): Promise<string>
  /** Whether the App may still see this repository. Rejects with a ForgeError when GitHub does not say. */
  isInstalledOn(repository: RepositoryName): Promise<boolean>
  /** Rejects with a ForgeError. */
  installationOn(repository: RepositoryName): Promise<number>
  /** The App's current permissions here, regardless of its tokens. Rejects with a ForgeError. */
  permissionsOn(repository: RepositoryName): Promise<TokenPermissions>
  /** All installations that GitHub reports. Rejects with a ForgeError if GitHub does not report any. */
  installedRepositories(): Promise<readonly InstalledRepository[]>
  /** Requests waiting now. */
  waiting(): Readonly<Record<WorkClass, number>>
  /** Installations with work waiting for GitHub's limit. */
  held(): readonly ThrottledInstallation[]
}

/** The plugin's list and 429, because an immediate retry would break the limit again. */
const nonRetryableHttpStatuses = [400, 401, 403, 404, 410, 422, 429, 451]

/** Renew this early, because fetching a large repository takes minutes. */
const tokenRenewalMarginMs = 20 * 60_000

async function listRepositories(
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

export function openGitHubApp(options: GitHubAppOptions): GitHubApp {
  const OurOctokit = ProbotOctokit.plugin(
    (octokit) => {
      octokit.hook.before('request', (request) => {
        // The retry plugin would repeat POST, PATCH and PUT on 405, 409 and 5xx. Requests that are not idempotent must not be repeated.
        if (request.method !== 'GET') request.request = { ...request.request, retries: 0 }
      })
      return {}
    },
    createApiVersionPlugin((why) => options.log.warn(why)),
  ).defaults((octokitOptions: OctokitOptions): OctokitOptions => ({
    // Last, because Probot sets defaults for all of these.
    ...octokitOptions,
    userAgent: 'catalog-bot',
    // Five quick retries for reads, because one failure restarts an evaluation of some forty calls. The queue handles longer
    // failures.
    retry: { retries: 5, retryAfterBaseValue: 40, doNotRetry: nonRetryableHttpStatuses },
    request: { ...(octokitOptions.request as object | undefined), ...parsedResponseOptions },
    throttle: { enabled: false },
  }))
  const probot = new Probot({
    appId: options.appId,
    privateKey: options.privateKey,
    secret: options.webhookSecret,
    Octokit: OurOctokit,
    log: options.log,
    ...(options.apiUrl !== undefined && { baseUrl: options.apiUrl }),
  })
  const { clock, throttle = true, writePause = documentedGitHubRateLimits.writePause } = options
  const budgets = createInstallationBudgets({
    clock,
    limits: throttle ? { ...documentedGitHubRateLimits, writePause } : noGitHubRateLimits,
    reserves: options.reserves ?? defaultQuotaReserves,
    onRemaining: options.onRemaining,
    onAnswer: options.onAnswer,
  })
  let app: Octokit | undefined
  /** With the App's own key, for tokens and installations. */
  const asApp = async (): Promise<Octokit> => {
    const octokit = await probot.auth()
    if (octokit !== app) budgets.attach(octokit, 'app', 'landing')
    app = octokit
    return octokit
  }
  const asInstallation: GitHubApp['octokit'] = async (installation, work = 'look', onSent) => {
    const octokit = await probot.auth(installation)
    budgets.attach(octokit, installation, work, onSent)
    return octokit
  }
  let account: string | undefined
  const gitTokens = new Map<string, { token: string; until: number }>()
  return {
    appId: options.appId,
    probot,
    async login() {
      if (account !== undefined) return account
      try {
        const { data } = await (await asApp()).rest.apps.getAuthenticated()
        account = `${data?.slug ?? ''}[bot]`
        return account
      } catch (error) {
        throw toForgeError(error, "read the App's account")
      }
    },
    octokit: asInstallation,
    waiting: () => budgets.waiting(),
    held: () => budgets.held(),
    async gitToken(installation, repository) {
      const key = `${installation} ${repository.owner}/${repository.name}`
      const known = gitTokens.get(key)
      if (known !== undefined && known.until - tokenRenewalMarginMs > options.clock.now()) return known.token
      try {
        const octokit = await asApp()
        const answer = await octokit.rest.apps.createInstallationAccessToken({
          installation_id: installation,
          repositories: [repository.name],
          permissions: { contents: 'write', metadata: 'read' },
        })
        gitTokens.set(key, { token: answer.data.token, until: Date.parse(answer.data.expires_at) })
        return answer.data.token
      } catch (error) {
        throw toForgeError(error, `get a token for ${repository.owner}/${repository.name}`)
      }
    },
    async isInstalledOn({ owner, name }) {
      try {
        const { data } = await (await asApp()).rest.apps.getRepoInstallation({ owner, repo: name })
        return data.suspended_at === null
      } catch (error) {
        const failure = toForgeError(error, `check whether the App is installed on ${owner}/${name}`)
        if (failure.code === 'not-found') return false
        throw failure
      }
    },
    async installationOn({ owner, name }) {
      try {
        return (await (await asApp()).rest.apps.getRepoInstallation({ owner, repo: name })).data.id
      } catch (error) {
        throw toForgeError(error, `find the App's installation on ${owner}/${name}`)
      }
    },
    async permissionsOn({ owner, name }) {
      try {
        const { data } = await (await asApp()).rest.apps.getRepoInstallation({ owner, repo: name })
        return data.permissions
      } catch (error) {
        throw toForgeError(error, `read the App's permissions on ${owner}/${name}`)
      }
    },
    async installedRepositories() {
      try {
        const appItself = await asApp()
        const installations = await appItself.paginate(appItself.rest.apps.listInstallations, {
          per_page: 100,
        })
        const all: InstalledRepository[] = []
        const failures: unknown[] = []
        const active = installations.filter(({ suspended_at }) => suspended_at === null)
        for (const installation of active)
          try {
            // One request per hundred repositories. The pages need them for access control.
            all.push(
              ...(await listRepositories(await asInstallation(installation.id, 'landing'), installation.id)),
            )
          } catch (error) {
            failures.push(error)
            // A suspended or blocked installation must not hold up the others.
            const failure = toForgeError(error, `list the repositories of installation ${installation.id}`)
            options.log.warn(
              { err: failure },
              'the repositories of an installation could not be listed; skipping the installation for now',
            )
          }
        if (failures.length > 0 && failures.length === active.length) throw failures[0]
        return all
      } catch (error) {
        throw toForgeError(error, 'list the installations')
      }
    },
  }
}
