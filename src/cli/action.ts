// `action`: what action.yml runs in a workflow. Decides on the pull request of the event, or validates all catalogs; writes
// annotations, the job's summary, SARIF and outputs. It uses no token, and nothing that it prints is a command of others.
import { execFile } from 'node:child_process'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { pullNumber } from '../change/ids.ts'
import { whatToTell } from '../examine/looks/what-to-tell.ts'
import type { Finding } from '../findings/finding.ts'
import { renderSarif } from '../findings/render-sarif.ts'
import { code, logLine, plain } from '../messages/escape.ts'
import { commentMarker, composeReport } from '../messages/report.ts'
import { workflowLog } from '../messages/workflow-log.ts'
import { runForEvent, type ActionRun } from './action/run-for-event.ts'
import { withExamination } from './local-pull.ts'
import { findLocalCatalogs } from './local-catalogs.ts'
import { exitWith, print } from './output.ts'
import { parseRepository } from './parse-repository.ts'
import { rulePages } from './rule-address.ts'
import { judgeDirectories, placed, sarifOptions } from './validate.ts'

const run = promisify(execFile)

export interface ActionOptions {
  readonly sarif?: string
  readonly failOn: 'errors' | 'never'
  readonly offline?: boolean
}

interface Judged {
  /** A word for the output `verdict`. */
  readonly verdict: 'merge' | 'wait' | 'blocked' | 'unknown' | 'passed' | 'failed'
  readonly isWrong: boolean
  readonly findings: readonly Finding[]
  /** Markdown. */
  readonly summary: string
}

export async function action(options: ActionOptions): Promise<void> {
  try {
    const judged = await judge(options)
    for (const line of workflowLog(judged.findings)) print(line)
    const sarif = options.sarif
    if (sarif !== undefined) {
      const all = judged.findings.map((finding) => placed(finding, judged.findings))
      await writeFile(
        sarif,
        renderSarif(
          all.filter(({ at }) => at.file !== ''),
          await sarifOptions(),
        ),
      )
    }
    await tell('GITHUB_STEP_SUMMARY', `${judged.summary}\n`)
    const count = (severity: Finding['severity']) =>
      judged.findings.filter((finding) => finding.severity === severity).length
    await tell(
      'GITHUB_OUTPUT',
      outputs({
        verdict: judged.verdict,
        errors: count('error'),
        warnings: count('warning'),
        sarif: sarif ?? '',
      }),
    )
    print(logLine(`verdict: ${judged.verdict}`))
    exitWith(judged.isWrong && options.failOn === 'errors' ? 1 : 0)
  } catch (error) {
    // Uses logLine() because the message may be untrusted and the runner reads both streams.
    print(logLine(`catalog-bot could not run: ${error instanceof Error ? error.message : String(error)}`))
    exitWith(2)
  }
}

async function judge(options: ActionOptions): Promise<Judged> {
  const { GITHUB_EVENT_NAME: name, GITHUB_EVENT_PATH: path } = process.env
  const event = runForEvent(name, path === undefined ? undefined : JSON.parse(await readFile(path, 'utf8')))
  switch (event.kind) {
    case 'refused':
      throw new Error(event.why)
    case 'check':
      return judgePull(event, options)
    case 'validate':
      return judgeAll()
  }
}

async function judgePull(
  event: Extract<ActionRun, { kind: 'check' }>,
  options: ActionOptions,
): Promise<Judged> {
  const { base, head } = await commitsOf(event.head)
  const { author, baseRef: baseName } = event
  const { offline } = options
  const { GITHUB_SERVER_URL: web = 'https://github.com', GITHUB_REPOSITORY: named } = process.env
  const pull = { repo: '.', base, baseName, head, author, offline }
  return withExamination(pull, async (examination, repository) => {
    const { verdict } = examination
    const told = await whatToTell(examination, repository)
    const page =
      named === undefined
        ? undefined
        : { web, repository: parseRepository(named), pull: pullNumber(event.pull) }
    const { comment } = composeReport(verdict, { ...told, page, rulesUrl: rulePages().replace(/\/$/, '') })
    return {
      verdict: verdict.kind,
      isWrong: verdict.kind === 'blocked',
      findings: verdict.outcomes.flatMap(({ findings }) => findings),
      summary: comment.replace(`${commentMarker}\n`, '').trim(),
    }
  })
}

/**
 * The commits to compare. GitHub's merge commit has what is to be merged, also where its history is cut behind its parents;
 * with the whole history the head itself is merged, so that its commits are looked at.
 */
async function commitsOf(head: string): Promise<{ readonly base: string; readonly head: string }> {
  const [merge = '', ...parents] = (await git('rev-list', '--parents', '--max-count=1', 'HEAD')).split(' ')
  const [base, second, ...more] = parents
  if (base === undefined || second !== head || more.length > 0)
    throw new Error(
      "the checkout is not GitHub's merge of this pull request with its parents: use actions/checkout without `ref`, and with `fetch-depth: 2`",
    )
  const isCut = (await git('rev-parse', '--is-shallow-repository')) === 'true'
  return { base, head: isCut ? merge : head }
}

async function git(...parameters: readonly string[]): Promise<string> {
  return (await run('git', [...parameters])).stdout.trim()
}

async function judgeAll(): Promise<Judged> {
  const { roots } = await findLocalCatalogs()
  if (roots.length === 0) throw new Error('no catalog is found in this repository')
  const { passed, findings } = await judgeDirectories(roots)
  const lines = findings
    .slice(0, 50)
    .map(
      ({ severity, at, what }) =>
        `- ${severity}: ${at === undefined ? '' : `${code(at.file)} `}${plain(what)}`,
    )
  const headline = `### ${roots.length} ${roots.length === 1 ? 'catalog' : 'catalogs'}: ${passed ? 'passed' : 'failed'}`
  const summary = [headline, ...(lines.length === 0 ? [] : ['', ...lines])].join('\n')
  return { verdict: passed ? 'passed' : 'failed', isWrong: !passed, findings, summary }
}

/** Appends to one of the runner's files. Does nothing without the file, as on a person's machine. */
async function tell(variable: 'GITHUB_STEP_SUMMARY' | 'GITHUB_OUTPUT', text: string): Promise<void> {
  const file = process.env[variable]
  if (file !== undefined && file !== '') await appendFile(file, text)
}

function outputs(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(([name, value]) => {
      if (/[\r\n]/.test(String(value))) throw new Error(`the output ${name} would be several lines`)
      return `${name}=${value}\n`
    })
    .join('')
}
