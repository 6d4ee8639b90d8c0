// Runs a job. Logs internal errors with a trace ID, and shows repeated ones on the pull request.
import { randomUUID } from 'node:crypto'
import { ForgeError } from '../../adapters/github/forge-error.ts'
import { isGitError } from '../../adapters/git/git-error.ts'
import type { WorkPriorityClass } from '../../adapters/github/budget/request-limits.ts'
import { type Cache, defineCacheNamespace } from '../../ports/cache.ts'
import type { Job, JobQueue, JobOfKind } from '../../ports/jobs.ts'
import type { Store } from '../../ports/store.ts'
import { noopTracing, type SpanAttributes } from '../../ports/tracing.ts'
import { evaluatePull } from './evaluate-pull.ts'
import { evaluateMergeGroups } from '../../merge/merge-group.ts'
import { publishCatalogs } from '../../publish/publish-catalogs.ts'
import { recordRateLimitWait } from '../../jobs/rate-limit-waits.ts'
import { runClusterTests } from '../../cluster-test/run-cluster-tests.ts'
import { publishPreview } from '../../publish/preview.ts'
import { runMergeBatch } from '../../merge/run-merge-batch.ts'
import { releaseBundles } from '../../release/release-bundles.ts'
import { scanRepositoryImages } from '../../image-scan/scan-repository.ts'
import { forgetSweptPull, sweepRepository } from './sweep.ts'
import { handlePush } from './handle-push.ts'
import type { AppServices, JobContext } from '../../jobs/job-context.ts'
import { z } from 'zod'
import { toPullRequestKey, toRepositoryKey } from '../../pull-request/snapshot.ts'
import type { MergeRecordStore } from '../../ports/merge-records.ts'
import type { StatusPageStore } from '../../ports/status-page-store.ts'

export interface JobRunnerOptions {
  readonly app: AppServices<JobQueue & Cache>
  /** Rejects with a ForgeError or GitError if the repository is unreachable. */
  readonly openJobContext: (
    job: Job,
    work: WorkPriorityClass,
    onSent: () => void,
  ) => Promise<JobContext<Store>>
  /** If absent, no job waits for an allowance. */
  readonly loadAllowance?: (job: Job) => Promise<JobRequestQuota>
  /** Rejects if GitHub does not answer. */
  readonly isInstalled: (job: Job) => Promise<boolean>
  readonly onDone: (
    job: Job,
    outcome: 'done' | 'postponed' | 'dropped' | 'failed',
    milliseconds: number,
  ) => void
}

/** Seconds until a job is retried after GitHub or git failed. */
const externalFailureRetrySeconds = 30

/** Rejects only with internal failures, so that the queue retries with back-off. */
export async function runJob(
  job: Job,
  { app, openJobContext, loadAllowance, isInstalled, onDone }: JobRunnerOptions,
): Promise<void> {
  const started = performance.now()
  const id = randomUUID()
  const log = app.log.child({ trace: id, ...job })
  const allowance = await loadAllowance?.(job)
  if (allowance !== undefined && allowance.waitSeconds > 0) {
    await app.store.enqueue(job, allowance.waitSeconds)
    onDone(job, 'postponed', performance.now() - started)
    log.info(
      { again: allowance.waitSeconds },
      'the job is postponed because it has used up its GitHub request allowance for the last hour',
    )
    return
  }
  let sent = 0
  const endBatch = job.kind === 'train' ? app.scheduler.startBatch() : undefined
  try {
    await (app.tracing ?? noopTracing).span(`job ${job.kind}`, toJobSpanAttributes(job, id), async () => {
      const work = allowance?.isBusy === true ? 'sweep' : getWorkPriorityClass(job.kind)
      const context = await openJobContext(job, work, () => (sent += 1))
      const handle = jobHandlers[job.kind] as (job: Job, context: JobContext<Store>) => Promise<void>
      await handle(job, context)
    })
    onDone(job, 'done', performance.now() - started)
    log.info({ milliseconds: Math.round(performance.now() - started) }, 'done')
  } catch (error) {
    await handleJobFailure(error, job, {
      app,
      log,
      isInstalled,
      onEnded: (outcome) => onDone(job, outcome, performance.now() - started),
    })
  } finally {
    endBatch?.()
    if (sent > 0)
      await allowance
        ?.charge(sent)
        .catch((failure: unknown) =>
          log.warn({ err: failure }, "GitHub requests could not be counted against the job's allowance"),
        )
  }
}

interface JobFailureContext extends Pick<JobRunnerOptions, 'app' | 'isInstalled'> {
  readonly log: AppServices<Store>['log']
  readonly onEnded: (outcome: Parameters<JobRunnerOptions['onDone']>[1]) => void
}

/** Drops or postpones the job, or rethrows internal failures. */
async function handleJobFailure(
  error: unknown,
  job: Job,
  { app, log, isInstalled, onEnded }: JobFailureContext,
): Promise<void> {
  const externalFailure = findExternalFailureRetryDelay(error)
  // These errors are typical of an uninstalled App. They can also be catalog-bot's fault, so GitHub is asked.
  if (
    externalFailure === undefined &&
    (error instanceof ForgeError || isGitError(error)) &&
    !(await isInstalled(job).catch(() => true))
  ) {
    // After a reinstallation, the next sweep enqueues it again.
    if (job.kind === 'pull') await forgetSweptPull(job, app.store)
    onEnded('dropped')
    log.info('the App is no longer installed on this repository; the job is dropped')
    return
  }
  onEnded(externalFailure === undefined ? 'failed' : 'postponed')
  if (externalFailure === undefined) {
    log.error({ err: error }, 'a job failed and will be retried')
    throw error
  }
  log.warn(
    { err: error, again: externalFailure.again },
    'GitHub, Git, or a registry did not respond; the job will be retried',
  )
  await app.store.enqueue(job, externalFailure.again)
  if (error instanceof ForgeError && error.code === 'rate-limited')
    await recordRateLimitWait(job, externalFailure.again, app.clock.now(), app.store).catch(
      (failure: unknown) =>
        log.debug({ err: failure }, 'the rate limit wait could not be recorded for the status pages'),
    )
}

/** Equals `trace` in the log. */
function toJobSpanAttributes(job: Job, id: string): SpanAttributes {
  return {
    'catalog_bot.trace': id,
    'catalog_bot.repository': `${job.repository.owner}/${job.repository.name}`,
    ...('pull' in job && { 'catalog_bot.pull': job.pull }),
    ...('branch' in job && { 'catalog_bot.branch': job.branch }),
  }
}

type JobHandlers = {
  readonly [Kind in Job['kind']]: (job: JobOfKind<Kind>, ctx: JobContext<Store>) => Promise<void>
}
const jobHandlers: JobHandlers = {
  pull: evaluatePull,
  branch: handlePush,
  group: evaluateMergeGroups,
  train: runMergeBatch,
  sweep: sweepRepository,
  scan: scanRepositoryImages,
  publish: publishCatalogs,
  release: releaseBundles,
  preview: publishPreview,
  trial: runClusterTests,
}

/** Returns the retry delay if GitHub or Git failed, not catalog-bot. */
function findExternalFailureRetryDelay(error: unknown): { again: number } | undefined {
  if (error instanceof ForgeError && error.retryable) return { again: error.retryAfter }
  if (isGitError(error) && (error.retryable || error.code === 'outcome-unknown'))
    return { again: error.code === 'outcome-unknown' ? 2 : externalFailureRetrySeconds }
  return undefined
}

const workPriorityClassByJobKind: Readonly<Record<Job['kind'], WorkPriorityClass>> = {
  train: 'landing',
  // GitHub's merge queue drops a group that gets no verdict.
  group: 'landing',
  pull: 'look',
  branch: 'look',
  publish: 'look',
  preview: 'look',
  trial: 'look',
  // People look at the pull request it opens, not at this job.
  release: 'sweep',
  sweep: 'sweep',
  scan: 'scan',
}

export const jobKinds = Object.keys(workPriorityClassByJobKind) as Job['kind'][]

/** Without a kind, a user is waiting for a page or a command. */
export const getWorkPriorityClass = (kind: Job['kind'] | undefined): WorkPriorityClass =>
  kind === undefined ? 'look' : workPriorityClassByJobKind[kind]

/** Requests that may be sent at once, and refilled per hour. */
type GitHubRequestQuota = readonly [burst: number, perHour: number]

/** Merging has no allowance: the pull request pays for the comments that cause it. */
export const requestQuotaByJobKind: Readonly<Partial<Record<Job['kind'], GitHubRequestQuota>>> = {
  pull: [120, 240],
  branch: [120, 480],
  sweep: [60, 480],
}
/** Shared by all pull requests of one author, which lose priority when it is exceeded, as a pull request does. */
const authorRequestQuota: GitHubRequestQuota = [400, 400]
const minGitHubRequestsForBusyJob = 40
/** Seconds between evaluations while GitHub may merge at any moment, so that a `/hold` takes effect. */
const queuedPullReevaluationSeconds = 10
const usedRequestQuotaSchema = z.object({ requests: z.number(), at: z.number() })
const usedRequestQuotaCache = defineCacheNamespace('used allowance', 1, usedRequestQuotaSchema)

type JobRequestQuota = Awaited<ReturnType<typeof loadJobRequestQuota>>

type RequestQuotaStore = Cache &
  Pick<StatusPageStore, 'findPullRecord'> &
  Pick<MergeRecordStore, 'listPendingMerges'>

/**
 * Undefined if the job needs none. `waitSeconds`: until it may start. `isBusy`: others have priority when little of
 * GitHub's limit remains. `sweepSeconds`: upper bound of the wait, since the sweep finds everything anyway.
 */
export async function loadJobRequestQuota(
  job: Job,
  store: RequestQuotaStore,
  { now, sweepSeconds }: { readonly now: () => number; readonly sweepSeconds: number },
) {
  const allowance = requestQuotaByJobKind[job.kind]
  if (allowance === undefined) return undefined
  const own =
    job.kind === 'pull'
      ? toPullRequestKey(job.repository, job.pull)
      : JSON.stringify({ ...job, installation: 0 })
  const author =
    job.kind === 'pull' ? (await store.findPullRecord(job.repository, job.pull))?.author : undefined
  const theirs =
    author === undefined ? undefined : `${toRepositoryKey(job.repository)} ${author.toLowerCase()}`
  const quotas = new Map([[own, allowance]])
  if (theirs !== undefined) quotas.set(theirs, authorRequestQuota)
  const readUsedRequests = async (): Promise<ReadonlyMap<string, number>> => {
    const known = await store.getCached(usedRequestQuotaCache, [...quotas.keys()])
    return new Map(
      [...quotas].map(([key, [, perHour]]) => {
        const { requests, at } = known.get(key) ?? { requests: 0, at: 0 }
        return [key, Math.max(0, requests - (Math.max(0, now() - at) / 3600_000) * perHour)]
      }),
    )
  }
  const used = await readUsedRequests()
  const before = used.get(own) ?? 0
  const [burst, perHour] = allowance
  const wait = before < burst ? 0 : Math.ceil(((before - burst + 1) * 3600) / perHour)
  const isQueued = async () =>
    job.kind === 'pull' &&
    (await store.listPendingMerges(job.repository)).some(({ pull }) => pull === job.pull)
  const maxWaitSeconds =
    job.kind === 'sweep'
      ? sweepSeconds
      : wait > queuedPullReevaluationSeconds && (await isQueued())
        ? queuedPullReevaluationSeconds
        : 3600
  return {
    waitSeconds: Math.min(wait, maxWaitSeconds),
    isBusy:
      job.kind === 'pull' &&
      (before >= minGitHubRequestsForBusyJob || (used.get(theirs ?? '') ?? 0) >= authorRequestQuota[0]),
    async charge(requests: number): Promise<void> {
      const at = now()
      const sums = [...(await readUsedRequests())].map(([key, sum]) => [key, sum + requests] as const)
      const values = new Map(sums.map(([key, sum]) => [key, { requests: sum, at }]))
      const slowestRefill = Math.min(...[...quotas.values()].map(([, refilled]) => refilled))
      const hours = Math.max(...sums.map(([, sum]) => sum)) / slowestRefill
      await store.putCached(usedRequestQuotaCache, values, Math.ceil(hours * 3600) + 1)
    },
  }
}
