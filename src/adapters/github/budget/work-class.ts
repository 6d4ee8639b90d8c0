// The classes of requests to GitHub, by priority.

/** Highest priority first: merging, pull requests people look at, the sweep, image scans. */
export const workClasses = ['landing', 'look', 'sweep', 'scan'] as const

export type WorkClass = (typeof workClasses)[number]

export const getWorkClassRank = (work: WorkClass): number => workClasses.indexOf(work)

/**
 * The fraction of a limit reserved from each class for higher ones. A merge may use the last request. A tenth allows
 * 33 merges an hour at 15 requests. The sweep repeats every few minutes and a scan has a day, so they leave more.
 */
export type QuotaReserveByWorkClass = Readonly<Record<WorkClass, number>>

export const defaultQuotaReserves: QuotaReserveByWorkClass = { landing: 0, look: 0.1, sweep: 0.3, scan: 0.5 }
