// Bounds what deliveries about one pull request, branch or repository can cost of GitHub's hour, however many there are. A job
// charges the requests that it sent to its allowance, which refills with time. While that is used up, the job waits in the queue
// and sends nothing, and deliveries that come meanwhile join it.
import { z } from 'zod'
import { pullKey, repositoryKey } from '../../change/repository-key.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import type { Job } from '../../ports/jobs.ts'
import type { Landings } from '../../ports/landings.ts'
import type { PageRecords } from '../../ports/page-records.ts'

interface Allowance {
  /** Requests that may be sent at once. */
  readonly burst: number
  /** Requests by which it refills in an hour. */
  readonly perHour: number
}

/** Of the jobs that deliveries cause. Merging has none: what follows from a comment costs its pull request's allowance first. */
export const allowances: Readonly<Partial<Record<Job['kind'], Allowance>>> = {
  pull: { burst: 120, perHour: 240 },
  branch: { burst: 120, perHour: 480 },
  // The regular sweep finds what no delivery told, so it is never held back longer than its interval.
  sweep: { burst: 60, perHour: 480 },
}
/** Seconds between evaluations of a pull request that GitHub may merge any moment: a `/hold` has to reach it. */
const queuedWait = 10
/** Requests after which a pull request, or all pull requests of one author together, make way for those of others. */
const busyPull = 40
const busyAuthor = { burst: 400, perHour: 400 }

const used = z.object({ requests: z.number(), at: z.number() })
/** If it is lost, the allowance is whole again. */
const usedRequests = defineCache<z.infer<typeof used>>('used allowance', {
  version: 1,
  read: (stored) => used.safeParse(stored).data,
})

export interface JobAllowance {
  /** Seconds until the job may begin. */
  readonly waitSeconds: number
  /** Others come first where little is left of GitHub's limit. */
  readonly isBusy: boolean
  charge(requests: number): Promise<void>
}

type Stored = Cache & Pick<PageRecords, 'pullRow'> & Pick<Landings, 'openLandings'>

export async function allowanceOf(
  job: Job,
  store: Stored,
  { now, sweepSeconds }: { readonly now: () => number; readonly sweepSeconds: number },
): Promise<JobAllowance> {
  const allowance = allowances[job.kind]
  if (allowance === undefined) return { waitSeconds: 0, isBusy: false, charge: async () => {} }
  const { burst, perHour } = allowance
  const maxWait = job.kind === 'sweep' ? sweepSeconds : 3600
  const own = `${job.kind} ${'pull' in job ? pullKey(job.repository, job.pull) : repositoryKey(job.repository)}${'branch' in job ? ` ${job.branch}` : ''}`
  // Known from the second evaluation on.
  const author = 'pull' in job ? (await store.pullRow(job.repository, job.pull))?.author : undefined
  const rates = new Map([[own, perHour]])
  const authors = `author ${repositoryKey(job.repository)} ${author?.toLowerCase()}`
  if (author !== undefined) rates.set(authors, busyAuthor.perHour)

  async function readUsed(): Promise<ReadonlyMap<string, number>> {
    const known = await store.getCached(usedRequests, [...rates.keys()])
    const hours = (since: number) => Math.max(0, now() - since) / 3600_000
    return new Map(
      [...known].map(([key, { requests, at }]) => [
        key,
        Math.max(0, requests - hours(at) * (rates.get(key) ?? 0)),
      ]),
    )
  }

  const before = await readUsed()
  const count = before.get(own) ?? 0
  const wait = count < burst ? 0 : Math.min(maxWait, Math.ceil(((count - burst + 1) * 3600) / perHour))
  const isQueued = async () =>
    'pull' in job && (await store.openLandings(job.repository)).some(({ pull }) => pull === job.pull)
  return {
    waitSeconds: wait > queuedWait && (await isQueued()) ? queuedWait : wait,
    isBusy: 'pull' in job && (count >= busyPull || (before.get(authors) ?? 0) >= busyAuthor.burst),
    async charge(requests) {
      const at = now()
      const after = await readUsed()
      for (const [key, rate] of rates) {
        const sum = (after.get(key) ?? 0) + requests
        await store.putCached(
          usedRequests,
          new Map([[key, { requests: sum, at }]]),
          Math.ceil((sum * 3600) / rate) + 1,
        )
      }
    },
  }
}
