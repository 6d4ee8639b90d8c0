// Scan state in the store, from which a scan resumes, and the schedule of passes. Does no requests.
import { z } from 'zod'
import { missingImageKinds, type MissingImage } from '../../checks/images/missing-images.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import { defineState, type State } from '../../ports/state.ts'

const hostState = z.object({
  /** Skipped until then. */
  until: z.number(),
  /** Consecutive failures. */
  failures: z.number(),
})

const scanPass = z.object({
  /** A second look covers only references that seemed missing. */
  kind: z.enum(['round', 'second-look']),
  startedAt: z.number(),
  /** Number of stored parts, and the first unfinished one. */
  parts: z.number(),
  next: z.number(),
  references: z.number(),
  /** References with a definite answer. */
  settled: z.number(),
  hosts: z.record(z.string(), hostState),
})

const reportState = z.object({
  /** Absent while unknown. */
  issue: z.number().exactOptional(),
  /** Digest of the title and body last written; '' if unknown. */
  digest: z.string(),
  /** Keys (missingImageKey) named in the issue since it was last closed. */
  told: z.array(z.string()),
})

/** Times are milliseconds since the epoch. */
const scanState = z.object({
  /** Latest time of the next step. */
  dueAt: z.number(),
  /** Start of the last full round. */
  roundAt: z.number().exactOptional(),
  /** Last time the references below were checked. */
  lookedAt: z.number().exactOptional(),
  /** End of the last full round, and its number of references without a definite answer. */
  finished: z.object({ at: z.number(), unknown: z.number() }).exactOptional(),
  /** Missing images, including unconfirmed ones. */
  missingImages: z.record(
    z.string(),
    z.object({
      kind: z.enum(missingImageKinds),
      reason: z.string(),
      since: z.number(),
      confirmed: z.boolean(),
    }) satisfies z.ZodType<MissingImage>,
  ),
  pass: scanPass.exactOptional(),
  report: reportState.exactOptional(),
})

export type ScanState = Readonly<z.infer<typeof scanState>>
export type ScanPass = Readonly<z.infer<typeof scanPass>>
export type HostState = Readonly<z.infer<typeof hostState>>
export type ReportState = Readonly<z.infer<typeof reportState>>

const emptyState: ScanState = { dueAt: 0, missingImages: {} }

/** Seconds until the configuration is read again, regardless of other due times. */
const configSeconds = 3600
/** More missing images than this are checked only in the next round. */
const mostSecondLooks = 500

export interface Pace {
  readonly every: number
  /** Milliseconds between two looks that count. */
  readonly apart: number
}

/** A round covers everything, so it precedes a second look. */
export function duePass(state: ScanState, { every, apart }: Pace, now: number): ScanPass['kind'] | undefined {
  if (state.roundAt === undefined || now >= state.roundAt + every) return 'round'
  return now >= secondLookAt(state, apart) ? 'second-look' : undefined
}

/** Latest time to check for due work. */
export function nextLook(state: ScanState, { every, apart }: Pace, now: number): number {
  const round = state.roundAt === undefined ? now : state.roundAt + every
  return Math.min(round, secondLookAt(state, apart), now + configSeconds * 1000)
}

/** References for a second look: old enough suspicions and confirmed missing images. */
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
  // An unanswered second look is repeated after the same interval.
  const suspicions = known.filter((one) => !one.confirmed).map(({ since }) => since + apart)
  const first = Math.min(...suspicions, Number.POSITIVE_INFINITY)
  if (first < Number.POSITIVE_INFINITY) return lookedAt >= first ? lookedAt + apart : first
  return confirmed.length > 0 && confirmed.length <= mostSecondLooks
    ? lookedAt + apart
    : Number.POSITIVE_INFINITY
}

const scans = defineState<ScanState>('image scan', {
  version: 1,
  // Version 0 was a cache, whose unreadable entries were dropped too.
  read: (stored, version) => scanState.safeParse(stored).data ?? (version === 0 ? emptyState : undefined),
})
const theScan = ''

export async function readScan(store: State, repository: RepositoryName): Promise<ScanState> {
  return (await store.readState(scans, repository, theScan)) ?? emptyState
}

export async function writeScan(store: State, repository: RepositoryName, state: ScanState): Promise<void> {
  await store.writeState(scans, repository, new Map([[theScan, state]]))
}

/** A reference and its number of unanswered requests. */
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

export async function forgetParts(store: State, repository: RepositoryName): Promise<void> {
  await store.retainState(scanParts, repository, [])
}
