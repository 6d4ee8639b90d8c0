// Maintains one issue about merged catalogs that are not published, and closes it when none is left.
import { createHash } from 'node:crypto'
import { ForgeError } from '../adapters/github/forge-error.ts'
import {
  renderPublishIssue,
  publishIssueClosingComment,
  renderPublishIssueResolved,
  publishIssueMarker,
  type PublishFailureView,
} from '../report/publish-issue.ts'
import type { JobContext } from '../jobs/job-context.ts'
import type { ShownPublications } from './publication-state.ts'

type PublishIssueState = ShownPublications['issue']

/** Rejects with a retryable ForgeError; a rejection is logged. */
export async function updatePublishIssue(
  failures: readonly PublishFailureView[],
  known: PublishIssueState,
  { app, forge }: JobContext,
  saveIssue: (issue: PublishIssueState) => Promise<void>,
): Promise<void> {
  const wanted = failures.length === 0 ? undefined : renderPublishIssue(failures)
  if (wanted === undefined && known === undefined) return
  const digest = createHash('sha256')
    .update(JSON.stringify(wanted ?? renderPublishIssueResolved()))
    .digest('hex')
  if (known?.digest === digest) return
  try {
    // Recorded first: after a crash, an issue may exist.
    await saveIssue({ ...known, digest: '' })
    const issue = await forge.findOwnIssue(publishIssueMarker, known?.number)
    let number = issue?.number
    if (wanted === undefined) {
      if (issue?.state === 'open') {
        const marker = `<!-- catalog-bot:published-again ${createHash('sha256').update(issue.body).digest('hex').slice(0, 16)} -->`
        await forge.perform({
          kind: 'say-on-issue',
          issue: issue.number,
          marker,
          body: publishIssueClosingComment,
        })
        await forge.perform({
          kind: 'edit-issue',
          issue: issue.number,
          ...renderPublishIssueResolved(),
          state: 'closed',
        })
      }
    } else if (issue === undefined) number = (await forge.perform({ kind: 'open-issue', ...wanted })).issue
    // Reopen a closed issue: users still do not get the merged catalog.
    else if (issue.body !== wanted.body || issue.state !== 'open')
      await forge.perform({ kind: 'edit-issue', issue: issue.number, ...wanted, state: 'open' })
    await saveIssue({ ...(number !== undefined && { number }), digest })
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    await saveIssue({ ...known, digest })
    app.log.warn(
      { err: error, failures: failures.length },
      'GitHub rejected the issue about unpublished catalogs because issues are disabled or the App lacks the "issues: write" permission',
    )
  }
}
