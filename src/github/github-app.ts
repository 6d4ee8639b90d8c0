// The GitHub App as a client: its JWT, its installations' tokens, its Octokits. Made of Probot's parts, with two
// of its habits changed: nothing but GET is ever retried (T39), and GitHub's limits are kept by a budget of each
// installation, which knows what is more important, instead of Octokit's throttling, which does not.
import { Probot, ProbotOctokit } from 'probot'
import type { Logger } from 'pino'
import type { RepositoryName } from '../change/snapshot.ts'
import type { TokenPermissions } from '../gate/landing-demands.ts'
import type { Clock } from '../ports/clock.ts'
import { sendApiVersion } from './api-version.ts'
import { toForgeError } from './forge-error.ts'
import type { FetchEvents } from './budget/budgeted-fetch.ts'
import { openBudgets, type HeldInstallation, type RemainingRequests } from './budget/budgets.ts'
import { documentedLimits, noLimits } from './budget/github-limits.ts'
import { usualReserves, type Reserves, type WorkClass } from './budget/work-class.ts'
import { plainAnswers } from './plain-answers.ts'

export type Octokit = ProbotOctokit

type OctokitOptions = NonNullable<ConstructorParameters<typeof ProbotOctokit>[0]>

export interface GitHubAppOptions {
  readonly appId: number
  /** PEM text. */
  readonly privateKey: string
  readonly webhookSecret: string
  /** REST root without a slash at the end; GitHub.com's by default. */
  readonly apiUrl?: string | undefined
  /** False where the server has no limits but those that it tells with its answers. */
  readonly throttle?: boolean | undefined
  /** Milliseconds from one write to the next; a second, as GitHub asks, where it is not said. */
  readonly writePause?: number | undefined
  readonly reserves?: Reserves | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Hears what GitHub says is left of an installation's hour. */
  readonly onRemaining?: (left: RemainingRequests) => void
  /** Hears of each request what became of it. */
  readonly onAnswer?: FetchEvents['onAnswer']
}

export interface InstalledRepository {
  readonly installation: number
  readonly repository: RepositoryName
  /** GitHub says that anybody may read it. Absent: it does not say so. */
  readonly isPublic?: boolean
}

export interface GitHubApp {
  readonly appId: number
  readonly probot: Probot
  /** The account under which the App writes, `catalog-bot[bot]`. Rejects with a ForgeError. */
  login(): Promise<string>
  /**
   * Octokit with one installation's token, for one job. It goes by the budget of the installation, as work of that class.
   * `onSent` hears of each request that counts against the hour.
   */
  octokit(installation: number, work?: WorkClass, onSent?: () => void): Promise<Octokit>
  /** A token that can read and push to this one repository, for git. Valid for an hour. */
  gitToken(installation: number, repository: RepositoryName): Promise<string>
  /** Whether the App may still see this repository. Rejects with a ForgeError when GitHub does not say. */
  isInstalledOn(repository: RepositoryName): Promise<boolean>
  /** The installation that covers this repository. Rejects with a ForgeError. */
  installationOn(repository: RepositoryName): Promise<number>
  /** What the App may do on this repository now, whatever its tokens say. Rejects with a ForgeError. */
  permissionsOn(repository: RepositoryName): Promise<TokenPermissions>
  /** Everything the App is installed on, as far as GitHub says. Rejects with a ForgeError when it says nothing at all. */
  installedRepositories(): Promise<readonly InstalledRepository[]>
  /** Requests that wait for their turn now. */
  waiting(): Readonly<Record<WorkClass, number>>
  /** Installations of which some work waits for GitHub's limit. */
  held(): readonly HeldInstallation[]
}

/** As the plugin has it, and 429: who is told to wait is not to ask five times more at once. */
const doNotRetry = [400, 401, 403, 404, 410, 422, 429, 451]

/** A token is renewed this long before it ends: a fetch of a large repository takes minutes. */
const tokenMargin = 20 * 60_000

async function repositoriesOf(
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
        // The retry plugin would repeat POST, PATCH and PUT on 405, 409 and 5xx: what is not idempotent is read, not repeated.
        if (request.method !== 'GET') request.request = { ...request.request, retries: 0 }
      })
      return {}
    },
    sendApiVersion((why) => options.log.warn(why)),
  ).defaults((given: OctokitOptions): OctokitOptions => ({
    // Ours come last: Probot brings its own settings for all of these.
    ...given,
    userAgent: 'catalog-bot',
    // Five more tries for reads, within two seconds: a look has some forty calls, and one that fails takes it back to its
    // start. What fails longer is taken again by the queue, which waits better.
    retry: { retries: 5, retryAfterBaseValue: 40, doNotRetry },
    request: { ...(given.request as object | undefined), ...plainAnswers },
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
  const { clock, throttle = true, writePause = documentedLimits.writePause } = options
  const budgets = openBudgets({
    clock,
    limits: throttle ? { ...documentedLimits, writePause } : noLimits,
    reserves: options.reserves ?? usualReserves,
    onRemaining: options.onRemaining,
    onAnswer: options.onAnswer,
  })
  let app: Octokit | undefined
  /** With the App's own key: what tokens, and where it is installed. Everything else stands on that. */
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
        throw toForgeError(error, 'read our own name')
      }
    },
    octokit: asInstallation,
    waiting: () => budgets.waiting(),
    held: () => budgets.held(),
    async gitToken(installation, repository) {
      const key = `${installation} ${repository.owner}/${repository.name}`
      const known = gitTokens.get(key)
      if (known !== undefined && known.until - tokenMargin > options.clock.now()) return known.token
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
        const failure = toForgeError(error, `ask whether we are installed on ${owner}/${name}`)
        if (failure.code === 'not-found') return false
        throw failure
      }
    },
    async installationOn({ owner, name }) {
      try {
        return (await (await asApp()).rest.apps.getRepoInstallation({ owner, repo: name })).data.id
      } catch (error) {
        throw toForgeError(error, `find the installation on ${owner}/${name}`)
      }
    },
    async permissionsOn({ owner, name }) {
      try {
        const { data } = await (await asApp()).rest.apps.getRepoInstallation({ owner, repo: name })
        return data.permissions
      } catch (error) {
        throw toForgeError(error, `ask what we may do on ${owner}/${name}`)
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
            // One request for a hundred repositories, which the pages need, too: who may see what depends on it.
            all.push(
              ...(await repositoriesOf(await asInstallation(installation.id, 'landing'), installation.id)),
            )
          } catch (error) {
            failures.push(error)
            // One that GitHub does not let us into (suspended just now, blocked) keeps nobody else waiting.
            const failure = toForgeError(error, `list the repositories of installation ${installation.id}`)
            options.log.warn({ err: failure }, 'an installation could not be listed and is left out for now')
          }
        if (failures.length > 0 && failures.length === active.length) throw failures[0]
        return all
      } catch (error) {
        throw toForgeError(error, 'list the installations')
      }
    },
  }
}
