// Lists missing images in one issue as desired minus observed. The issue is remembered, or found again by marker and
// author. If GitHub rejects it, nothing else fails.
import { createHash } from 'node:crypto'
import { missingImagesStep, type WantedIssue } from '../../checks/images/missing-images-step.ts'
import { missingImageKey } from '../../checks/images/missing-images.ts'
import { ForgeError } from '../../github/forge-error.ts'
import {
  missingImagesIssue,
  missingImagesDone,
  missingImagesClosing,
  missingImagesMarker,
  shownReference,
  type MissingImagesOptions,
  type MissingReference,
} from '../../messages/missing-images-issue.ts'
import type { OwnIssue } from '../../ports/forge.ts'
import type { ReportState } from './scan-state.ts'
import type { JobContext } from './job-context.ts'

/**
 * Updates the issue. `remember` is called before and after each write to GitHub; the last state counts. Rejects with a
 * retryable ForgeError; a rejection is logged and counted.
 */
export async function reportMissingImages(
  missing: readonly MissingReference[],
  options: MissingImagesOptions,
  known: ReportState | undefined,
  place: JobContext,
  remember: (report: ReportState) => Promise<void>,
): Promise<void> {
  const { app, forge } = place
  if (missing.length === 0 && known === undefined) return
  const wanted = missing.length === 0 ? undefined : missingImagesIssue(missing, options)
  const digest = digestOf(wanted ?? missingImagesDone())
  if (known?.digest === digest) return
  try {
    // Recorded first: after a crash, an issue may exist.
    if (known === undefined) await remember({ digest: '', told: [] })
    const issue = await forge.ownIssue(missingImagesMarker, known?.issue)
    const keys = missing.map((one) => missingImageKey(one.reference, one))
    const told = new Set(known?.told)
    const hasNews =
      known === undefined || known.digest === ''
        ? missing.some(
            (one) =>
              !told.has(missingImageKey(one.reference, one)) &&
              issue?.body.includes(shownReference(one.reference)) !== true,
          )
        : keys.some((key) => !told.has(key))
    const step = missingImagesStep(issue, wanted, hasNews)
    const number = await take(step, issue, wanted, place)
    // Images that are back are dropped, so that they are reported again if they disappear.
    await remember({ ...(number !== undefined && { issue: number }), digest, told: keys })
    if (step !== 'nothing') app.metrics.missingImageReports.inc({ outcome: outcomes[step] })
    app.log.info(
      { repository: forge.repository, issue: number, step, missing: missing.length },
      'missing images reported',
    )
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.metrics.missingImageReports.inc({ outcome: 'refused' })
    app.log.warn(
      { err: error, repository: forge.repository, missing: missing.length },
      'GitHub refused the issue about missing images: issues are disabled, or the App lacks the permission "issues: write"',
    )
  }
}

const outcomes = { open: 'opened', edit: 'edited', close: 'closed', reopen: 'reopened' } as const

/** Returns the issue's number, or undefined if there is none. */
async function take(
  step: ReturnType<typeof missingImagesStep>,
  issue: OwnIssue | undefined,
  wanted: WantedIssue | undefined,
  { forge }: JobContext,
): Promise<number | undefined> {
  if (step === 'open' && wanted !== undefined)
    return (await forge.perform({ kind: 'open-issue', ...wanted })).issue
  if (issue === undefined) return undefined
  const { number } = issue
  if (step === 'close') {
    // Comment before closing, once per issue content, so that the reason appears above the closing event.
    const marker = `<!-- catalog-bot:images-are-back ${digestOf(issue).slice(0, 16)} -->`
    await forge.perform({ kind: 'say-on-issue', issue: number, marker, body: missingImagesClosing })
    await forge.perform({ kind: 'edit-issue', issue: number, ...missingImagesDone(), state: 'closed' })
  } else if (wanted !== undefined && (step === 'edit' || step === 'reopen'))
    await forge.perform({
      kind: 'edit-issue',
      issue: number,
      ...wanted,
      ...(step === 'reopen' && { state: 'open' as const }),
    })
  return number
}

function digestOf({ title, body }: WantedIssue): string {
  return createHash('sha256').update(`${title}\n${body}`).digest('hex')
}
