// Prepares an examination's report in the look process, because a change of many packages is large to transfer.
import { changeAsMermaid } from '../../change/draw-change.ts'
import { changeAsMarkdown, describeChangeLines } from '../../messages/describe-change.ts'
import { becomingChange, describeBecoming } from '../../messages/describe-becoming.ts'
import { describeCommands } from '../../messages/describe-commands.ts'
import type { MovedHead } from '../../messages/describe-meanwhile.ts'
import { summariseChange } from '../../messages/summarise-change.ts'
import type { ToldFix, TracedLine } from '../../messages/traced-line.ts'
import type { CommentPolicy } from '../../config/config.ts'
import type { Repository } from '../../ports/repository.ts'
import type { Examination } from '../examine.ts'
import { traceFindings } from '../trace-findings.ts'
import { whatMoved } from '../what-moved.ts'

export interface Told {
  /** One sentence of Markdown. */
  readonly summary?: string | undefined
  readonly changeLines: readonly string[]
  readonly commandLines: readonly string[]
  readonly graph?: string | undefined
  readonly change?: string | undefined
  /** Absent: not traced. */
  readonly lines?: readonly TracedLine[] | undefined
  readonly fixes?: readonly ToldFix[] | undefined
  /** Conflicting changes that reached the base meanwhile. */
  readonly moved?: readonly MovedHead[] | undefined
  /** Whether the repository wants a comment and suggestions. */
  readonly comment?: CommentPolicy | undefined
  readonly suggestions?: boolean | undefined
}

/** Rejects with a GitError. */
export async function whatToTell(
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
    Examination,
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
  repository: Repository,
): Promise<Told> {
  const findings = verdict.outcomes.flatMap((outcome) => outcome.findings)
  const commits = verdict.result && { head: verdict.head, base: verdict.base, result: verdict.result.tree }
  const traced = commits && (await traceFindings(findings, commits, repository))
  const moved = await whatMoved(findings, verdict, repository)
  return {
    summary: summariseChange(change),
    changeLines:
      change.paths.length === 0
        ? []
        : changeAsMarkdown([...describeChangeLines(change), ...describeBecoming(becoming)]),
    commandLines: describeCommands(records, snapshot.head, epoch, isYesToThis),
    graph: changeAsMermaid(change) ?? changeAsMermaid(becomingChange(becoming)),
    change: described?.id,
    ...traced,
    ...(moved.length > 0 && { moved }),
    comment: config.comment,
    suggestions: config.suggestions,
  }
}
