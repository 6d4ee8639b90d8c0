// Limits the GitHub requests that deliveries about one pull request, branch or repository can cost. A job charges its
// requests to an allowance that refills over time. If it is used up, the job waits in the queue and later deliveries
// join it.
import { z } from 'zod'
import { toPullRequestKey, toRepositoryKey } from '../../pull-request/snapshot.ts'
import { defineCacheNamespace, type Cache } from '../../ports/cache.ts'
import type { Job } from '../../ports/jobs.ts'
import type { MergeRecordStore } from '../../ports/merge-records.ts'
import type { StatusPageStore } from '../../ports/status-page-store.ts'
import type { WorkPriorityClass } from '../../adapters/github/budget/request-limits.ts'

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
const usedRequestQuotaCache = defineCacheNamespace<z.infer<typeof usedRequestQuotaSchema>>('used allowance', {
  version: 1,
  read: (stored) => usedRequestQuotaSchema.safeParse(stored).data,
})

export type JobRequestQuota = Awaited<ReturnType<typeof loadJobRequestQuota>>

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
  const readUsedRequests = async (
    key: string | undefined,
    [, perHour]: GitHubRequestQuota,
  ): Promise<number> => {
    const known =
      key === undefined ? undefined : (await store.getCached(usedRequestQuotaCache, [key])).get(key)
    return known === undefined
      ? 0
      : Math.max(0, known.requests - (Math.max(0, now() - known.at) / 3600_000) * perHour)
  }
  const before = await readUsedRequests(own, allowance)
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
      (before >= minGitHubRequestsForBusyJob ||
        (await readUsedRequests(theirs, authorRequestQuota)) >= authorRequestQuota[0]),
    async charge(requests: number): Promise<void> {
      for (const [key, rate] of [
        [own, allowance],
        [theirs, authorRequestQuota],
      ] as const) {
        if (key === undefined) continue
        const sum = (await readUsedRequests(key, rate)) + requests
        const value = new Map([[key, { requests: sum, at: now() }]])
        await store.putCached(usedRequestQuotaCache, value, Math.ceil((sum * 3600) / rate[1]) + 1)
      }
    },
  }
}
