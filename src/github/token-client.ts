// One token of an App's as a client, for who runs no App: what a workflow is given as GITHUB_TOKEN, or made of an App's own key.
// A person's token is refused: GitHub lets Apps alone write check runs, and what a person wrote cannot be told from what the
// bot wrote.
import { Octokit as RestOctokit } from '@octokit/rest'
import { z } from 'zod'
import type { Clock } from '../ports/clock.ts'
import { sendApiVersion } from './api-version.ts'
import { ForgeError, toForgeError } from './forge-error.ts'
import type { GitHubApp, Octokit } from './github-app.ts'
import { openBudgets } from './budget/budgets.ts'
import { documentedLimits, noLimits } from './budget/github-limits.ts'
import { usualReserves, type Reserves, type WorkClass } from './budget/work-class.ts'
import { plainAnswers } from './plain-answers.ts'

export interface TokenClientOptions {
  readonly token: string
  /** REST root without a trailing slash. */
  readonly apiUrl: string
  /** False: the server has no limits beyond those in its answers. */
  readonly throttle: boolean
  /** Milliseconds between writes. Default: a second, as GitHub asks. */
  readonly writePause?: number | undefined
  readonly reserves?: Reserves | undefined
  readonly clock: Clock
  readonly warn: (why: string) => void
}

/** The App's methods for work on one repository. */
export type TokenClient = Pick<GitHubApp, 'appId' | 'login' | 'octokit' | 'gitToken'>

const viewerAnswer = z.object({ viewer: z.object({ login: z.string() }) })
const appAnswer = z.object({ id: z.number().int().positive() })
const appLogin = /^(?<slug>[a-z0-9][a-z0-9-]*)\[bot\]$/i

/** Asks GitHub for the token's owner. Rejects with a ForgeError: `unauthorized`, or `rejected` if it isn't an App's. */
export async function openTokenClient(options: TokenClientOptions): Promise<TokenClient> {
  const { token, apiUrl, clock, warn, throttle, writePause = documentedLimits.writePause } = options
  const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore }
  const OurOctokit = RestOctokit.plugin(sendApiVersion(warn))
  const budgets = openBudgets({
    clock,
    limits: throttle ? { ...documentedLimits, writePause } : noLimits,
    reserves: options.reserves ?? usualReserves,
  })
  const clientFor = (work: WorkClass) => {
    const octokit = new OurOctokit({
      auth: token,
      baseUrl: apiUrl,
      userAgent: 'catalog-bot',
      log: quiet,
      request: { ...plainAnswers },
    })
    budgets.attach(octokit, 0, work)
    return octokit
  }
  const octokit = clientFor('look')
  const { login, slug } = await whose(octokit)
  const id = await idOf(octokit, slug)
  return {
    appId: id,
    login: () => Promise.resolve(login),
    // Both kinds of Octokit share the code used here (REST, GraphQL, pages, hooks).
    octokit: (_installation, work = 'look') => Promise.resolve(clientFor(work) as unknown as Octokit),
    gitToken: () => Promise.resolve(token),
  }
}

async function whose(octokit: RestOctokit): Promise<{ readonly login: string; readonly slug: string }> {
  let login: string
  try {
    ;({ login } = viewerAnswer.parse(await octokit.graphql('query Viewer { viewer { login } }')).viewer)
  } catch (error) {
    throw toForgeError(error, 'ask whose the token is')
  }
  const slug = appLogin.exec(login)?.groups?.['slug']
  if (slug === undefined)
    throw new ForgeError(
      'rejected',
      `the token is that of ${login}, who is no App: GitHub lets only Apps write check runs. Use the GITHUB_TOKEN of a workflow, or a token made with an App's key`,
    )
  return { login, slug }
}

async function idOf(octokit: RestOctokit, slug: string): Promise<number> {
  try {
    const { data } = await octokit.request('GET /apps/{app_slug}', { app_slug: slug })
    return appAnswer.parse(data).id
  } catch (error) {
    throw toForgeError(error, `read the id of the App ${slug}`)
  }
}

const ignore = () => undefined
