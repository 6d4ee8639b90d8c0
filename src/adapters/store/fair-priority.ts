// Repositories take turns regardless of how many jobs each has (start-time fair queuing). A repository's next job goes
// one place after its last waiting one, and never before the place being served, so no job starves. Stored as pg-boss'
// priority: higher goes first.
import type { Job } from '../../ports/jobs.ts'
import type { Sql } from './database.ts'
import { toRepositoryKey } from '../../pull-request/repository-key.ts'

/** Scans go after all pull requests, because they are not urgent and come in many small jobs. */
const scanPriority = -1_000_000_000
/** Milliseconds to cache a repository's last place, because one sweep can enqueue thousands. */
const queuePositionCacheTtlMs = 1000

interface QueuePosition {
  readonly priority: number
  readonly at: number
}

/** `table`, `queue`: where the jobs are. */
export function createFairPriority(table: string, queue: string) {
  const last = new Map<string, QueuePosition>()

  /** Finds the next place to be served and this repository's last one. */
  async function positionAfter(sql: Sql, repository: string): Promise<number> {
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
    if (job.kind === 'scan') return scanPriority
    if (job.kind !== 'pull') return 0
    const repository = toRepositoryKey(job.repository)
    const now = performance.now()
    const known = last.get(repository)
    const isKnown = known !== undefined && now - known.at < queuePositionCacheTtlMs
    const priority = isKnown ? known.priority - 1 : await positionAfter(sql, repository)
    for (const [name, { at }] of last) if (now - at >= queuePositionCacheTtlMs) last.delete(name)
    // Keeps the time of the last query, so that a long burst queries again.
    last.set(repository, { priority, at: isKnown ? known.at : now })
    return priority
  }
}
