// The job "look up the next few images that the catalogs of a repository name": rounds over all references, second
// looks at those that were not there, and the issue that tells what is certainly gone. Comes in small slices, one at a
// time over all instances; whatever is killed goes on from what the store remembers.
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

/** One for all repositories and instances: scans together ask no more than one slice's worth. */
const leaseName = 'image scan'
/** Seconds until a scan that met another one's slice is tried again. */
const busySeconds = 5
/** The largest community catalogs name some ten thousand images in a few dozen registries. */
const budget = { references: 50_000, hosts: 200 }
/** A round that is not through after this long ends as it is: what was not asked is not known. */
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

/** Whether a repository's scan has something to do, for the sweep; shows what is known of it to whoever measures. */
export async function isScanDue(
  repository: RepositoryName,
  { store, clock, metrics, settings }: App<State>,
): Promise<boolean> {
  const state = await readScan(store, repository)
  measure(metrics, repository, state)
  return settings.scanSeconds !== 0 && clock.now() >= state.dueAt
}

/** Takes the scan one step on. The answer: in how many seconds to go on; undefined when the sweep finds out when. */
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
  // Loading catalogs takes its time: another instance may have begun meanwhile, and two would open two issues.
  const isStillOurs = () => app.store.renewLease(lease, app.settings.leaseSeconds)
  if (!(await isStillOurs())) return busySeconds
  return (await finish(current, pass, isStillOurs, place)) ? undefined : busySeconds
}

/** Begins the pass that is due. The state has none when nothing is due, or the configuration wants no scan. */
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

/** False when somebody else has taken over before anything was told. */
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

/** What is certainly gone, where the repository wants to hear of it. */
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

/** For repositories that want no scan: their configuration is read again from time to time. */
const unhurried: Pace = { every: Number.POSITIVE_INFINITY, apart: 0 }

/** Undefined when no scan is wanted. */
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
