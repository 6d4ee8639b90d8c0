// The data that a merged pull request's comment needs from the records: the verdict it was merged with, its images, and
// whether the merge is already reported.
import type { PullNumber, CommitSha } from '../pull-request/ids.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import { renderPullReport } from '../report/report.ts'
import type { MergeRecordStore } from '../ports/merge-records.ts'
import { type StateStore, defineStateNamespace } from '../ports/state.ts'
import type { VerdictStore } from '../ports/status-page-store.ts'
import type { ValidatedMerge } from '../policy/merge-permit.ts'
import type { EvaluationReport } from '../report/evaluation-report.ts'
import type { JobContext } from './job-context.ts'
import {
  publishPullReport,
  type PullReportComposer,
  type PublishPullReportOptions,
  formatStatusPageUrl,
} from './publish-report.ts'
import { z } from 'zod'
import { toPullRequestKey, type PullSnapshot } from '../pull-request/snapshot.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { Store } from '../ports/store.ts'

/** The commit, by pull request. If lost, it is evaluated once more. */
const announcedMergeCommitCache = defineCacheNamespace('told landing', 1, z.string())

/** The merging job asks within seconds. */
const announcedMergeTtlSeconds = 3600

const pullPublicationSchema = z.object({
  state: z.enum(['published', 'pending', 'failed']),
  lines: z.array(z.string()),
  /** False if the process may have died before it wrote the comment. */
  isShown: z.boolean(),
})

/** Whether the merge of a pull request has been published, for its comment and its page. */
export const pullPublicationStateNamespace = defineStateNamespace(
  'publication of a pull request',
  1,
  pullPublicationSchema,
)

/** The stored verdict, complete enough to render the report again. */
export interface StoredEvaluationReport extends EvaluationReport {
  readonly verdict: PullVerdict
}

/** Undefined if catalog-bot did not merge it or nothing is recorded. Rejects with a ForgeError. */
export async function republishMergedPullReport(
  pull: PullNumber,
  { app, forge }: JobContext<MergeRecordStore & VerdictStore & StateStore>,
  how: Pick<PublishPullReportOptions, 'present' | 'onMissing'> = {},
): Promise<ValidatedMerge | undefined> {
  const merge = await app.store.findMerge(forge.repository, pull)
  if (merge === undefined) return undefined
  const record = await app.store.verdictReport(forge.repository, pull, merge)
  const storedReport = record?.report as StoredEvaluationReport | undefined
  if (storedReport === undefined) return undefined
  const published = await app.store.readState(pullPublicationStateNamespace, forge.repository, String(pull))
  const { verdict, commandLines: _, ...reportDetails } = storedReport
  const page = { web: app.settings.gitUrl, repository: forge.repository, pull }
  const { rulesUrl } = app.settings
  const compose: PullReportComposer = (runs) =>
    renderPullReport(verdict, {
      ...reportDetails,
      page,
      runs,
      rulesUrl,
      statusPage: formatStatusPageUrl(app.settings, forge.repository, pull),
      mergeCommit: merge.commit,
      published,
    })
  await publishPullReport(forge, compose, pull, merge.head, { ...how, isHistory: true })
  return merge
}

export async function markMergeAnnounced(
  pull: PullNumber,
  commit: CommitSha,
  ctx: JobContext<Cache>,
): Promise<void> {
  await ctx.app.store.putCached(
    announcedMergeCommitCache,
    new Map([[toPullRequestKey(ctx.forge.repository, pull), commit]]),
    announcedMergeTtlSeconds,
  )
}

export async function wasMergeAnnounced(
  pull: PullNumber,
  commit: CommitSha,
  ctx: JobContext<Cache>,
): Promise<boolean> {
  const key = toPullRequestKey(ctx.forge.repository, pull)
  return (await ctx.app.store.getCached(announcedMergeCommitCache, [key])).get(key) === commit
}

export async function isPullMergedByBot(
  { repository, pull, head }: PullSnapshot,
  { app: { store } }: JobContext<Pick<Store, 'findMerge'>>,
): Promise<boolean> {
  return (await store.findMerge(repository, pull))?.head === head
}
