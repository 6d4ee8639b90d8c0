// Prepares the report of an evaluation in the evaluation process, because a change of many packages is large to transfer.
import { renderChangeAsMermaid } from '../../pull-request/draw-change.ts'
import { formatChangeAsMarkdown, describeChangeLines } from '../../report/describe-change.ts'
import { toProjectedChange, describeProjectedChange } from '../../report/describe-projected-change.ts'
import { describeCommands } from '../../report/describe-commands.ts'
import { summarizeChange } from '../../report/summarize-change.ts'
import type { GitRepository } from '../../ports/repository.ts'
import type { Evaluation } from '../evaluate.ts'
import type { EvaluationReport } from '../../report/evaluation-report.ts'
import { traceFindings } from '../trace-findings.ts'
import type { CatalogLoader } from '../../catalogs/catalog-loader.ts'
import { findBaseBreakingCommits } from '../find-base-breaks.ts'
import { findHeadConflicts } from '../find-head-conflicts.ts'

/** Rejects with a GitError. */
export async function prepareReport(
  {
    change,
    becoming = [],
    config,
    records,
    snapshot,
    epoch,
    described,
    isYesToThis,
    verdict,
  }: Pick<
    Evaluation,
    | 'change'
    | 'becoming'
    | 'config'
    | 'records'
    | 'snapshot'
    | 'epoch'
    | 'described'
    | 'isYesToThis'
    | 'verdict'
  >,
  repository: GitRepository,
  loader: CatalogLoader,
): Promise<EvaluationReport> {
  const findings = verdict.outcomes.flatMap((outcome) => outcome.findings)
  const commits = verdict.result && { head: verdict.head, base: verdict.base, result: verdict.result.tree }
  const traced = commits && (await traceFindings(findings, commits, repository))
  const moved = await findHeadConflicts(findings, verdict, repository)
  const baseBreaks = await findBaseBreakingCommits(findings, verdict.base, { repository, loader, config })
  return {
    summary: summarizeChange(change),
    changeLines:
      change.paths.length === 0
        ? []
        : formatChangeAsMarkdown([...describeChangeLines(change), ...describeProjectedChange(becoming)]),
    commandLines: describeCommands(records, snapshot.head, epoch, isYesToThis),
    graph: renderChangeAsMermaid(change) ?? renderChangeAsMermaid(toProjectedChange(becoming)),
    change: described?.id,
    ...traced,
    ...(moved.length > 0 && { moved }),
    ...(baseBreaks.length > 0 && { baseBreaks }),
    comment: config.comment,
    suggestions: config.suggestions,
  }
}
