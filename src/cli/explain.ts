// `explain`: prints the inputs and the results of a decision, without acting on it.
import { renderChangeAsMermaid } from '../change/draw-change.ts'
import { renderReport } from '../messages/report.ts'
import { summarizeChange } from '../messages/summarize-change.ts'
import { toProjectedChange, describeProjectedChange } from '../messages/describe-projected-change.ts'
import { formatChangeAsMarkdown, describeChangeLines } from '../messages/describe-change.ts'
import { toChangeJson } from './check.ts'
import { evaluateLocalPull, type LocalPullOptions } from './local-pull.ts'
import { setExitCode, print } from './output.ts'

export async function printPullExplanation(options: LocalPullOptions): Promise<void> {
  const {
    snapshot,
    config,
    configDigest,
    layout,
    merge,
    change,
    becoming = [],
    verdict,
  } = await evaluateLocalPull(options)
  const { outcomes, permit, ...decision } = verdict
  const report = renderReport(verdict, {
    summary: summarizeChange(change),
    changeLines: formatChangeAsMarkdown([
      ...describeChangeLines(change),
      ...describeProjectedChange(becoming),
    ]),
    graph: renderChangeAsMermaid(change) ?? renderChangeAsMermaid(toProjectedChange(becoming)),
  })
  print(
    JSON.stringify(
      {
        snapshot,
        facts: { config, configDigest, layout, merge, change: toChangeJson(change) },
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
