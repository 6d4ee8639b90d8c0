// Bounds what deliveries about one pull request, branch or repository can cost of GitHub's hour, however many there are. A job
// charges the requests that it sent to its allowance, which refills with time. While that is used up, the job waits in the queue
// and sends nothing, and deliveries that come meanwhile join it.
import { z } from 'zod'
import { pullKey, repositoryKey } from '../../change/repository-key.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import type { Job } from '../../ports/jobs.ts'
import type { Landings } from '../../ports/landings.ts'
import type { PageRecords } from '../../ports/page-records.ts'

/** Requests that may be sent at once, and by how many of them it refills in an hour. */
type Allowance = readonly [burst: number, perHour: number]

/** Of the jobs that deliveries cause. Merging has none: what follows from a comment costs its pull request's allowance first. */
export const allowances: Readonly<Partial<Record<Job['kind'], Allowance>>> = {
  pull: [120, 240],
  branch: [120, 480],
  sweep: [60, 480],
}
/** All pull requests of one author together: what is over it makes way for others. So does a pull request after these requests. */
const authors: Allowance = [400, 400]
const busyPull = 40
/** Seconds between evaluations of a pull request that GitHub may merge any moment: a `/hold` has to reach it. */
const queuedWait = 10

const used = z.object({ requests: z.number(), at: z.number() })
/** If it is lost, the allowance is whole again. */
const usedRequests = defineCache<z.infer<typeof used>>('used allowance', {
  version: 1,
  read: (stored) => used.safeParse(stored).data,
})

export type JobAllowance = Awaited<ReturnType<typeof allowanceOf>>

type Stored = Cache & Pick<PageRecords, 'pullRow'> & Pick<Landings, 'openLandings'>

/**
 * Undefined: the job needs none. `waitSeconds`: until it may begin. `isBusy`: others come first where little is left of GitHub's limit.
 * `sweepSeconds`: a sweep finds what no delivery told, so none waits longer than for the next regular one.
 */
export async function allowanceOf(
  job: Job,
  store: Stored,
  { now, sweepSeconds }: { readonly now: () => number; readonly sweepSeconds: number },
) {
  const allowance = allowances[job.kind]
  if (allowance === undefined) return undefined
  const own =
    job.kind === 'pull' ? pullKey(job.repository, job.pull) : JSON.stringify({ ...job, installation: 0 })
  // Known from the second evaluation on.
  const author = job.kind === 'pull' ? (await store.pullRow(job.repository, job.pull))?.author : undefined
  const theirs = author === undefined ? undefined : `${repositoryKey(job.repository)} ${author.toLowerCase()}`
  const usedOf = async (key: string | undefined, [, perHour]: Allowance): Promise<number> => {
    const known = key === undefined ? undefined : (await store.getCached(usedRequests, [key])).get(key)
    return known === undefined
      ? 0
      : Math.max(0, known.requests - (Math.max(0, now() - known.at) / 3600_000) * perHour)
  }
  const before = await usedOf(own, allowance)
  const [burst, perHour] = allowance
  const wait = before < burst ? 0 : Math.ceil(((before - burst + 1) * 3600) / perHour)
  const isQueued = async () =>
    job.kind === 'pull' && (await store.openLandings(job.repository)).some(({ pull }) => pull === job.pull)
  const longest =
    job.kind === 'sweep' ? sweepSeconds : wait > queuedWait && (await isQueued()) ? queuedWait : 3600
  return {
    waitSeconds: Math.min(wait, longest),
    isBusy: job.kind === 'pull' && (before >= busyPull || (await usedOf(theirs, authors)) >= authors[0]),
    async charge(requests: number): Promise<void> {
      for (const [key, rate] of [
        [own, allowance],
        [theirs, authors],
      ] as const) {
        if (key === undefined) continue
        const sum = (await usedOf(key, rate)) + requests
        const value = new Map([[key, { requests: sum, at: now() }]])
        await store.putCached(usedRequests, value, Math.ceil((sum * 3600) / rate[1]) + 1)
      }
    },
  }
}
