// Maintains one issue about merged catalogs that are not published, and closes it when none is left.
import { createHash } from 'node:crypto'
import { ForgeError } from '../../../github/forge-error.ts'
import {
  publishIssue,
  publishIssueClosing,
  publishIssueDone,
  publishIssueMarker,
  type ToldFailure,
} from '../../../messages/publish-issue.ts'
import type { JobContext } from '../job-context.ts'
import type { ShownPublications } from './publication-state.ts'

type ShownIssue = ShownPublications['issue']

/** Rejects with a retryable ForgeError; a rejection is logged. */
export async function showPublishIssue(
  failures: readonly ToldFailure[],
  known: ShownIssue,
  { app, forge }: JobContext,
  remember: (issue: ShownIssue) => Promise<void>,
): Promise<void> {
  const wanted = failures.length === 0 ? undefined : publishIssue(failures)
  if (wanted === undefined && known === undefined) return
  const digest = createHash('sha256')
    .update(JSON.stringify(wanted ?? publishIssueDone()))
    .digest('hex')
  if (known?.digest === digest) return
  try {
    // Recorded first: after a crash, an issue may exist.
    await remember({ ...known, digest: '' })
    const issue = await forge.ownIssue(publishIssueMarker, known?.number)
    let number = issue?.number
    if (wanted === undefined) {
      if (issue?.state === 'open') {
        const marker = `<!-- catalog-bot:published-again ${createHash('sha256').update(issue.body).digest('hex').slice(0, 16)} -->`
        await forge.perform({
          kind: 'say-on-issue',
          issue: issue.number,
          marker,
          body: publishIssueClosing,
        })
        await forge.perform({
          kind: 'edit-issue',
          issue: issue.number,
          ...publishIssueDone(),
          state: 'closed',
        })
      }
    } else if (issue === undefined) number = (await forge.perform({ kind: 'open-issue', ...wanted })).issue
    // Reopen a closed issue: users still do not get the merged catalog.
    else if (issue.body !== wanted.body || issue.state !== 'open')
      await forge.perform({ kind: 'edit-issue', issue: issue.number, ...wanted, state: 'open' })
    await remember({ ...(number !== undefined && { number }), digest })
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    await remember({ ...known, digest })
    app.log.warn(
      { err: error, failures: failures.length },
      'GitHub refused the issue about catalogs that are not published: issues are disabled, or the App lacks "issues: write"',
    )
  }
}
