// The job "look up the next few images that the catalogs of a repository name": rounds over all references, second
// looks at those that were not there, and the issue that tells what is certainly gone. Comes in small slices, one at a
// time over all instances; whatever is killed goes on from what the store remembers.
import { isSilent } from '../../checks/validation/rule-settings.ts'
import { ruleOfRot } from '../../checks/images/rot.ts'
import type { Config } from '../../config/config.ts'
import type { RottenReference } from '../../messages/rot-issue.ts'
import type { Job, Lease } from '../../ports/store.ts'
import { interleaveHosts } from '../../registry/scan-images.ts'
import type { RepositoryName } from '../../change/snapshot.ts'
import type { Metrics } from '../metrics.ts'
import { catalogGrounds, placesOf, referencesOf } from './named-images.ts'
import { reportRot } from './report-rot.ts'
import { partSize, scanSlice } from './scan-slice.ts'
import {
  dueWalk,
  nextLook,
  readScan,
  referencesToLookAt,
  writeParts,
  writeScan,
  type Asked,
  type Pace,
  type ScanState,
  type Walk,
} from './scan-state.ts'
import type { Workplace } from './workplace.ts'

type ScanJob = Extract<Job, { kind: 'scan' }>

/** One for all repositories and instances: scans together ask no more than one slice's worth. */
const leaseName = 'image scan'
/** Seconds until a scan that met another one's slice is tried again. */
const busySeconds = 5
/** The largest community catalogs name some ten thousand images in a few dozen registries. */
const budget = { references: 50_000, hosts: 200 }
/** A round that is not through after this long ends as it is: what was not asked is not known. */
const longestWalk = 12 * 3600 * 1000

export async function scanRepository(job: ScanJob, place: Workplace): Promise<void> {
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
  { store, clock, metrics, settings }: Workplace['app'],
): Promise<boolean> {
  const state = await readScan(store, repository)
  measure(metrics, repository, state)
  return settings.scanSeconds !== 0 && clock.now() >= state.dueAt
}

/** Takes the scan one step on. The answer: in how many seconds to go on; undefined when the sweep finds out when. */
async function goOn(state: ScanState, lease: Lease, place: Workplace): Promise<number | undefined> {
  const { app, forge } = place
  const { repository } = forge
  const apart = app.settings.secondLookSeconds * 1000
  let current = state
  if (current.walk === undefined) {
    const begun = await begin(current, place)
    await writeScan(app.store, repository, begun)
    if (begun.walk === undefined) return undefined
    current = begun
  }
  let walk = current.walk as Walk
  let again: number | undefined
  if (app.clock.now() - walk.startedAt < longestWalk && walk.next < walk.parts) {
    const done = await scanSlice(current, walk, apart, place)
    current = done.state
    walk = done.state.walk ?? walk
    again = done.again
    const dueAt = app.clock.now() + (again ?? 0) * 1000
    await writeScan(app.store, repository, { ...current, dueAt })
  }
  if (again !== undefined) return again
  // Loading catalogs takes its time: another instance may have begun meanwhile, and two would open two issues.
  const isStillOurs = () => app.store.renewLease(lease, app.settings.leaseSeconds)
  if (!(await isStillOurs())) return busySeconds
  return (await finish(current, walk, isStillOurs, place)) ? undefined : busySeconds
}

/** Begins the walk that is due. The state has none when nothing is due, or the configuration wants no scan. */
async function begin(state: ScanState, place: Workplace): Promise<ScanState> {
  const { app, forge } = place
  const now = app.clock.now()
  const later = { ...state, dueAt: nextLook({ ...state, roundAt: now, rot: {} }, unhurried, now) }
  const grounds = await catalogGrounds(place)
  const pace = paceOf(grounds[0]?.config, app.settings)
  if (pace === undefined) return later
  const kind = dueWalk(state, pace, now)
  if (kind === undefined) return { ...state, dueAt: nextLook(state, pace, now) }
  const named = kind === 'round' ? await referencesOf(grounds, budget, place) : undefined
  const references = named?.references ?? referencesToLookAt(state, pace.apart, now)
  if (named !== undefined && named.left > 0)
    app.log.warn(
      { repository: forge.repository, left: named.left },
      'the catalogs name more images than one scan looks up',
    )
  const parts = new Map<number, readonly Asked[]>()
  const queue = interleaveHosts(references).map((reference) => ({ reference, tries: 0 }))
  for (let at = 0; at < queue.length; at += partSize) parts.set(parts.size, queue.slice(at, at + partSize))
  const walk: Walk = {
    kind,
    startedAt: now,
    parts: parts.size,
    next: 0,
    references: references.length + (named?.left ?? 0),
    settled: 0,
    hosts: {},
  }
  if (parts.size > 0) await writeParts(app.store, forge.repository, walk, parts)
  const still = new Set(references)
  const rot =
    kind === 'round'
      ? Object.fromEntries(Object.entries(state.rot).filter(([reference]) => still.has(reference)))
      : state.rot
  app.log.info({ repository: forge.repository, walk: kind, references: references.length }, 'scan started')
  return { ...state, rot, walk, dueAt: now }
}

/** False when somebody else has taken over before anything was told. */
async function finish(
  state: ScanState,
  walk: Walk,
  isStillOurs: () => Promise<boolean>,
  place: Workplace,
): Promise<boolean> {
  const { app, forge } = place
  const { repository } = forge
  const now = app.clock.now()
  const confirmed = new Set(
    Object.entries(state.rot)
      .filter(([, one]) => one.confirmed)
      .map(([reference]) => reference),
  )
  const grounds = await catalogGrounds(place)
  const pace = paceOf(grounds[0]?.config, app.settings)
  const scan = grounds[0]?.config.images.scan
  const unknown = walk.references - walk.settled
  let current: ScanState = {
    ...state,
    lookedAt: now,
    ...(walk.kind === 'round' && { roundAt: walk.startedAt, finished: { at: now, unknown } }),
  }
  if (pace !== undefined && scan !== undefined) {
    const { places, owners } =
      confirmed.size > 0
        ? await placesOf(confirmed, grounds, place)
        : { places: new Map(), owners: new Map() }
    const named = Object.entries(current.rot).filter(
      ([reference]) => !confirmed.has(reference) || places.has(reference),
    )
    current = { ...current, rot: Object.fromEntries(named) }
    if (!(await isStillOurs())) return false
    const rotten = rottenOf(current, places, grounds[0]?.config.rules ?? {})
    if (scan.issue)
      await reportRot(
        rotten,
        { owners, mentionOwners: scan.mentionOwners, rulesUrl: app.settings.rulesUrl },
        current.report,
        place,
        async (report) => {
          current = { ...current, report }
          await writeScan(app.store, repository, current)
        },
      )
  }
  const { walk: _done, ...rest } = current
  const dueAt = pace === undefined ? now : nextLook(rest, pace, now)
  await writeScan(app.store, repository, { ...rest, dueAt })
  measure(app.metrics, repository, rest)
  app.log.info(
    { repository, walk: walk.kind, references: walk.references, unknown, rotten: confirmed.size },
    'scan finished',
  )
  return true
}

/** What is certainly gone, where the repository wants to hear of it. */
function rottenOf(
  { rot }: ScanState,
  places: ReadonlyMap<string, RottenReference['places']>,
  rules: Config['rules'],
): readonly RottenReference[] {
  return Object.entries(rot).flatMap(([reference, one]) => {
    const rule = ruleOfRot[one.kind]
    const told = (places.get(reference) ?? []).filter((at) => !isSilent(rule, at, rules))
    return one.confirmed && told.length > 0 ? [{ ...one, reference, places: told }] : []
  })
}

/** For repositories that want no scan: their configuration is read again from time to time. */
const unhurried: Pace = { every: Number.POSITIVE_INFINITY, apart: 0 }

/** Undefined when no scan is wanted. */
function paceOf(config: Config | undefined, settings: Workplace['app']['settings']): Pace | undefined {
  const every = config?.images.scan.every ?? 'off'
  if (every === 'off') return undefined
  const hours = Number(every.slice(0, -1)) * (every.endsWith('d') ? 24 : 1)
  const seconds = settings.scanSeconds ?? hours * 3600
  if (seconds === 0) return undefined
  return { every: seconds * 1000, apart: settings.secondLookSeconds * 1000 }
}

function measure(metrics: Metrics, { owner, name }: RepositoryName, { rot, finished }: ScanState): void {
  if (finished === undefined) return
  const repository = `${owner}/${name}`
  metrics.rotten.set({ repository }, Object.values(rot).filter(({ confirmed }) => confirmed).length)
  metrics.unknownReferences.set({ repository }, finished.unknown)
  metrics.lastScan.set({ repository }, finished.at / 1000)
}
