// `explain`: prints the inputs and the results of a decision, without acting on it.
import { renderChangeAsMermaid } from '../pull-request/describe-change.ts'
import { renderReport } from '../report/report.ts'
import { summarizeChange } from '../report/summarize-change.ts'
import { toProjectedChange, describeProjectedChange } from '../report/evaluation-report.ts'
import { formatChangeAsMarkdown, describeChangeLines } from '../report/describe-change.ts'
import { toPullRequestChangeJson } from './check.ts'
import { evaluateLocalPullRequest, type LocalPullRequestOptions } from './local-pull.ts'
import { setExitCode, printToStdout } from './output.ts'

export async function printPullExplanation(options: LocalPullRequestOptions): Promise<void> {
  const {
    snapshot,
    config,
    configDigest,
    layout,
    merge,
    change,
    becoming = [],
    verdict,
  } = await evaluateLocalPullRequest(options)
  const { outcomes, permit, ...decision } = verdict
  const report = renderReport(verdict, {
    summary: summarizeChange(change),
    changeLines: formatChangeAsMarkdown([
      ...describeChangeLines(change),
      ...describeProjectedChange(becoming),
    ]),
    graph: renderChangeAsMermaid(change) ?? renderChangeAsMermaid(toProjectedChange(becoming)),
  })
  printToStdout(
    JSON.stringify(
      {
        snapshot,
        facts: { config, configDigest, layout, merge, change: toPullRequestChangeJson(change) },
        findings: outcomes.flatMap((outcome) => outcome.findings),
        verdict: { ...decision, lands: permit !== undefined },
        actions: [
          ...report.checks,
          { comment: report.comment },
          ...(permit === undefined ? [] : [{ land: permit.landing }]),
        ],
      },
      null,
      2,
    ),
  )
  setExitCode(verdict.kind === 'merge' ? 0 : 1)
}
