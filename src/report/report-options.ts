import { checkIds, type CheckId } from '@catalog-bot/findings/checks'
import type { CommentPolicy } from '../config/config.ts'
import type { PullUrlParts } from './urls.ts'
import type { SuggestedFixForFinding, TracedFindingLine } from './traced-line.ts'

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

export interface FindingLinkOptions {
  /** The page of a rule is `<rulesUrl>/<id>.md`. If absent, rules are not linked. */
  readonly rulesUrl?: string | undefined
  /** If absent, nothing is linked. */
  readonly page?: PullUrlParts | undefined
  /** If absent, lines of the merge result are used. */
  readonly lines?: readonly TracedFindingLine[] | undefined
  readonly fixes?: readonly SuggestedFixForFinding[] | undefined
  /** catalog-bot's status page for the pull request. Absent if people cannot reach it. */
  readonly statusPage?: string | undefined
}

export interface ReportOptions extends FindingLinkOptions {
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
  /** Markdown sentences made by describe-head-conflict.ts. */
  readonly meanwhile?: readonly string[] | undefined
  /** URLs of catalog-bot's check runs by name. Unknown ones link to the list of all check runs. */
  readonly runs?: ReadonlyMap<string, string> | undefined
  /** Default: always. */
  readonly comment?: CommentPolicy | undefined
  /** Default: no. */
  readonly suggestions?: boolean | undefined
  /** The merge commit. */
  readonly landed?: string | undefined
  /** Lines made by publish-check.ts. */
  readonly published?:
    { readonly state: 'published' | 'pending' | 'failed'; readonly lines: readonly string[] } | undefined
  /** The id of catalog-bot's internal error in the log. */
  readonly traceId?: string | undefined
}

export function toPrefixedCheckNames(ids: readonly CheckId[]): readonly string[] {
  return ids.map((id) => `${checkNamePrefix}${id}`)
}
