// Lists missing images in one issue as desired minus observed. The issue is remembered, or found again by marker and
// author. If GitHub rejects it, nothing else fails.
import { createHash } from 'node:crypto'
import {
  toImageScanFailureKey,
  decideMissingImagesIssueAction,
  type DesiredIssue,
} from '../checks/images/missing-images.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import {
  renderMissingImagesIssue,
  renderMissingImagesResolved,
  missingImagesClosingComment,
  missingImagesMarker,
  formatImageReferenceAsCode,
  type MissingImagesOptions,
  type MissingImageReference,
} from '../report/missing-images-issue.ts'
import type { BotIssue } from '../ports/forge.ts'
import type { MissingImagesReportState } from './scan-state.ts'
import type { JobContext } from '../jobs/job-context.ts'

/**
 * Updates the issue. `saveReportState` is called before and after each write to GitHub; the last state counts. Rejects with a
 * retryable ForgeError; a rejection is logged and counted.
 */
export async function reportMissingImages(
  missing: readonly MissingImageReference[],
  options: MissingImagesOptions,
  known: MissingImagesReportState | undefined,
  ctx: JobContext,
  saveReportState: (report: MissingImagesReportState) => Promise<void>,
): Promise<void> {
  const { app, forge } = ctx
  if (missing.length === 0 && known === undefined) return
  const wanted = missing.length === 0 ? undefined : renderMissingImagesIssue(missing, options)
  const digest = computeIssueDigest(wanted ?? renderMissingImagesResolved())
  if (known?.digest === digest) return
  try {
    // Recorded first: after a crash, an issue may exist.
    if (known === undefined) await saveReportState({ digest: '', told: [] })
    const issue = await forge.findOwnIssue(missingImagesMarker, known?.issue)
    const keys = missing.map((one) => toImageScanFailureKey(one.reference, one))
    const reportedKeys = new Set(known?.told)
    const hasNews =
      known === undefined || known.digest === ''
        ? missing.some(
            (one) =>
              !reportedKeys.has(toImageScanFailureKey(one.reference, one)) &&
              issue?.body.includes(formatImageReferenceAsCode(one.reference)) !== true,
          )
        : keys.some((key) => !reportedKeys.has(key))
    const step = decideMissingImagesIssueAction(issue, wanted, hasNews)
    const number = await executeIssueAction(step, issue, wanted, ctx)
    // Images that are back are dropped, so that they are reported again if they disappear.
    await saveReportState({ ...(number !== undefined && { issue: number }), digest, told: keys })
    if (step !== 'nothing') app.metrics.missingImageReports.inc({ outcome: pastTenseByIssueAction[step] })
    app.log.info(
      { repository: forge.repository, issue: number, step, missing: missing.length },
      'missing images reported',
    )
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.metrics.missingImageReports.inc({ outcome: 'refused' })
    app.log.warn(
      { err: error, repository: forge.repository, missing: missing.length },
      'GitHub rejected the issue about missing images because issues are disabled or the App lacks the "issues: write" permission',
    )
  }
}

const pastTenseByIssueAction = {
  open: 'opened',
  edit: 'edited',
  close: 'closed',
  reopen: 'reopened',
} as const

/** Returns the issue's number, or undefined if no issue exists. */
async function executeIssueAction(
  step: ReturnType<typeof decideMissingImagesIssueAction>,
  issue: BotIssue | undefined,
  wanted: DesiredIssue | undefined,
  { forge }: JobContext,
): Promise<number | undefined> {
  if (step === 'open' && wanted !== undefined)
    return (await forge.perform({ kind: 'open-issue', ...wanted })).issue
  if (issue === undefined) return undefined
  const { number } = issue
  if (step === 'close') {
    // Comment before closing, once per issue content, so that the reason appears above the closing event.
    const marker = `<!-- catalog-bot:images-are-back ${computeIssueDigest(issue).slice(0, 16)} -->`
    await forge.perform({ kind: 'say-on-issue', issue: number, marker, body: missingImagesClosingComment })
    await forge.perform({
      kind: 'edit-issue',
      issue: number,
      ...renderMissingImagesResolved(),
      state: 'closed',
    })
  } else if (wanted !== undefined && (step === 'edit' || step === 'reopen'))
    await forge.perform({
      kind: 'edit-issue',
      issue: number,
      ...wanted,
      ...(step === 'reopen' && { state: 'open' as const }),
    })
  return number
}

function computeIssueDigest({ title, body }: DesiredIssue): string {
  return createHash('sha256').update(`${title}\n${body}`).digest('hex')
}
