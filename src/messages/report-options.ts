// What a report is made of besides its verdict.
import type { CommentPolicy } from '../config/config.ts'
import type { PullPage } from './links.ts'
import type { ToldFix, TracedLine } from './traced-line.ts'

/** Where what a report names is read in full. */
export interface PlacedReport {
  /** Address of the rules' pages; a rule's page is `<rulesUrl>/<id>.md`. Without it rules are named but not linked. */
  readonly rulesUrl?: string | undefined
  /** Where the pull request is seen. Absent: nothing is linked. */
  readonly page?: PullPage | undefined
  /** Where the findings' lines stand on GitHub. Absent: where they stand in the result. */
  readonly lines?: readonly TracedLine[] | undefined
  readonly fixes?: readonly ToldFix[] | undefined
  /** Address of the bot's own page on the pull request. Absent: there is none that people can reach. */
  readonly statusPage?: string | undefined
}

export interface ReportOptions extends PlacedReport {
  /** What the change means for users, a line of Markdown (made by summarise-change.ts). */
  readonly summary?: string | undefined
  /** What the pull request changes, a Markdown line each (made by describe-change.ts). */
  readonly changeLines: readonly string[]
  /** What became of people's commands, a Markdown line each (made by describe-commands.ts). */
  readonly commandLines?: readonly string[] | undefined
  /** Mermaid source of the changed upgrade graphs, if there is something to see. */
  readonly graph?: string | undefined
  /** The id of what the change does: approvals bind to it, so another change is another comment. */
  readonly change?: string | undefined
  /** What others merged meanwhile that matters here, a sentence of Markdown each (made by describe-meanwhile.ts). */
  readonly meanwhile?: readonly string[] | undefined
  /** The addresses of our check runs on the head, by name; those that are not known yet lead to the list of all. */
  readonly runs?: ReadonlyMap<string, string> | undefined
  /** When the repository wants a comment. Absent: always. */
  readonly comment?: CommentPolicy | undefined
  /** Whether it wants fixes as suggestions, too. Absent: no. */
  readonly suggestions?: boolean | undefined
  /** The commit as which the pull request was merged. */
  readonly landed?: string | undefined
  /** What became of the images of a merged pull request's catalogs: lines made by publish-check.ts. */
  readonly published?:
    { readonly state: 'published' | 'pending' | 'failed'; readonly lines: readonly string[] } | undefined
  /** Our own failure, with the id under which the log has it. */
  readonly traceId?: string | undefined
}
