import type { CommentPolicy } from '../config/config.ts'
import type { PullUrlParts } from './github-urls.ts'
import type { FixView, TracedLine } from './traced-line.ts'

export interface FindingLinkOptions {
  /** A rule's page is `<rulesUrl>/<id>.md`. Without it rules are named but not linked. */
  readonly rulesUrl?: string | undefined
  /** Absent: nothing is linked. */
  readonly page?: PullUrlParts | undefined
  /** Absent: lines of the merge result are used. */
  readonly lines?: readonly TracedLine[] | undefined
  readonly fixes?: readonly FixView[] | undefined
  /** The bot's page about the pull request. Absent where people cannot reach one. */
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
  /** The change's id, to which approvals bind. */
  readonly change?: string | undefined
  /** Markdown sentences made by describe-head-conflict.ts. */
  readonly meanwhile?: readonly string[] | undefined
  /** URLs of our check runs by name; unknown ones link to the list of all. */
  readonly runs?: ReadonlyMap<string, string> | undefined
  /** Absent: always. */
  readonly comment?: CommentPolicy | undefined
  /** Absent: no. */
  readonly suggestions?: boolean | undefined
  /** The merge commit. */
  readonly landed?: string | undefined
  /** Lines made by publish-check.ts. */
  readonly published?:
    { readonly state: 'published' | 'pending' | 'failed'; readonly lines: readonly string[] } | undefined
  /** The log's id for our own failure. */
  readonly traceId?: string | undefined
}
