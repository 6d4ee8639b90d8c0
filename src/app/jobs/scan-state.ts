// What the store remembers of a repository's scan, so that a scan that was killed goes on where it was and the second
// look knows of the first. Knows when there is something to do; does nothing itself.
import type { MissingImage } from '../../checks/images/missing-images.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import type { Store } from '../../ports/store.ts'

/** Times are milliseconds since the epoch. */
export interface ScanState {
  /** When there is something to do again, at the latest. */
  readonly dueAt: number
  /** When the last whole round began. */
  readonly roundAt?: number
  /** When the references below were last asked for on their own, or in a round. */
  readonly lookedAt?: number
  /** When a whole round last came to its end, and of how many references it learned nothing definite. */
  readonly finished?: { readonly at: number; readonly unknown: number }
  /** References that did not look well, suspicions among them. */
  readonly missingImages: Readonly<Record<string, MissingImage>>
  readonly pass?: ScanPass
  readonly report?: ReportState
}

/** One way through many references, in parts that are kept beside the state. */
export interface ScanPass {
  /** A round asks for all references, a second look for those that did not look well. */
  readonly kind: 'round' | 'second-look'
  readonly startedAt: number
  /** Parts in the store, and the first of them that is not done. */
  readonly parts: number
  readonly next: number
  readonly references: number
  /** References that got a definite answer. */
  readonly settled: number
  readonly hosts: Readonly<Record<string, HostState>>
}

export interface HostState {
  /** Left alone until then. */
  readonly until: number
  /** How often in a row it gave no answer; back to none with each answer. */
  readonly failures: number
}

export interface ReportState {
  /** Absent while it is not known whether there is an issue. */
  readonly issue?: number
  /** Stands for title and body as last written; '' when that is not known. */
  readonly digest: string
  /** Keys (missingImageKey) of the missing images that the issue has named since it was last closed. */
  readonly told: readonly string[]
}

export const emptyState: ScanState = { dueAt: 0, missingImages: {} }

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

const space = 'image scans'
const keyOf = ({ owner, name }: RepositoryName) => `${owner}/${name}`.toLowerCase()

export async function readScan(
  store: Pick<Store, 'getCached'>,
  repository: RepositoryName,
): Promise<ScanState> {
  const key = keyOf(repository)
  return ((await store.getCached(space, [key])).get(key) as ScanState | undefined) ?? emptyState
}

export async function writeScan(
  store: Pick<Store, 'putCached'>,
  repository: RepositoryName,
  state: ScanState,
): Promise<void> {
  await store.putCached(space, new Map([[keyOf(repository), state]]))
}

/** A reference on its way, and how often it was asked for in vain. */
export interface Asked {
  readonly reference: string
  readonly tries: number
}

/** Parts are of no use to anybody once their pass is over or given up. */
const partSeconds = 3 * 24 * 3600
const partKey = (pass: ScanPass, index: number) => `${pass.startedAt} ${index}`
const partSpace = (repository: RepositoryName) => `scan parts ${keyOf(repository)}`

/** Empty when the part is not there any more. */
export async function readPart(
  store: Pick<Store, 'getCached'>,
  repository: RepositoryName,
  pass: ScanPass,
  index: number,
): Promise<readonly Asked[]> {
  const key = partKey(pass, index)
  const found = await store.getCached(partSpace(repository), [key])
  return (found.get(key) as readonly Asked[] | undefined) ?? []
}

export async function writeParts(
  store: Pick<Store, 'putCached'>,
  repository: RepositoryName,
  pass: ScanPass,
  parts: ReadonlyMap<number, readonly Asked[]>,
): Promise<void> {
  const values = new Map([...parts].map(([index, part]) => [partKey(pass, index), part]))
  await store.putCached(partSpace(repository), values, partSeconds)
}
