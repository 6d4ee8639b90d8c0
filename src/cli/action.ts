// `action`: the command that action.yml runs in a workflow. Decides on the pull request of the event, or validates all catalogs.
// Writes annotations, the job summary, SARIF, and outputs. It uses no token, and never prints untrusted text as a runner command.
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import type { Finding } from '@catalog-bot/findings/finding'
import { renderSarif } from '@catalog-bot/findings/render-sarif'
import { z } from 'zod'
import { toPullNumber } from '../pull-request/ids.ts'
import { prepareEvaluationReport } from '../evaluate/worker/prepare-report.ts'
import { toCodeSpan, toLogLine, escapeMarkdown } from '../report/escape.ts'
import { renderPullReport } from '../report/report.ts'
import { commentMarker } from '../report/comment.ts'
import { formatWorkflowLog } from '../report/describe-findings.ts'
import { runWithLocalPullRequestEvaluation } from './local-pull.ts'
import { findLocalCatalogRoots } from './local-catalogs.ts'
import { setExitCode, printToStdout, getRulesBaseUrl } from './output.ts'
import { parseRepository } from './options.ts'
import { runGit } from './pull-defaults.ts'
import { validateCatalogDirectories, addFallbackLocationToFinding, loadSarifOptions } from './validate.ts'

type GitHubActionRunPlan =
  | {
      readonly kind: 'check'
      readonly pull: number
      /** `login:id`. */
      readonly author: string
      readonly baseRef: string
      readonly head: string
    }
  | { readonly kind: 'validate' }
  | { readonly kind: 'refused'; readonly why: string }

/** These events run code from a branch of the repository, or from a merge group whose pull requests were already checked. */
const githubEventsWithFullValidation: ReadonlySet<string> = new Set([
  'merge_group',
  'push',
  'schedule',
  'workflow_dispatch',
])

/** For pull requests from forks, GitHub guarantees a read-only token and no secrets only for the event `pull_request`. */
const pullRequestPayloadSchema = z.object({
  pull_request: z.object({
    number: z.number().int().positive(),
    user: z.object({
      login: z.string().regex(/^[A-Za-z0-9-]+(?:\[bot\])?$/),
      id: z.number().int().positive(),
    }),
    head: z.object({ sha: z.string().regex(/^[0-9a-f]{40}$/) }),
    base: z.object({ ref: z.string().min(1) }),
  }),
})

interface GitHubActionOptions {
  readonly sarif?: string
  readonly failOn: 'errors' | 'never'
  readonly offline?: boolean
}

interface GitHubActionVerdict {
  /** Value of the output `verdict`. */
  readonly verdict: 'merge' | 'wait' | 'blocked' | 'unknown' | 'passed' | 'failed'
  readonly isWrong: boolean
  readonly findings: readonly Finding[]
  /** In Markdown. */
  readonly summary: string
}

export async function runGitHubAction(options: GitHubActionOptions): Promise<void> {
  try {
    const evaluation = await evaluateGitHubActionEvent(options)
    for (const line of formatWorkflowLog(evaluation.findings)) printToStdout(line)
    const sarif = options.sarif
    if (sarif !== undefined) {
      const all = evaluation.findings.map((finding) =>
        addFallbackLocationToFinding(finding, evaluation.findings),
      )
      await writeFile(
        sarif,
        renderSarif(
          all.filter(({ at }) => at.file !== ''),
          await loadSarifOptions(),
        ),
      )
    }
    await appendToGitHubRunnerFile('GITHUB_STEP_SUMMARY', `${evaluation.summary}\n`)
    const count = (severity: Finding['severity']) =>
      evaluation.findings.filter((finding) => finding.severity === severity).length
    await appendToGitHubRunnerFile(
      'GITHUB_OUTPUT',
      formatGitHubActionOutputs({
        verdict: evaluation.verdict,
        errors: count('error'),
        warnings: count('warning'),
        sarif: sarif ?? '',
      }),
    )
    printToStdout(toLogLine(`verdict: ${evaluation.verdict}`))
    setExitCode(evaluation.isWrong && options.failOn === 'errors' ? 1 : 0)
  } catch (error) {
    // Uses toLogLine() because the message may be untrusted and the runner reads both streams.
    printToStdout(
      toLogLine(`catalog-bot could not run: ${error instanceof Error ? error.message : String(error)}`),
    )
    setExitCode(2)
  }
}

async function evaluateGitHubActionEvent(options: GitHubActionOptions): Promise<GitHubActionVerdict> {
  const { GITHUB_EVENT_NAME: name, GITHUB_EVENT_PATH: path } = process.env
  const event = planGitHubActionRun(
    name,
    path === undefined ? undefined : JSON.parse(await readFile(path, 'utf8')),
  )
  switch (event.kind) {
    case 'refused':
      throw new Error(event.why)
    case 'check':
      return evaluatePullRequestEvent(event, options)
    case 'validate':
      return validateAllCatalogs()
  }
}

async function evaluatePullRequestEvent(
  event: Extract<GitHubActionRunPlan, { kind: 'check' }>,
  options: GitHubActionOptions,
): Promise<GitHubActionVerdict> {
  const { base, head } = await resolveBaseAndHeadCommits(event.head)
  const { author, baseRef: baseName } = event
  const { offline } = options
  const { GITHUB_SERVER_URL: web = 'https://github.com', GITHUB_REPOSITORY: named } = process.env
  const pull = { repo: '.', base, baseName, head, author, offline }
  return runWithLocalPullRequestEvaluation(pull, async (examination, repository, loader) => {
    const { verdict } = examination
    const reportInputs = await prepareEvaluationReport(examination, repository, loader)
    const page =
      named === undefined
        ? undefined
        : { web, repository: parseRepository(named), pull: toPullNumber(event.pull) }
    const { comment } = renderPullReport(verdict, {
      ...reportInputs,
      page,
      rulesUrl: getRulesBaseUrl()?.replace(/\/$/, ''),
      isReportOnly: true,
    })
    return {
      verdict: verdict.kind,
      isWrong: verdict.kind === 'blocked',
      findings: verdict.outcomes.flatMap(({ findings }) => findings),
      summary: comment.replace(`${commentMarker}\n`, '').trim(),
    }
  })
}

/**
 * The commits to compare. In a shallow clone, the head is GitHub's merge commit, which contains the result of the merge. With
 * the full history, it is the head of the pull request, so that its commits are checked too.
 */
async function resolveBaseAndHeadCommits(
  head: string,
): Promise<{ readonly base: string; readonly head: string }> {
  const [merge = '', ...parents] = (
    (await runGit('.', 'rev-list', '--parents', '--max-count=1', 'HEAD')) ?? ''
  ).split(' ')
  const [base, second, ...more] = parents
  if (base === undefined || second !== head || more.length > 0)
    throw new Error(
      "the checkout must contain GitHub's merge commit for this pull request and both parents of that commit; use actions/checkout without `ref` and with `fetch-depth: 2`",
    )
  const isCut = (await runGit('.', 'rev-parse', '--is-shallow-repository')) === 'true'
  return { base, head: isCut ? merge : head }
}

async function validateAllCatalogs(): Promise<GitHubActionVerdict> {
  const { roots } = await findLocalCatalogRoots()
  if (roots.length === 0) throw new Error('no catalog found in this repository')
  const { passed, findings } = await validateCatalogDirectories(roots)
  const lines = findings
    .slice(0, 50)
    .map(
      ({ severity, at, what }) =>
        `- ${severity}: ${at === undefined ? '' : `${toCodeSpan(at.file)} `}${escapeMarkdown(what)}`,
    )
  const headline = `### ${roots.length} ${roots.length === 1 ? 'catalog' : 'catalogs'}: ${passed ? 'passed' : 'failed'}`
  const summary = [headline, ...(lines.length === 0 ? [] : ['', ...lines])].join('\n')
  return { verdict: passed ? 'passed' : 'failed', isWrong: !passed, findings, summary }
}

/** Appends to one of the runner's files. Does nothing outside of a runner, where the file does not exist. */
async function appendToGitHubRunnerFile(
  variable: 'GITHUB_STEP_SUMMARY' | 'GITHUB_OUTPUT',
  text: string,
): Promise<void> {
  const file = process.env[variable]
  if (file !== undefined && file !== '') await appendFile(file, text)
}

function formatGitHubActionOutputs(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => {
      if (/[\r\n]/.test(String(value))) throw new Error(`the output ${name} contains a line break`)
      return `${name}=${value}\n`
    })
    .join('')
}

/** Decides what to do for a workflow event. Rejects unknown events, and events that combine secrets or a write token with untrusted content, regardless of what was checked out. */
export function planGitHubActionRun(event: string | undefined, payload: unknown): GitHubActionRunPlan {
  if (event === 'pull_request') {
    const read = pullRequestPayloadSchema.safeParse(payload)
    if (!read.success) return { kind: 'refused', why: 'the event does not identify a pull request' }
    const { number, user, head, base } = read.data.pull_request
    return {
      kind: 'check',
      pull: number,
      author: `${user.login}:${user.id}`,
      baseRef: base.ref,
      head: head.sha,
    }
  }
  if (event !== undefined && githubEventsWithFullValidation.has(event)) return { kind: 'validate' }
  const why =
    event === undefined
      ? 'this command runs only in a GitHub Actions workflow; on your machine, use catalog-bot check'
      : `catalog-bot rejects the event ${event}, because secrets or a write token might be exposed to untrusted code. Use "on: pull_request"`
  return { kind: 'refused', why }
}
