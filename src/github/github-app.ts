// The GitHub App as a client: its JWT, its installations' tokens, its Octokits. Made of Probot's parts, with two
// of its habits changed: nothing but GET is ever retried (T39), and a rate limit is waited for once and briefly,
// because a job that gives up is taken again by the queue.
import { Probot, ProbotOctokit } from 'probot'
import type { Logger } from 'pino'
import type { RepositoryName } from '../change/snapshot.ts'
import type { TokenPermissions } from '../gate/landing-demands.ts'
import type { Clock } from '../ports/clock.ts'
import { sendApiVersion } from './api-version.ts'
import { toForgeError } from './forge-error.ts'
import { plainAnswers } from './plain-answers.ts'
import { openRateLimits, type RemainingRequests } from './rate-limits.ts'

export type Octokit = ProbotOctokit

type OctokitOptions = NonNullable<ConstructorParameters<typeof ProbotOctokit>[0]>

export interface GitHubAppOptions {
  readonly appId: number
  /** PEM text. */
  readonly privateKey: string
  readonly webhookSecret: string
  /** REST root without a slash at the end; GitHub.com's by default. */
  readonly apiUrl?: string | undefined
  /** False only where the other side is ours: GitHub asks clients to write at most once a second. */
  readonly throttle?: boolean | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Hears what GitHub says is left of an installation's hour. */
  readonly onRemaining?: (left: RemainingRequests) => void
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
  /** Octokit with one installation's token. */
  octokit(installation: number): Promise<Octokit>
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
}

/** A token is renewed this long before it ends: a fetch of a large repository takes minutes. */
const tokenMargin = 20 * 60_000

/** The longest rate-limit pause that a single request sits out, in seconds. */
const patience = 20

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
  const onLimit = (retryAfter: number, _options: object, _octokit: unknown, retries: number) =>
    retries === 0 && retryAfter <= patience
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
    retry: { retries: 5, retryAfterBaseValue: 40 },
    request: { ...(given.request as object | undefined), ...plainAnswers },
    throttle:
      options.throttle === false
        ? { enabled: false }
        : { ...(given.throttle as object | undefined), onRateLimit: onLimit, onSecondaryRateLimit: onLimit },
  }))
  const probot = new Probot({
    appId: options.appId,
    privateKey: options.privateKey,
    secret: options.webhookSecret,
    Octokit: OurOctokit,
    log: options.log,
    ...(options.apiUrl !== undefined && { baseUrl: options.apiUrl }),
  })
  const limits = openRateLimits(options.clock, options.onRemaining)
  let account: string | undefined
  const gitTokens = new Map<string, { token: string; until: number }>()
  return {
    appId: options.appId,
    probot,
    async login() {
      if (account !== undefined) return account
      try {
        const { data } = await (await probot.auth()).rest.apps.getAuthenticated()
        account = `${data?.slug ?? ''}[bot]`
        return account
      } catch (error) {
        throw toForgeError(error, 'read our own name')
      }
    },
    octokit: async (installation) => {
      const octokit = await probot.auth(installation)
      limits.watch(octokit, installation)
      return octokit
    },
    async gitToken(installation, repository) {
      const key = `${installation} ${repository.owner}/${repository.name}`
      const known = gitTokens.get(key)
      if (known !== undefined && known.until - tokenMargin > options.clock.now()) return known.token
      try {
        const octokit = await probot.auth()
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
        const { data } = await (await probot.auth()).rest.apps.getRepoInstallation({ owner, repo: name })
        return data.suspended_at === null
      } catch (error) {
        const failure = toForgeError(error, `ask whether we are installed on ${owner}/${name}`)
        if (failure.code === 'not-found') return false
        throw failure
      }
    },
    async installationOn({ owner, name }) {
      try {
        return (await (await probot.auth()).rest.apps.getRepoInstallation({ owner, repo: name })).data.id
      } catch (error) {
        throw toForgeError(error, `find the installation on ${owner}/${name}`)
      }
    },
    async permissionsOn({ owner, name }) {
      try {
        const { data } = await (await probot.auth()).rest.apps.getRepoInstallation({ owner, repo: name })
        return data.permissions
      } catch (error) {
        throw toForgeError(error, `ask what we may do on ${owner}/${name}`)
      }
    },
    async installedRepositories() {
      try {
        const app = await probot.auth()
        const installations = await app.paginate(app.rest.apps.listInstallations, { per_page: 100 })
        const all: InstalledRepository[] = []
        const failures: unknown[] = []
        const active = installations.filter(({ suspended_at }) => suspended_at === null)
        for (const installation of active)
          try {
            all.push(...(await repositoriesOf(await probot.auth(installation.id), installation.id)))
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
