// Records which jobs wait for GitHub's rate limit, so that pages can say so while GitHub cannot be written to.
import { z } from 'zod'
import { type RepositoryName, toRepositoryKey } from '../pull-request/snapshot.ts'
import type { PullNumber } from '../pull-request/ids.ts'
import { defineCacheNamespace, type Cache } from '../ports/cache.ts'
import type { Job } from '../ports/jobs.ts'

const rateLimitWaitSchema = z.object({ since: z.number(), until: z.number() })

/** Milliseconds since the epoch. */
export type RateLimitWait = Readonly<z.infer<typeof rateLimitWaitSchema>>

const rateLimitWaitCache = defineCacheNamespace('waits for the limit', 1, rateLimitWaitSchema)

function toRateLimitWaitKey(job: Job): string {
  const rest = 'pull' in job ? ` ${job.pull}` : 'branch' in job ? ` ${job.branch}` : ''
  return `${toRepositoryKey(job.repository)} ${job.kind}${rest}`
}

/** Includes pull requests that were never evaluated. */
const toAllPullsRateLimitWaitKey = (repository: RepositoryName) => `${toRepositoryKey(repository)} any pull`

/** `seconds` until the job is retried. */
export async function recordRateLimitWait(
  job: Job,
  seconds: number,
  now: number,
  store: Cache,
): Promise<void> {
  const wait = { since: now, until: now + seconds * 1000 }
  const keys =
    job.kind === 'pull'
      ? [toRateLimitWaitKey(job), toAllPullsRateLimitWaitKey(job.repository)]
      : [toRateLimitWaitKey(job)]
  await store.putCached(rateLimitWaitCache, new Map(keys.map((key) => [key, wait])), seconds)
}

export async function readRateLimitedPulls(
  repository: RepositoryName,
  pulls: readonly PullNumber[],
  store: Cache,
): Promise<ReadonlyMap<PullNumber, RateLimitWait>> {
  const keys = pulls.map(
    (pull) => [toRateLimitWaitKey({ kind: 'pull', installation: 0, repository, pull }), pull] as const,
  )
  const found = await store.getCached(
    rateLimitWaitCache,
    keys.map(([key]) => key),
  )
  return new Map(
    keys.flatMap(([key, pull]) => {
      const wait = found.get(key)
      return wait === undefined ? [] : [[pull, wait] as const]
    }),
  )
}

export async function readRateLimitedJobs(
  repository: RepositoryName,
  branches: readonly string[],
  store: Cache,
): Promise<readonly { readonly kind: 'train' | 'pull' | 'sweep' | 'scan'; readonly until: number }[]> {
  const about = { installation: 0, repository }
  const keys = [
    ...branches.map((branch) => ['train', toRateLimitWaitKey({ kind: 'train', ...about, branch })] as const),
    ['pull', toAllPullsRateLimitWaitKey(repository)] as const,
    ...(['sweep', 'scan'] as const).map((kind) => [kind, toRateLimitWaitKey({ kind, ...about })] as const),
  ]
  const found = await store.getCached(
    rateLimitWaitCache,
    keys.map(([, key]) => key),
  )
  return keys.flatMap(([kind, key]) => {
    const wait = found.get(key)
    return wait === undefined ? [] : [{ kind, until: wait.until }]
  })
}
