// What the store remembers of a repository's scan, so that a scan that was killed goes on where it was and the second
// look knows of the first. Knows when there is something to do; does nothing itself.
import { z } from 'zod'
import { missingImageKinds, type MissingImage } from '../../checks/images/missing-images.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import { defineState, type State } from '../../ports/state.ts'

const hostState = z.object({
  /** Left alone until then. */
  until: z.number(),
  /** How often in a row it gave no answer; back to none with each answer. */
  failures: z.number(),
})

const scanPass = z.object({
  /** A round asks for all references, a second look for those that did not look well. */
  kind: z.enum(['round', 'second-look']),
  startedAt: z.number(),
  /** Parts in the store, and the first of them that is not done. */
  parts: z.number(),
  next: z.number(),
  references: z.number(),
  /** References that got a definite answer. */
  settled: z.number(),
  hosts: z.record(z.string(), hostState),
})

const reportState = z.object({
  /** Absent while it is not known whether there is an issue. */
  issue: z.number().exactOptional(),
  /** Stands for title and body as last written; '' when that is not known. */
  digest: z.string(),
  /** Keys (missingImageKey) of the missing images that the issue has named since it was last closed. */
  told: z.array(z.string()),
})

/** Times are milliseconds since the epoch. */
const scanState = z.object({
  /** When there is something to do again, at the latest. */
  dueAt: z.number(),
  /** When the last whole round began. */
  roundAt: z.number().exactOptional(),
  /** When the references below were last asked for on their own, or in a round. */
  lookedAt: z.number().exactOptional(),
  /** When a whole round last came to its end, and of how many references it learned nothing definite. */
  finished: z.object({ at: z.number(), unknown: z.number() }).exactOptional(),
  /** References that did not look well, suspicions among them. */
  missingImages: z.record(
    z.string(),
    z.object({
      kind: z.enum(missingImageKinds),
      reason: z.string(),
      since: z.number(),
      confirmed: z.boolean(),
    }) satisfies z.ZodType<MissingImage>,
  ),
  /** One way through many references, in parts that are kept beside the state. */
  pass: scanPass.exactOptional(),
  report: reportState.exactOptional(),
})

export type ScanState = Readonly<z.infer<typeof scanState>>
export type ScanPass = Readonly<z.infer<typeof scanPass>>
export type HostState = Readonly<z.infer<typeof hostState>>
export type ReportState = Readonly<z.infer<typeof reportState>>

const emptyState: ScanState = { dueAt: 0, missingImages: {} }

/** The configuration is read again after this long, whatever is due by the old one. */
const configSeconds = 3600
/** With more than these gone at once, nobody mends one by one: they are asked for with the next round alone. */
const mostSecondLooks = 500

export interface Pace {
  /** Milliseconds between two rounds. */
  readonly every: number
  /** Milliseconds between two looks that count. */
  readonly apart: number
}

/** Which pass is due. A round asks for everything, so it comes before a second look. */
export function duePass(state: ScanState, { every, apart }: Pace, now: number): ScanPass['kind'] | undefined {
  if (state.roundAt === undefined || now >= state.roundAt + every) return 'round'
  return now >= secondLookAt(state, apart) ? 'second-look' : undefined
}

/** When to look whether something is due, at the latest. */
export function nextLook(state: ScanState, { every, apart }: Pace, now: number): number {
  const round = state.roundAt === undefined ? now : state.roundAt + every
  return Math.min(round, secondLookAt(state, apart), now + configSeconds * 1000)
}

/** References that a second look asks for now: suspicions that are old enough, and what was gone at the last look. */
export function referencesToLookAt(
  { missingImages }: Pick<ScanState, 'missingImages'>,
  apart: number,
  now: number,
): string[] {
  const known = Object.entries(missingImages)
  const few = known.filter(([, { confirmed }]) => confirmed).length <= mostSecondLooks
  return known
    .filter(([, { confirmed, since }]) => (confirmed ? few : now >= since + apart))
    .map(([reference]) => reference)
}

function secondLookAt({ missingImages, lookedAt = 0 }: ScanState, apart: number): number {
  const known = Object.values(missingImages)
  const confirmed = known.filter((one) => one.confirmed)
  // A suspicion that found no answer at its second look is asked for again after as long.
  const suspicions = known.filter((one) => !one.confirmed).map(({ since }) => since + apart)
  const first = Math.min(...suspicions, Number.POSITIVE_INFINITY)
  if (first < Number.POSITIVE_INFINITY) return lookedAt >= first ? lookedAt + apart : first
  return confirmed.length > 0 && confirmed.length <= mostSecondLooks
    ? lookedAt + apart
    : Number.POSITIVE_INFINITY
}

const scans = defineState<ScanState>('image scan', {
  version: 1,
  // Version 0 was a cache: what it held in other shapes did not count either.
  read: (stored, version) => scanState.safeParse(stored).data ?? (version === 0 ? emptyState : undefined),
})
/** A repository has one scan. */
const theScan = ''

export async function readScan(store: State, repository: RepositoryName): Promise<ScanState> {
  return (await store.readState(scans, repository, theScan)) ?? emptyState
}

export async function writeScan(store: State, repository: RepositoryName, state: ScanState): Promise<void> {
  await store.writeState(scans, repository, new Map([[theScan, state]]))
}

/** A reference on its way, and how often it was asked for in vain. */
export interface Asked {
  readonly reference: string
  readonly tries: number
}

const askedParts = z.array(z.object({ reference: z.string(), tries: z.number() }))
const scanParts = defineState<readonly Asked[]>('scan part', {
  version: 1,
  read: (stored) => askedParts.safeParse(stored).data,
})
const partKey = (pass: ScanPass, index: number) => `${pass.startedAt} ${index}`

export async function readPart(
  store: State,
  repository: RepositoryName,
  pass: ScanPass,
  index: number,
): Promise<readonly Asked[]> {
  return (await store.readState(scanParts, repository, partKey(pass, index))) ?? []
}

export async function writeParts(
  store: State,
  repository: RepositoryName,
  pass: ScanPass,
  parts: ReadonlyMap<number, readonly Asked[]>,
): Promise<void> {
  const values = new Map([...parts].map(([index, part]) => [partKey(pass, index), part]))
  await store.writeState(scanParts, repository, values)
}

/** Parts are of no use to anybody once their pass is over. */
export async function forgetParts(store: State, repository: RepositoryName): Promise<void> {
  await store.retainState(scanParts, repository, [])
}
