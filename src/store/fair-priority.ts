// Who waits behind whom: pull requests of several repositories take turns, however many one of them has. Each repository's
// next job goes one place behind its last one that waits, and never before the place that is being worked off now
// (start-time fair queuing), so nobody waits for ever. Kept as pg-boss' priority: higher is taken first.
import type { Job } from '../ports/jobs.ts'
import type { Sql } from './database.ts'
import { repositoryKey } from '../change/repository-key.ts'

/** A scan is patient: nobody waits for it, and it comes in many small jobs. Behind every place of a pull request. */
const scans = -1_000_000_000
/** Milliseconds for which a repository's last place is known without asking: thousands can come in one sweep. */
const knownFor = 1000

interface Place {
  readonly priority: number
  readonly at: number
}

/** `table`, `queue`: where the jobs are. */
export function fairPriority(table: string, queue: string) {
  const last = new Map<string, Place>()

  /** What waits now: the place to be taken next, and this repository's last one. */
  async function placeAfter(sql: Sql, repository: string): Promise<number> {
    const [row] = await sql.query<{ head: number | null; own: number | null }>(
      `SELECT max(priority) AS head, min(priority) FILTER (WHERE starts_with(singleton_key, $1)) AS own
       FROM ${table}
       WHERE name = '${queue}' AND state IN ('created', 'retry') AND starts_with(singleton_key, 'pull ')
         AND start_after <= clock_timestamp()`,
      [`pull ${repository}#`],
    )
    const head = row?.head ?? 0
    return row?.own === null || row?.own === undefined ? head : Math.min(head, row.own - 1)
  }

  return async (sql: Sql, job: Job): Promise<number> => {
    if (job.kind === 'scan') return scans
    if (job.kind !== 'pull') return 0
    const repository = repositoryKey(job.repository)
    const now = performance.now()
    const known = last.get(repository)
    const isKnown = known !== undefined && now - known.at < knownFor
    const priority = isKnown ? known.priority - 1 : await placeAfter(sql, repository)
    for (const [name, { at }] of last) if (now - at >= knownFor) last.delete(name)
    // From the last question on: a burst that lasts is asked about again.
    last.set(repository, { priority, at: isKnown ? known.at : now })
    return priority
  }
}
