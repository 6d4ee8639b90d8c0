// Rebuilds a merged pull request's comment from the records: the verdict it was merged with, and its images.
import type { PullNumber } from '../pull-request/ids.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import { renderReport } from '../report/report.ts'
import type { MergeRecordStore } from '../ports/merge-records.ts'
import type { StateStore } from '../ports/state.ts'
import type { VerdictStore } from '../ports/page-records.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import type { EvaluationReport } from '../report/evaluation-report.ts'
import type { JobContext } from './job-context.ts'
import { publishReport, type ReportComposer, type PublishReportOptions } from './publish-report.ts'
import { formatStatusPageUrl } from './status-page-url.ts'
import { pullPublicationStateNamespace } from './pull-publication.ts'

/** The stored verdict, complete enough to render the report again. */
export interface StoredEvaluationReport extends EvaluationReport {
  readonly verdict: PullVerdict
}

/**
 * Returns undefined if the bot did not merge it or nothing is recorded. `how`: see publishReport(). Rejects with a
 * ForgeError.
 */
export async function republishMergedReport(
  pull: PullNumber,
  { app, forge }: JobContext<MergeRecordStore & VerdictStore & StateStore>,
  how: Pick<PublishReportOptions, 'present' | 'onMissing'> = {},
): Promise<ValidatedMerge | undefined> {
  const merge = await app.store.findMerge(forge.repository, pull)
  if (merge === undefined) return undefined
  const record = (await app.store.verdicts(forge.repository, pull)).find(
    (candidate) =>
      candidate.head === merge.head && candidate.base === merge.base && candidate.config === merge.config,
  )
  const storedReport = record?.report as StoredEvaluationReport | undefined
  if (storedReport === undefined) return undefined
  const published = await app.store.readState(pullPublicationStateNamespace, forge.repository, String(pull))
  const { verdict, commandLines: _, ...reportDetails } = storedReport
  const page = { web: app.settings.gitUrl, repository: forge.repository, pull }
  const { rulesUrl } = app.settings
  const compose: ReportComposer = (runs) =>
    renderReport(verdict, {
      ...reportDetails,
      page,
      runs,
      rulesUrl,
      statusPage: formatStatusPageUrl(app.settings, forge.repository, pull),
      landed: merge.commit,
      published,
    })
  await publishReport(forge, compose, pull, merge.head, { ...how, isHistory: true })
  return merge
}
