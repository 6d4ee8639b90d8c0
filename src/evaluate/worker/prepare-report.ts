// Prepares the report of an evaluation in the evaluation process, because a change of many packages is large to transfer.
import { renderChangeAsMermaid } from '../../change/draw-change.ts'
import { formatChangeAsMarkdown, describeChangeLines } from '../../messages/describe-change.ts'
import { toProjectedChange, describeProjectedChange } from '../../messages/describe-projected-change.ts'
import { describeCommands } from '../../messages/describe-commands.ts'
import type { BaseBreak } from '../../messages/describe-base-breaks.ts'
import type { HeadConflict } from '../../messages/describe-head-conflict.ts'
import { summarizeChange } from '../../messages/summarize-change.ts'
import type { FixForFinding, TracedLine } from '../../messages/traced-line.ts'
import type { CommentPolicy } from '../../config/config.ts'
import type { GitRepository } from '../../ports/repository.ts'
import type { Evaluation } from '../evaluate.ts'
import { traceFindings } from '../trace-findings.ts'
import type { CatalogLoader } from '../catalogs/catalog-loader.ts'
import { findBaseBreakingCommits } from '../find-base-breaks.ts'
import { findHeadConflicts } from '../find-head-conflicts.ts'

export interface EvaluationReport {
  /** One sentence of Markdown. */
  readonly summary?: string | undefined
  readonly changeLines: readonly string[]
  readonly commandLines: readonly string[]
  readonly graph?: string | undefined
  readonly change?: string | undefined
  /** Absent: not traced. */
  readonly lines?: readonly TracedLine[] | undefined
  readonly fixes?: readonly FixForFinding[] | undefined
  /** Conflicting changes that were merged into the base since the pull request was opened. */
  readonly moved?: readonly HeadConflict[] | undefined
  /** Who broke the base, if the errors are on it already. */
  readonly baseBreaks?: readonly BaseBreak[] | undefined
  /** Whether the repository wants a comment and suggestions. */
  readonly comment?: CommentPolicy | undefined
  readonly suggestions?: boolean | undefined
}

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
