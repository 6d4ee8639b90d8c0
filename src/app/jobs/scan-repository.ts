// Checks images of a repository's catalogs: full rounds, second looks at missing images, and the issue about those that
// are gone. Works in small slices, one at a time over all instances, and resumes from the store.
import { isSilent } from '../../checks/validation/rule-settings.ts'
import { ruleOfMissingImage } from '../../checks/images/missing-images.ts'
import type { Config } from '../../config/config.ts'
import type { MissingReference } from '../../messages/missing-images-issue.ts'
import type { Job, Jobs } from '../../ports/jobs.ts'
import type { Lease, Leases } from '../../ports/leases.ts'
import type { PageRecords } from '../../ports/page-records.ts'
import type { State } from '../../ports/state.ts'
import { interleaveHosts } from '../../registry/scan-images.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import type { Metrics } from '../metrics.ts'
import { scannedBranches, placesOf, referencesOf } from './named-images.ts'
import { reportMissingImages } from './report-missing-images.ts'
import { forgetTags, partSize, scanSlice } from './scan-slice.ts'
import {
  duePass,
  forgetParts,
  nextLook,
  readScan,
  referencesToLookAt,
  writeParts,
  writeScan,
  type Asked,
  type Pace,
  type ScanState,
  type ScanPass,
} from './scan-state.ts'
import type { App, JobContext } from './job-context.ts'

type ScanJob = Extract<Job, { kind: 'scan' }>

/** Shared by all repositories and instances, to bound the request rate. */
const leaseName = 'image scan'
/** Seconds until retry while another slice runs. */
const busySeconds = 5
/** The largest community catalogs have about ten thousand images in a few dozen registries. */
const budget = { references: 50_000, hosts: 200 }
/** Milliseconds; after this, a round ends and unchecked references stay unknown. */
const longestPass = 12 * 3600 * 1000

export async function scanRepository(
  job: ScanJob,
  place: JobContext<Jobs & Leases & State & PageRecords>,
): Promise<void> {
  const { store, settings } = place.app
  const lease = await store.acquireLease(leaseName, settings.leaseSeconds)
  if (lease === undefined) return store.enqueue(job, busySeconds)
  try {
    const again = await goOn(await readScan(store, job.repository), lease, place)
    if (again !== undefined) await store.enqueue(job, again)
  } finally {
    await store.releaseLease(lease)
  }
}

/** Also updates the scan metrics. */
export async function isScanDue(
  repository: RepositoryName,
  { store, clock, metrics, settings }: App<State>,
): Promise<boolean> {
  const state = await readScan(store, repository)
  measure(metrics, repository, state)
  return settings.scanSeconds !== 0 && clock.now() >= state.dueAt
}

/** Returns the seconds until the next step, or undefined if the sweep decides. */
async function goOn(
  state: ScanState,
  lease: Lease,
  place: JobContext<Leases & State & PageRecords>,
): Promise<number | undefined> {
  const { app, forge } = place
  const { repository } = forge
  const apart = app.settings.secondLookSeconds * 1000
  let current = state
  if (current.pass === undefined) {
    const begun = await begin(current, place)
    await writeScan(app.store, repository, begun)
    if (begun.pass === undefined) return undefined
    current = begun
  }
  let pass = current.pass as ScanPass
  let again: number | undefined
  if (app.clock.now() - pass.startedAt < longestPass && pass.next < pass.parts) {
    const done = await scanSlice(current, pass, apart, place)
    current = done.state
    pass = done.state.pass ?? pass
    again = done.again
    const dueAt = app.clock.now() + (again ?? 0) * 1000
    await writeScan(app.store, repository, { ...current, dueAt })
  }
  if (again !== undefined) return again
  // Another instance may have taken over during loading; two would open two issues.
  const isStillOurs = () => app.store.renewLease(lease, app.settings.leaseSeconds)
  if (!(await isStillOurs())) return busySeconds
  return (await finish(current, pass, isStillOurs, place)) ? undefined : busySeconds
}

/** Leaves the state without a pass if none is due or scans are disabled. */
async function begin(state: ScanState, place: JobContext<State>): Promise<ScanState> {
  const { app, forge } = place
  const now = app.clock.now()
  const later = { ...state, dueAt: nextLook({ ...state, roundAt: now, missingImages: {} }, unhurried, now) }
  const scanned = await scannedBranches(place)
  const pace = paceOf(scanned[0]?.config, app.settings)
  if (pace === undefined) return later
  const kind = duePass(state, pace, now)
  if (kind === undefined) return { ...state, dueAt: nextLook(state, pace, now) }
  const named = kind === 'round' ? await referencesOf(scanned, budget, place) : undefined
  const references = named?.references ?? referencesToLookAt(state, pace.apart, now)
  if (named !== undefined && named.left > 0)
    app.log.warn(
      { repository: forge.repository, left: named.left },
      'the catalogs name more images than one scan looks up',
    )
  const parts = new Map<number, readonly Asked[]>()
  const queue = interleaveHosts(references).map((reference) => ({ reference, tries: 0 }))
  for (let at = 0; at < queue.length; at += partSize) parts.set(parts.size, queue.slice(at, at + partSize))
  const pass: ScanPass = {
    kind,
    startedAt: now,
    parts: parts.size,
    next: 0,
    references: references.length + (named?.left ?? 0),
    settled: 0,
    hosts: {},
  }
  await forgetParts(app.store, forge.repository)
  if (parts.size > 0) await writeParts(app.store, forge.repository, pass, parts)
  if (named?.left === 0) await forgetTags(app.store, forge.repository, references)
  const still = new Set(references)
  const missingImages =
    kind === 'round'
      ? Object.fromEntries(Object.entries(state.missingImages).filter(([reference]) => still.has(reference)))
      : state.missingImages
  app.log.info({ repository: forge.repository, pass: kind, references: references.length }, 'scan started')
  return { ...state, missingImages, pass, dueAt: now }
}

/** Returns false if another instance took over before anything was reported. */
async function finish(
  state: ScanState,
  pass: ScanPass,
  isStillOurs: () => Promise<boolean>,
  place: JobContext<State>,
): Promise<boolean> {
  const { app, forge } = place
  const { repository } = forge
  const now = app.clock.now()
  const confirmed = new Set(
    Object.entries(state.missingImages)
      .filter(([, one]) => one.confirmed)
      .map(([reference]) => reference),
  )
  const scanned = await scannedBranches(place)
  const pace = paceOf(scanned[0]?.config, app.settings)
  const scan = scanned[0]?.config.images.scan
  const unknown = pass.references - pass.settled
  let current: ScanState = {
    ...state,
    lookedAt: now,
    ...(pass.kind === 'round' && { roundAt: pass.startedAt, finished: { at: now, unknown } }),
  }
  if (pace !== undefined && scan !== undefined) {
    const { places, owners } =
      confirmed.size > 0
        ? await placesOf(confirmed, scanned, place)
        : { places: new Map(), owners: new Map() }
    const named = Object.entries(current.missingImages).filter(
      ([reference]) => !confirmed.has(reference) || places.has(reference),
    )
    current = { ...current, missingImages: Object.fromEntries(named) }
    if (!(await isStillOurs())) return false
    const missing = missingOf(current, places, scanned[0]?.config.rules ?? {})
    if (scan.issue)
      await reportMissingImages(
        missing,
        { owners, mentionOwners: scan.mentionOwners, rulesUrl: app.settings.rulesUrl },
        current.report,
        place,
        async (report) => {
          current = { ...current, report }
          await writeScan(app.store, repository, current)
        },
      )
  }
  const { pass: _done, ...rest } = current
  const dueAt = pace === undefined ? now : nextLook(rest, pace, now)
  await writeScan(app.store, repository, { ...rest, dueAt })
  measure(app.metrics, repository, rest)
  app.log.info(
    { repository, pass: pass.kind, references: pass.references, unknown, missing: confirmed.size },
    'scan finished',
  )
  return true
}

/** Confirmed missing images, if the repository wants reports. */
function missingOf(
  { missingImages }: ScanState,
  places: ReadonlyMap<string, MissingReference['places']>,
  rules: Config['rules'],
): readonly MissingReference[] {
  return Object.entries(missingImages).flatMap(([reference, one]) => {
    const rule = ruleOfMissingImage[one.kind]
    const told = (places.get(reference) ?? []).filter((at) => !isSilent(rule, at, rules))
    return one.confirmed && told.length > 0 ? [{ ...one, reference, places: told }] : []
  })
}

/** Repositories without scans only reread their configuration. */
const unhurried: Pace = { every: Number.POSITIVE_INFINITY, apart: 0 }

/** Returns undefined if scans are disabled. */
function paceOf(config: Config | undefined, settings: JobContext['app']['settings']): Pace | undefined {
  const every = config?.images.scan.every ?? 'off'
  if (every === 'off') return undefined
  const hours = Number(every.slice(0, -1)) * (every.endsWith('d') ? 24 : 1)
  const seconds = settings.scanSeconds ?? hours * 3600
  if (seconds === 0) return undefined
  return { every: seconds * 1000, apart: settings.secondLookSeconds * 1000 }
}

function measure(
  metrics: Metrics,
  { owner, name }: RepositoryName,
  { missingImages, finished }: ScanState,
): void {
  if (finished === undefined) return
  const repository = `${owner}/${name}`
  metrics.missing.set(
    { repository },
    Object.values(missingImages).filter(({ confirmed }) => confirmed).length,
  )
  metrics.unknownReferences.set({ repository }, finished.unknown)
  metrics.lastScan.set({ repository }, finished.at / 1000)
}
