// `explain`: prints everything that a decision rests on and leads to, and stops.
import { changeAsMermaid } from '../change/draw-change.ts'
import { composeReport } from '../messages/report.ts'
import { summariseChange } from '../messages/summarise-change.ts'
import { becomingChange, describeBecoming } from '../messages/describe-becoming.ts'
import { changeAsMarkdown, describeChangeLines } from '../messages/describe-change.ts'
import { changeForMachines } from './check.ts'
import { examineLocally, type LocalPullOptions } from './local-pull.ts'
import { exitWith, print } from './output.ts'

export async function explain(options: LocalPullOptions): Promise<void> {
  const {
    snapshot,
    config,
    configDigest,
    layout,
    merge,
    change,
    becoming = [],
    verdict,
  } = await examineLocally(options)
  const { outcomes, permit, ...decision } = verdict
  const report = composeReport(verdict, {
    summary: summariseChange(change),
    changeLines: changeAsMarkdown([...describeChangeLines(change), ...describeBecoming(becoming)]),
    graph: changeAsMermaid(change) ?? changeAsMermaid(becomingChange(becoming)),
  })
  print(
    JSON.stringify(
      {
        snapshot,
        facts: { config, configDigest, layout, merge, change: changeForMachines(change) },
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
  exitWith(verdict.kind === 'merge' ? 0 : 1)
}
