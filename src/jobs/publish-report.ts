// Publishes a report on GitHub as desired minus observed, so that repeating it changes nothing.
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { CommitSha, PullNumber } from '../pull-request/ids.ts'
import type { PullReport } from '../report/report.ts'
import type { ReportedCheck } from '../report/report-options.ts'
import type { CheckRunContent, Forge, BotCommentAndCheckRuns, ObservedBotComment } from '../ports/forge.ts'
import { type RepositoryName, type PullSnapshot, toPullRequestKey } from '../pull-request/snapshot.ts'
import { formatPullPageUrl } from '../report/urls.ts'
import type { BotSettings } from './settings.ts'
import { defineCacheNamespace, type Cache, type CacheNamespace } from '../ports/cache.ts'
import type { JobContext } from './job-context.ts'

export const pullHeadTimerStartSchema = z.object({ head: z.string(), since: z.number() })

const pullHeadTimerTtlSeconds = 24 * 3600

/**
 * Seconds to wait for the merge, about the time for a queue of a hundred. Check runs appear at once. An outdated
 * comment is replaced sooner.
 */
const commentDelaySeconds = { first: 120, edit: 30 } as const

/** If lost, the report is delayed again. */
const measureMsSinceReadyToMerge = createPullHeadTimer(
  defineCacheNamespace('ready since', 1, pullHeadTimerStartSchema),
)

/** Composes a report from the known URLs of the App's check runs. The check runs do not depend on them. */
export type PullReportComposer = (runs: ReadonlyMap<string, string>) => PullReport

export interface PublishPullReportOptions {
  /** Our comment and check runs as last read. If absent or of another head, they are read. */
  readonly present?: BotCommentAndCheckRuns | undefined
  /** Publishes only check runs; the rest follows later and may differ by then. */
  readonly isRestLater?: boolean
  /** Check runs with the same conclusion are left unchanged. */
  readonly isHistory?: boolean
  /** Called instead of creating a comment, when another job may create it at the same time. */
  readonly onMissing?: (() => Promise<void>) | undefined
}

/** Returns GitHub's time at which the comment got its current content. Rejects with a ForgeError. */
export async function publishPullReport(
  forge: Forge,
  compose: PullReportComposer,
  pull: PullNumber,
  head: CommitSha,
  { present: lastRead, isRestLater = false, isHistory = false, onMissing }: PublishPullReportOptions = {},
): Promise<string | undefined> {
  const present = lastRead?.head === head ? lastRead : await forge.readOwnReports(pull, head)
  const runs = new Map<string, string>()
  for (const { name, url } of present.checks) if (url !== undefined && !runs.has(name)) runs.set(name, url)
  const missing = findMissingCheckRuns(compose(runs).checks.map(addCheckRunDigest), present.checks).filter(
    ({ name, conclusion }) =>
      !isHistory ||
      conclusion === undefined ||
      !present.checks.some((one) => one.name === name && one.conclusion === conclusion),
  )
  if (missing.length > 0) {
    const { checks } = present
    const { urls } = await forge.perform({ kind: 'put-checks', head, runs: missing, present: checks })
    for (const [name, url] of urls ?? []) runs.set(name, url)
  }
  if (isRestLater) return undefined
  const report = compose(runs)
  const shownAt = await publishReportComment(forge, report, present, pull, onMissing)
  if (report.suggestions !== undefined)
    await forge.perform({ kind: 'put-suggestions', pull, head, suggestions: report.suggestions })
  return shownAt
}

/** Returns undefined if the comment does not show this, or if that is unknown. */
async function publishReportComment(
  forge: Forge,
  { comment: body, commentAction }: PullReport,
  present: ObservedBotComment,
  pull: PullNumber,
  onMissing: PublishPullReportOptions['onMissing'],
): Promise<string | undefined> {
  const { comment: shown, duplicates } = present
  if (shown?.body === body && duplicates === undefined) return shown.updatedAt
  if (commentAction === 'none' || (commentAction === 'update' && shown === undefined)) return undefined
  if (shown === undefined && onMissing !== undefined) {
    await onMissing()
    return undefined
  }
  return (await forge.perform({ kind: 'put-comment', pull, body, present })).updatedAt
}

/** Adds the digest that identifies its content later. */
export function addCheckRunDigest(check: ReportedCheck): CheckRunContent {
  return { ...check, digest: createHash('sha256').update(JSON.stringify(check)).digest('hex').slice(0, 20) }
}

/** The check runs in `runs` that are not in `present` with the same content. */
function findMissingCheckRuns(
  runs: readonly CheckRunContent[],
  present: readonly Pick<CheckRunContent, 'name' | 'digest'>[],
): readonly CheckRunContent[] {
  const shown = new Map(present.map(({ name, digest }) => [name, digest]))
  return runs.filter(({ name, digest }) => shown.get(name) !== digest)
}

/** Rejects with a ForgeError. */
export async function publishMissingCheckRuns(
  forge: Forge,
  head: CommitSha,
  runs: readonly CheckRunContent[],
): Promise<void> {
  const present = await forge.readOwnChecks(head)
  const missing = findMissingCheckRuns(runs, present)
  if (missing.length > 0) await forge.perform({ kind: 'put-checks', head, runs: missing, present })
}

export function formatStatusPageUrl(
  { pages, publicUrl }: Pick<BotSettings, 'pages' | 'publicUrl'>,
  repository: RepositoryName,
  pull: PullNumber,
): string | undefined {
  return pages === 'off' || publicUrl === undefined
    ? undefined
    : `${publicUrl}${formatPullPageUrl(repository, pull)}`
}

/**
 * Delays the ready report. Most pull requests merge within seconds, so one comment about the merge saves an email and
 * a GitHub write. Returns 0 if the report is due.
 */
export async function resolveCommentDelaySeconds(
  snapshot: PullSnapshot,
  ctx: JobContext<Cache>,
  writeKind: keyof typeof commentDelaySeconds,
): Promise<number> {
  const ready = await measureMsSinceReadyToMerge(snapshot, ctx)
  return Math.max(0, Math.ceil(commentDelaySeconds[writeKind] - ready / 1000))
}

/** Entries of a separate cache space. If lost, the time starts over. */
export function createPullHeadTimer(space: CacheNamespace<z.infer<typeof pullHeadTimerStartSchema>>) {
  /** Milliseconds since the first call for this head; 0 on that call. */
  return async (
    { repository, pull, head }: PullSnapshot,
    { app: { store, clock } }: JobContext<Cache>,
  ): Promise<number> => {
    const key = toPullRequestKey(repository, pull)
    const now = clock.now()
    const known = (await store.getCached(space, [key])).get(key)
    if (known?.head === head) return now - known.since
    await store.putCached(space, new Map([[key, { head, since: now }]]), pullHeadTimerTtlSeconds)
    return 0
  }
}
