// The page after App creation: installations, branch delivery and rulesets to import. The running bot shows it to
// holders of the setup word for a limited time.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RepositoryName } from '../../change/snapshot.ts'
import type { LandingPlan } from '../../gate/landing-method.ts'
import type { RecommendedRuleset } from '../../gate/recommended-rulesets.ts'
import { landingPlanSections, methodInWords, sentence } from '../../messages/landing-plan.ts'
import { escapeHtml } from '../escape-html.ts'
import { sendPage, type HtmlPage } from '../html-page.ts'
import { isWord } from './one-time-word.ts'

export interface InstalledBranch {
  readonly repository: RepositoryName
  readonly branch: string
  readonly plan: LandingPlan
  readonly rulesets: Readonly<Record<'a' | 'b', RecommendedRuleset>>
  /** One sentence each. */
  readonly configProblems: readonly string[]
}

export interface Installed {
  readonly branches: readonly InstalledBranch[]
  /** The number of repositories that are not listed, because there are too many. */
  readonly more: number
}

export interface InstalledPageOptions {
  readonly word: string
  readonly appUrl: string
  readonly gitUrl: string
  /** When the word expires, in milliseconds since 1970. */
  readonly until: number
  readonly now: () => number
  /** Asks GitHub. Rejects if GitHub does not answer. */
  readonly describe: () => Promise<Installed>
}

/** Milliseconds between requests to GitHub, regardless of the number of visitors. */
const askedAgain = 8_000

/** Answers requests below /setup/; resolves to false for other addresses. */
export function installedPage(options: InstalledPageOptions) {
  let known: { at: number; installed: Promise<Installed> } | undefined
  const installed = () => {
    if (known === undefined || options.now() - known.at > askedAgain)
      known = { at: options.now(), installed: options.describe() }
    return known.installed
  }
  return async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (request.method !== 'GET' || !url.pathname.startsWith('/setup')) return false
    if (options.now() > options.until || !isWord(url.searchParams.get('word'), options.word)) {
      sendPage(response, 404, {
        title: 'Setup is over',
        body: '<p><code>catalog-bot doctor OWNER/NAME</code> tells the same at any time.</p>',
      })
      return true
    }
    try {
      const all = await installed()
      const ruleset = rulesetOf(all, url)
      if (ruleset !== undefined) sendRuleset(response, ruleset)
      else sendPage(response, 200, pageOf(all, options))
    } catch (error) {
      known = undefined
      sendPage(response, 502, {
        title: 'GitHub did not say where the App is installed',
        body: `<p class="wrong">${escapeHtml(error instanceof Error ? error.message : String(error))}</p><p>This page asks again by itself.</p>`,
        refresh: { seconds: 10, to: addressOf(options.word) },
      })
    }
    return true
  }
}

const addressOf = (word: string): string => `/setup/installed?word=${word}`

function rulesetOf({ branches }: Installed, url: URL): RecommendedRuleset | undefined {
  if (url.pathname !== '/setup/ruleset') return undefined
  const which = url.searchParams.get('which') === 'b' ? 'b' : 'a'
  return branches.find((it) => fullName(it.repository) === url.searchParams.get('repository'))?.rulesets[
    which
  ]
}

function sendRuleset(response: ServerResponse, ruleset: RecommendedRuleset): void {
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

const fullName = ({ owner, name }: RepositoryName): string => `${owner}/${name}`

function pageOf({ branches, more }: Installed, { word, appUrl, gitUrl }: InstalledPageOptions): HtmlPage {
  const install = `<a href="${escapeHtml(appUrl)}/installations/new">Install it on GitHub</a>`
  if (branches.length === 0)
    return {
      title: 'Install the App',
      body: `<p>The bot runs. Its App is installed nowhere yet.</p><p>${install}, on the repository that holds the catalogs. This page then goes on by itself.</p>`,
      refresh: { seconds: 5, to: addressOf(word) },
    }
  const parts = branches.map((it) => branchPart(it, word, gitUrl))
  const rest = more > 0 ? `<p>And on ${more} more repositories.</p>` : ''
  return {
    title: 'Installed',
    body: `${parts.join('')}${rest}<p>${install} on another repository, or <a href="${escapeHtml(addressOf(word))}">look again</a>. Later, <code>catalog-bot doctor OWNER/NAME</code> tells the same.</p>`,
  }
}

function branchPart(
  { repository, branch, plan, rulesets, configProblems }: InstalledBranch,
  word: string,
  gitUrl: string,
): string {
  const named = fullName(repository)
  const list = (title: string, clauses: readonly string[]) =>
    clauses.length === 0
      ? ''
      : `<p><strong>${escapeHtml(title)}</strong></p><ul>${clauses.map((it) => `<li>${escapeHtml(sentence(it))}</li>`).join('')}</ul>`
  const download = (which: 'a' | 'b') =>
    `<li><a href="/setup/ruleset?word=${escapeHtml(word)}&amp;repository=${encodeURIComponent(named)}&amp;which=${which}" download>${escapeHtml(rulesets[which].name)}</a></li>`
  return `<section><h2>${escapeHtml(named)}</h2>
<p>Branch <code>${escapeHtml(branch)}</code>: <strong>${escapeHtml(methodInWords(plan.method))}</strong>. ${escapeHtml(sentence(plan.because))}</p>
${list('The configuration cannot be used', configProblems)}${landingPlanSections(plan)
    .map(([title, clauses]) => list(title, clauses))
    .join('')}
<p><strong>The rulesets to import</strong> (<a href="${escapeHtml(`${gitUrl}/${named}`)}/settings/rules">Settings, Rules, New ruleset, Import a ruleset</a>):</p><ul>${download('a')}${download('b')}</ul></section>`
}
