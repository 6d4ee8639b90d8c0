// The page after App creation: installations, delivery, and rulesets. For holders of the code, for a while.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RepositoryName } from '../../pull-request/snapshot.ts'
import type { MergePlan } from '../../policy/merge-strategy.ts'
import type { RecommendedRuleset } from '../../policy/merge-advice.ts'
import {
  buildMergePlanSections,
  formatMergeMethod,
  formatClauseAsSentence,
} from '../../report/merge-message.ts'
import { htmlTemplate, type Html, sendHtmlPage, type HtmlPage } from '../html.ts'
import { isSetupToken } from './setup-page.ts'

export interface InstalledRepositoryBranch {
  readonly repository: RepositoryName
  readonly branch: string
  readonly plan: MergePlan
  readonly rulesets: Readonly<Record<'a' | 'b', RecommendedRuleset>>
  /** One sentence each. */
  readonly configProblems: readonly string[]
}

export interface InstalledRepositoryBranches {
  readonly branches: readonly InstalledRepositoryBranch[]
  /** The number of repositories that are not listed, because there are too many. */
  readonly more: number
}

interface AppInstalledPageOptions {
  readonly token: string
  readonly appUrl: string
  readonly gitUrl: string
  /** When the word expires, in milliseconds since 1970. */
  readonly until: number
  readonly now: () => number
  /** Asks GitHub. Rejects if GitHub does not answer. */
  readonly describe: () => Promise<InstalledRepositoryBranches>
}

/** Milliseconds between requests to GitHub, regardless of the number of visitors. */
const minGitHubQueryIntervalMs = 2_000

/** Answers requests below /setup/; resolves to false for other addresses. */
export function createAppInstalledPageHandler(options: AppInstalledPageOptions) {
  let known: { at: number; installed: Promise<InstalledRepositoryBranches> } | undefined
  const installed = () => {
    if (known === undefined || options.now() - known.at > minGitHubQueryIntervalMs)
      known = { at: options.now(), installed: options.describe() }
    return known.installed
  }
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (request.method !== 'GET' || !url.pathname.startsWith('/setup')) return false
    if (options.now() > options.until || !isSetupToken(url.searchParams.get('word'), options.token)) {
      sendHtmlPage(response, 404, {
        title: 'Setup is complete',
        body: htmlTemplate`<p>To see this report at any time, run <code>catalog-bot doctor OWNER/NAME</code>.</p>`,
      })
      return true
    }
    try {
      const all = await installed()
      const ruleset = findRequestedRuleset(all, url)
      if (ruleset !== undefined) sendRulesetJsonFile(response, ruleset)
      else sendHtmlPage(response, 200, renderAppInstalledPage(all, options))
    } catch (error) {
      known = undefined
      sendHtmlPage(response, 502, {
        title: "Could not list the App's installations",
        body: htmlTemplate`<p class="wrong">${error instanceof Error ? error.message : String(error)}</p><p>This page retries automatically.</p>`,
        refresh: { seconds: 10, to: formatAppInstalledPageUrl(options.token) },
      })
    }
    return true
  }
}

const formatAppInstalledPageUrl = (token: string): string => `/setup/installed?word=${token}`

function findRequestedRuleset(
  { branches }: InstalledRepositoryBranches,
  url: URL,
): RecommendedRuleset | undefined {
  if (url.pathname !== '/setup/ruleset') return undefined
  const which = url.searchParams.get('which') === 'b' ? 'b' : 'a'
  return branches.find((it) => formatRepositoryFullName(it.repository) === url.searchParams.get('repository'))
    ?.rulesets[which]
}

function sendRulesetJsonFile(response: ServerResponse, ruleset: RecommendedRuleset): void {
  const file = `${ruleset.name.toLowerCase().replace(/[^a-z\d]+/g, '-')}.json`
  response
    .writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-disposition': `attachment; filename="${file}"`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    })
    .end(`${JSON.stringify(ruleset, undefined, 2)}\n`)
}

const formatRepositoryFullName = ({ owner, name }: RepositoryName): string => `${owner}/${name}`

function renderAppInstalledPage(
  { branches, more }: InstalledRepositoryBranches,
  { token, appUrl, gitUrl }: AppInstalledPageOptions,
): HtmlPage {
  const install = htmlTemplate`<a href="${appUrl}/installations/new">Install the App on GitHub</a>`
  if (branches.length === 0)
    return {
      title: 'Install the App',
      body: htmlTemplate`<p>catalog-bot is running, but its App is not installed on any repository yet.</p><p>${install} for the repository that contains your catalogs. This page then updates automatically.</p>`,
      refresh: { seconds: 3, to: formatAppInstalledPageUrl(token) },
    }
  const parts = branches.map((it) => renderInstalledRepositoryBranch(it, token, gitUrl))
  const rest = more > 0 && htmlTemplate`<p>The App is also installed on ${more} more repositories.</p>`
  return {
    title: 'Installed',
    body: htmlTemplate`${parts}${rest}<p>${install} for another repository, or <a href="${formatAppInstalledPageUrl(token)}">refresh this page</a>. To see this report later, run <code>catalog-bot doctor OWNER/NAME</code>.</p>`,
  }
}

function renderInstalledRepositoryBranch(
  { repository, branch, plan, rulesets, configProblems }: InstalledRepositoryBranch,
  token: string,
  gitUrl: string,
): Html {
  const named = formatRepositoryFullName(repository)
  const list = (title: string, clauses: readonly string[]) =>
    clauses.length > 0 &&
    htmlTemplate`<p><strong>${title}</strong></p><ul>${clauses.map((it) => htmlTemplate`<li>${formatClauseAsSentence(it)}</li>`)}</ul>`
  const download = (which: 'a' | 'b') =>
    htmlTemplate`<li><a href="/setup/ruleset?word=${token}&amp;repository=${encodeURIComponent(named)}&amp;which=${which}" download>${rulesets[which].name}</a></li>`
  return htmlTemplate`<section><h2>${named}</h2>
<p>Branch <code>${branch}</code>: <strong>${formatMergeMethod(plan.method)}</strong>. ${formatClauseAsSentence(plan.because)}</p>
${list('The configuration is invalid', configProblems)}${buildMergePlanSections(plan).map(([title, clauses]) => list(title, clauses))}
<p><strong>Rulesets to import</strong> (<a href="${gitUrl}/${named}/settings/rules">Settings, Rules, New ruleset, Import a ruleset</a>):</p><ul>${download('a')}${download('b')}</ul></section>`
}
