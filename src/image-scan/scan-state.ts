// Scan state in the store, from which a scan resumes, and the schedule of passes. Sends no requests.
import { z } from 'zod'
import { imageScanFailureKinds, type ImageScanFailureState } from '../checks/images/missing-images.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import { defineStateNamespace, type StateStore, writeStateValue } from '../ports/state.ts'

const registryHostStateSchema = z.object({
  /** Skipped until then. */
  until: z.number(),
  /** Consecutive failures. */
  failures: z.number(),
})

const scanPassSchema = z.object({
  /** A second check covers only references that seemed missing. */
  kind: z.enum(['round', 'second-look']),
  startedAt: z.number(),
  /** Number of stored parts, and the first unfinished one. */
  parts: z.number(),
  next: z.number(),
  references: z.number(),
  /** References with a definite answer. */
  settled: z.number(),
  hosts: z.record(z.string(), registryHostStateSchema),
})

const missingImagesReportStateSchema = z.object({
  /** Absent while unknown. */
  issue: z.number().exactOptional(),
  /** Digest of the title and body last written; '' if unknown. */
  digest: z.string(),
  /** Keys (toImageScanFailureKey) named in the issue since it was last closed. */
  told: z.array(z.string()),
})

/** Times are milliseconds since the epoch. */
const scanStateSchema = z.object({
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
      kind: z.enum(imageScanFailureKinds),
      reason: z.string(),
      since: z.number(),
      confirmed: z.boolean(),
    }) satisfies z.ZodType<ImageScanFailureState>,
  ),
  pass: scanPassSchema.exactOptional(),
  report: missingImagesReportStateSchema.exactOptional(),
})

export type ScanState = Readonly<z.infer<typeof scanStateSchema>>
export type ImageScanPass = Readonly<z.infer<typeof scanPassSchema>>
export type RegistryHostState = Readonly<z.infer<typeof registryHostStateSchema>>
export type MissingImagesReportState = Readonly<z.infer<typeof missingImagesReportStateSchema>>

const emptyScanState: ScanState = { dueAt: 0, missingImages: {} }

/** Seconds until the configuration is read again, regardless of other due times. */
const configRereadIntervalSeconds = 3600
/** More missing images than this are checked only in the next round. */
const maxImagesPerRecheck = 500

export interface ScanSchedule {
  readonly intervalMs: number
  /** Milliseconds between two checks that count. */
  readonly recheckDelayMs: number
}

/** A round covers everything, so it precedes a second check. */
export function findDueScanPassKind(
  state: ScanState,
  { intervalMs, recheckDelayMs }: ScanSchedule,
  now: number,
): ImageScanPass['kind'] | undefined {
  if (state.roundAt === undefined || now >= state.roundAt + intervalMs) return 'round'
  return now >= computeImageRecheckAtMs(state, recheckDelayMs) ? 'second-look' : undefined
}

/** Latest time to check for due work. */
export function computeNextScanDueAtMs(
  state: ScanState,
  { intervalMs, recheckDelayMs }: ScanSchedule,
  now: number,
): number {
  const round = state.roundAt === undefined ? now : state.roundAt + intervalMs
  return Math.min(
    round,
    computeImageRecheckAtMs(state, recheckDelayMs),
    now + configRereadIntervalSeconds * 1000,
  )
}

/** References for a second check: old enough suspicions and confirmed missing images. */
export function findImageReferencesToRecheck(
  { missingImages }: Pick<ScanState, 'missingImages'>,
  apart: number,
  now: number,
): string[] {
  const known = Object.entries(missingImages)
  const few = known.filter(([, { confirmed }]) => confirmed).length <= maxImagesPerRecheck
  return known
    .filter(([, { confirmed, since }]) => (confirmed ? few : now >= since + apart))
    .map(([reference]) => reference)
}

function computeImageRecheckAtMs({ missingImages, lookedAt = 0 }: ScanState, apart: number): number {
  const known = Object.values(missingImages)
  const confirmed = known.filter((one) => one.confirmed)
  // An unanswered second check is repeated after the same interval.
  const suspicions = known.filter((one) => !one.confirmed).map(({ since }) => since + apart)
  const first = Math.min(...suspicions, Number.POSITIVE_INFINITY)
  if (first < Number.POSITIVE_INFINITY) return lookedAt >= first ? lookedAt + apart : first
  return confirmed.length > 0 && confirmed.length <= maxImagesPerRecheck
    ? lookedAt + apart
    : Number.POSITIVE_INFINITY
}

const scanStateNamespace = defineStateNamespace<ScanState>(
  'image scan',
  1,
  // Version 0 was a cache, whose unreadable entries were dropped too.
  (stored, version) => scanStateSchema.safeParse(stored).data ?? (version === 0 ? emptyScanState : undefined),
)
const scanStateKey = ''

export async function readScanState(store: StateStore, repository: RepositoryName): Promise<ScanState> {
  return (await store.readState(scanStateNamespace, repository, scanStateKey)) ?? emptyScanState
}

export async function writeScanState(
  store: StateStore,
  repository: RepositoryName,
  state: ScanState,
): Promise<void> {
  await writeStateValue(store, scanStateNamespace, repository, scanStateKey, state)
}

/** A reference and its number of unanswered requests. */
export interface PendingImageReference {
  readonly reference: string
  readonly tries: number
}

const scanBatchSchema = z.array(z.object({ reference: z.string(), tries: z.number() }))
const scanBatchStateNamespace = defineStateNamespace<readonly PendingImageReference[]>(
  'scan part',
  1,
  scanBatchSchema,
)
const formatScanBatchKey = (pass: ImageScanPass, index: number) => `${pass.startedAt} ${index}`

export async function readScanBatch(
  store: StateStore,
  repository: RepositoryName,
  pass: ImageScanPass,
  index: number,
): Promise<readonly PendingImageReference[]> {
  return (await store.readState(scanBatchStateNamespace, repository, formatScanBatchKey(pass, index))) ?? []
}

export async function writeScanBatches(
  store: StateStore,
  repository: RepositoryName,
  pass: ImageScanPass,
  parts: ReadonlyMap<number, readonly PendingImageReference[]>,
): Promise<void> {
  const values = new Map([...parts].map(([index, part]) => [formatScanBatchKey(pass, index), part]))
  await store.writeState(scanBatchStateNamespace, repository, values)
}

export async function deleteScanBatches(store: StateStore, repository: RepositoryName): Promise<void> {
  await store.retainState(scanBatchStateNamespace, repository, [])
}
