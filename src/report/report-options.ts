import { checkIds, type CheckId } from '@catalog-bot/findings/checks'
import type { SuggestedFix, Finding } from '@catalog-bot/findings/finding'
import type { CommentPolicy } from '../config/config.ts'
import type { PullUrlParts } from './urls.ts'

export interface TracedFindingLine {
  readonly file: string
  /** In the merge result. */
  readonly line: number
  readonly side: 'head' | 'base'
  /** Line numbers in that commit. */
  readonly first: number
  readonly last: number
}

export interface SuggestedFixForFinding {
  /** See toFindingIdentityKey(). */
  readonly finding: string
  readonly fix: SuggestedFix
  /** The lines of the head to replace, all within the diff of the pull request. */
  readonly suggestion?: { readonly first: number; readonly last: number }
}

/** The lines around a finding, for pages. The text is untrusted. */
export interface SourceExcerpt {
  /** See toFindingIdentityKey(). */
  readonly finding: string
  /** The line number of the first line, in the merge result. */
  readonly first: number
  readonly lines: readonly string[]
}

export const checkNamePrefix = 'catalog-bot / '

export const botCheckNames: readonly string[] = toPrefixedCheckNames(checkIds)

export interface ReportedAnnotation {
  readonly path: string
  readonly startLine: number
  readonly endLine: number
  readonly level: 'failure' | 'warning' | 'notice'
  readonly title: string
  readonly message: string
}

export interface ReportedCheck {
  readonly name: string
  readonly status: 'queued' | 'in_progress' | 'completed'
  readonly conclusion?: 'success' | 'failure' | 'neutral' | 'action_required'
  readonly title: string
  readonly summary: string
  readonly annotations: readonly ReportedAnnotation[]
  /** If absent, GitHub links the App's page. */
  readonly detailsUrl?: string
}

/** `state`: the conclusion of a completed check, or the status of another one. */
export function createReportedCheck(
  id: string,
  state: NonNullable<ReportedCheck['conclusion']> | 'queued' | 'in_progress',
  title: string,
  summary: string,
  annotations: ReportedCheck['annotations'] = [],
): ReportedCheck {
  const status =
    state === 'queued' || state === 'in_progress'
      ? { status: state }
      : { status: 'completed' as const, conclusion: state }
  return { name: `${checkNamePrefix}${id}`, ...status, title, summary, annotations }
}

export interface FindingLinkOptions {
  /** The page of a rule is `<rulesUrl>/<id>.md`. If absent, rules are not linked. */
  readonly rulesUrl?: string | undefined
  /** If absent, nothing is linked. */
  readonly page?: PullUrlParts | undefined
  /** If absent, lines of the merge result are used. */
  readonly lines?: readonly TracedFindingLine[] | undefined
  readonly fixes?: readonly SuggestedFixForFinding[] | undefined
  /** catalog-bot's status page for the pull request. Absent if users cannot reach it. */
  readonly statusPage?: string | undefined
}

export interface PullReportOptions extends FindingLinkOptions {
  /** A line of Markdown made by summarize-change.ts. */
  readonly summary?: string | undefined
  /** Markdown lines made by describe-change.ts. */
  readonly changeLines: readonly string[]
  /** Markdown lines made by describe-commands.ts. */
  readonly commandLines?: readonly string[] | undefined
  /** Mermaid source of the changed upgrade graphs. */
  readonly graph?: string | undefined
  /** The id of the change, to which approvals apply. */
  readonly change?: string | undefined
  /** For a run that neither merges nor retries, such as the GitHub Action. */
  readonly isReportOnly?: boolean | undefined
  /** Markdown sentences made by evaluation-report.ts. */
  readonly meanwhile?: readonly string[] | undefined
  /** URLs of catalog-bot's check runs by name. Unknown ones link to the list of all check runs. */
  readonly runs?: ReadonlyMap<string, string> | undefined
  /** Default: always. */
  readonly comment?: CommentPolicy | undefined
  /** Default: no. */
  readonly suggestions?: boolean | undefined
  /** The merge commit. */
  readonly mergeCommit?: string | undefined
  /** Lines made by publish-check.ts. */
  readonly published?:
    { readonly state: 'published' | 'pending' | 'failed'; readonly lines: readonly string[] } | undefined
  /** The id of catalog-bot's internal error in the log. */
  readonly traceId?: string | undefined
}

export function toPrefixedCheckNames(ids: readonly CheckId[]): readonly string[] {
  return ids.map((id) => `${checkNamePrefix}${id}`)
}

export function toFindingIdentityKey({ rule, at, what }: Finding): string {
  return JSON.stringify([rule, at?.file, at?.line, at?.column, what])
}

/** Maps lines of the merge result, which GitHub never shows, to lines of the head, or of the base if the head lacks one. */
export function createTracedLineLookup(
  lines: readonly TracedFindingLine[] | undefined,
): (file: string, line: number) => TracedFindingLine | undefined {
  const known = new Map(lines?.map((traced) => [`${traced.line} ${traced.file}`, traced]))
  return (file, line) => known.get(`${line} ${file}`)
}
