// A client for a single App token, such as a workflow's GITHUB_TOKEN, or a token created from an App's key.
// A person's token is rejected, because only Apps can write check runs, and because the bot's comments would be
// indistinguishable from the person's.
import { Octokit as RestOctokit } from '@octokit/rest'
import { z } from 'zod'
import type { Clock } from '../../ports/clock.ts'
import { parsedResponseOptions, createApiVersionPlugin } from './github-fetch.ts'
import { ForgeError, toForgeError } from './forge-error.ts'
import type { GitHubApp, Octokit } from './github-app.ts'
import { createInstallationBudgets } from './budget/installation-budgets.ts'
import { defaultQuotaReserves, type QuotaReserveByWorkClass, type WorkClass, documentedGitHubRateLimits, noGitHubRateLimits } from './budget/wait-policy.ts'

export interface GitHubTokenClientOptions {
  readonly token: string
  /** REST root without a trailing slash. */
  readonly apiUrl: string
  /** False: the server has no limits beyond those in its answers. */
  readonly throttle: boolean
  /** Milliseconds between writes. Default: a second, as GitHub asks. */
  readonly writePause?: number | undefined
  readonly reserves?: QuotaReserveByWorkClass | undefined
  readonly clock: Clock
  readonly warn: (why: string) => void
}

/** The App's methods for work on one repository. */
export type GitHubTokenClient = Pick<GitHubApp, 'appId' | 'login' | 'octokit' | 'gitToken'>

const viewerSchema = z.object({ viewer: z.object({ login: z.string() }) })
const appSchema = z.object({ id: z.number().int().positive() })
const appLoginPattern = /^(?<slug>[a-z0-9][a-z0-9-]*)\[bot\]$/i

/** Asks GitHub for the token's owner. Rejects with a ForgeError: `unauthorized`, or `rejected` if it isn't an App's. */
export async function openGitHubTokenClient(options: GitHubTokenClientOptions): Promise<GitHubTokenClient> {
  const { token, apiUrl, clock, warn, throttle, writePause = documentedGitHubRateLimits.writePause } = options
  const quiet = {
    debug: discardLogMessage,
    info: discardLogMessage,
    warn: discardLogMessage,
    error: discardLogMessage,
  }
  const OurOctokit = RestOctokit.plugin(createApiVersionPlugin(warn))
  const budgets = createInstallationBudgets({
    clock,
    limits: throttle ? { ...documentedGitHubRateLimits, writePause } : noGitHubRateLimits,
    reserves: options.reserves ?? defaultQuotaReserves,
  })
  const clientFor = (work: WorkClass) => {
    const octokit = new OurOctokit({
      auth: token,
      baseUrl: apiUrl,
      userAgent: 'catalog-bot',
      log: quiet,
      request: { ...parsedResponseOptions },
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
  let login: string
  try {
    ;({ login } = viewerSchema.parse(await octokit.graphql('query Viewer { viewer { login } }')).viewer)
  } catch (error) {
    throw toForgeError(error, 'identify the owner of the token')
  }
  const slug = appLoginPattern.exec(login)?.groups?.['slug']
  if (slug === undefined)
    throw new ForgeError(
      'rejected',
      `the token belongs to ${login}, which is not an App. Only Apps can write check runs. Use a workflow's GITHUB_TOKEN or an App installation token`,
    )
  return { login, slug }
}

async function readAppId(octokit: RestOctokit, slug: string): Promise<number> {
  try {
    const { data } = await octokit.request('GET /apps/{app_slug}', { app_slug: slug })
    return appSchema.parse(data).id
  } catch (error) {
    throw toForgeError(error, `read the ID of the App ${slug}`)
  }
}

const discardLogMessage = () => undefined
