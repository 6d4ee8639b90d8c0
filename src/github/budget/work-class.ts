// What a request to GitHub is for: who comes first where not everybody can be served.

/** In the order in which they come: merging, pull requests that people look at, the sweep, scans of images. */
export const workClasses = ['landing', 'look', 'sweep', 'scan'] as const

export type WorkClass = (typeof workClasses)[number]

export const rankOf = (work: WorkClass): number => workClasses.indexOf(work)

/**
 * What part of a limit is kept back from each class for those before it. A landing may use the last request: whoever is to
 * merge has read everything before it. A tenth is 33 landings an hour at 15 requests. The sweep comes again by itself every few
 * minutes, and a scan has a day, so they leave more.
 */
export type Reserves = Readonly<Record<WorkClass, number>>

export const usualReserves: Reserves = { landing: 0, look: 0.1, sweep: 0.3, scan: 0.5 }
