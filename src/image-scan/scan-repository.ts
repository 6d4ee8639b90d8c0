// Scans the images of a repository's catalogs: looks up all images, looks up missing images a second time, and updates
// the issue about them. Works in small slices, one at a time across all instances, and resumes from the store.
import { createHash } from 'node:crypto'
import { isRuleSilenced } from '../checks/validation/rule-settings.ts'
import { ruleIdByImageScanFailureKind, toImageScanFailureKey } from '../checks/images/missing-images.ts'
import type { Config } from '../config/config.ts'
import {
  type MissingImageReference,
  renderMissingImagesIssue,
  resolvedMissingImagesIssue,
  missingImagesMarker,
  formatImageReferenceAsCode,
  type MissingImagesIssueOptions,
} from '../report/missing-images-issue.ts'
import type { JobOfKind, JobQueue, Lease, LeaseStore } from '../ports/jobs.ts'
import type { StatusPageStore } from '../ports/status-page-store.ts'
import type { StateStore } from '../ports/state.ts'
import { interleaveImagesByRegistryHost } from '../adapters/registry/scan-images.ts'
import type { RepositoryName } from '../pull-request/snapshot.ts'
import type { Metrics } from '../jobs/metrics.ts'
import { loadScannedBranches, readImageReferenceLocations, listImageReferences } from './image-references.ts'
import { pruneVerifiedImageTags, imageReferencesPerScanBatch, runScanSlice } from './scan-slice.ts'
import {
  findDueScanPassKind,
  deleteScanBatches,
  computeNextScanDueAtMs,
  readScanState,
  findImageReferencesToRecheck,
  writeScanBatches,
  writeScanState,
  type PendingImageReference,
  type ScanSchedule,
  type ScanState,
  type ImageScanPass,
  type MissingImagesReportState,
} from './scan-state.ts'
import type { AppServices, JobContext } from '../jobs/job-context.ts'
import { updateTrackedIssue } from '../jobs/tracked-issue.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'

const pastTenseByIssueAction = {
  open: 'opened',
  edit: 'edited',
  close: 'closed',
  reopen: 'reopened',
} as const

type ImageScanJob = JobOfKind<'scan'>

/** Shared by all repositories and instances, to bound the request rate. */
const imageScanLeaseName = 'image scan'
/** Seconds until retry while another slice runs. */
const busyScanRetrySeconds = 5
/** The largest community catalogs have about ten thousand images in a few dozen registries. */
const scanSizeLimits = { references: 50_000, hosts: 200 }
/** Milliseconds; after this, a round ends and unchecked references stay unknown. */
const maxScanPassDurationMs = 12 * 3600 * 1000

export async function scanRepositoryImages(
  job: ImageScanJob,
  ctx: JobContext<JobQueue & LeaseStore & StateStore & StatusPageStore>,
): Promise<void> {
  const { store, settings, scheduler } = ctx.app
  await scheduler.yieldToPulls()
  const lease = await store.acquireLease(imageScanLeaseName, settings.leaseSeconds)
  if (lease === undefined) return store.enqueue(job, busyScanRetrySeconds)
  try {
    const again = await continueImageScan(await readScanState(store, job.repository), lease, ctx)
    if (again !== undefined) await store.enqueue(job, again)
  } finally {
    await store.releaseLease(lease)
  }
}

/** Also updates the scan metrics. */
export async function isImageScanDue(
  repository: RepositoryName,
  { store, clock, metrics, settings }: AppServices<StateStore>,
): Promise<boolean> {
  const state = await readScanState(store, repository)
  updateScanMetrics(metrics, repository, state)
  return settings.scanSeconds !== 0 && clock.now() >= state.dueAt
}

/** Returns the seconds until the next step, or undefined if the sweep decides. */
async function continueImageScan(
  state: ScanState,
  lease: Lease,
  ctx: JobContext<LeaseStore & StateStore & StatusPageStore>,
): Promise<number | undefined> {
  const { app, forge } = ctx
  const { repository } = forge
  const apart = app.settings.secondLookSeconds * 1000
  let current = state
  if (current.pass === undefined) {
    const started = await startScanPass(current, ctx)
    await writeScanState(app.store, repository, started)
    if (started.pass === undefined) return undefined
    current = started
  }
  let pass = current.pass as ImageScanPass
  let again: number | undefined
  if (app.clock.now() - pass.startedAt < maxScanPassDurationMs && pass.next < pass.parts) {
    const done = await runScanSlice(current, pass, apart, ctx)
    current = done.state
    pass = done.state.pass ?? pass
    again = done.again
    const dueAt = app.clock.now() + (again ?? 0) * 1000
    await writeScanState(app.store, repository, { ...current, dueAt })
  }
  if (again !== undefined) return again
  // Another instance may have taken over during loading; two would open two issues.
  const renewScanLease = () => app.store.renewLease(lease, app.settings.leaseSeconds)
  if (!(await renewScanLease())) return busyScanRetrySeconds
  return (await finishScanPass(current, pass, renewScanLease, ctx)) ? undefined : busyScanRetrySeconds
}

/** Leaves the state without a pass if none is due or scans are disabled. */
async function startScanPass(state: ScanState, ctx: JobContext<StateStore>): Promise<ScanState> {
  const { app, forge } = ctx
  const now = app.clock.now()
  const later = {
    ...state,
    dueAt: computeNextScanDueAtMs({ ...state, roundAt: now, missingImages: {} }, disabledScanSchedule, now),
  }
  const scanned = await loadScannedBranches(ctx)
  const pace = getScanSchedule(scanned[0]?.config, app.settings)
  if (pace === undefined) return later
  const kind = findDueScanPassKind(state, pace, now)
  if (kind === undefined) return { ...state, dueAt: computeNextScanDueAtMs(state, pace, now) }
  const named = kind === 'round' ? await listImageReferences(scanned, scanSizeLimits, ctx) : undefined
  const references = named?.references ?? findImageReferencesToRecheck(state, pace.recheckDelayMs, now)
  if (named !== undefined && named.left > 0)
    app.log.warn(
      { repository: forge.repository, left: named.left },
      'the catalogs reference more images than one scan can look up',
    )
  const parts = new Map<number, readonly PendingImageReference[]>()
  const queue = interleaveImagesByRegistryHost(references).map((reference) => ({ reference, tries: 0 }))
  for (let at = 0; at < queue.length; at += imageReferencesPerScanBatch)
    parts.set(parts.size, queue.slice(at, at + imageReferencesPerScanBatch))
  const pass: ImageScanPass = {
    kind,
    startedAt: now,
    parts: parts.size,
    next: 0,
    references: references.length + (named?.left ?? 0),
    settled: 0,
    hosts: {},
  }
  await deleteScanBatches(app.store, forge.repository)
  if (parts.size > 0) await writeScanBatches(app.store, forge.repository, pass, parts)
  if (named?.left === 0) await pruneVerifiedImageTags(app.store, forge.repository, references)
  const still = new Set(references)
  const missingImages =
    kind === 'round'
      ? Object.fromEntries(Object.entries(state.missingImages).filter(([reference]) => still.has(reference)))
      : state.missingImages
  app.log.info(
    { repository: forge.repository, pass: kind, references: references.length },
    'image scan started',
  )
  return { ...state, missingImages, pass, dueAt: now }
}

/** Returns false if another instance took over before anything was reported. */
async function finishScanPass(
  state: ScanState,
  pass: ImageScanPass,
  isStillOurs: () => Promise<boolean>,
  ctx: JobContext<StateStore>,
): Promise<boolean> {
  const { app, forge } = ctx
  const { repository } = forge
  const now = app.clock.now()
  const confirmed = new Set(
    Object.entries(state.missingImages)
      .filter(([, one]) => one.confirmed)
      .map(([reference]) => reference),
  )
  const scanned = await loadScannedBranches(ctx)
  const pace = getScanSchedule(scanned[0]?.config, app.settings)
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
        ? await readImageReferenceLocations(confirmed, scanned, ctx)
        : { places: new Map(), owners: new Map() }
    const named = Object.entries(current.missingImages).filter(
      ([reference]) => !confirmed.has(reference) || places.has(reference),
    )
    current = { ...current, missingImages: Object.fromEntries(named) }
    if (!(await isStillOurs())) return false
    const missing = findConfirmedMissingImages(current, places, scanned[0]?.config.rules ?? {})
    if (scan.issue)
      await reportMissingImages(
        missing,
        { owners, mentionOwners: scan.mentionOwners, rulesUrl: app.settings.rulesUrl },
        current.report,
        ctx,
        async (report) => {
          current = { ...current, report }
          await writeScanState(app.store, repository, current)
        },
      )
  }
  const { pass: _done, ...rest } = current
  const dueAt = pace === undefined ? now : computeNextScanDueAtMs(rest, pace, now)
  await writeScanState(app.store, repository, { ...rest, dueAt })
  updateScanMetrics(app.metrics, repository, rest)
  app.log.info(
    { repository, pass: pass.kind, references: pass.references, unknown, missing: confirmed.size },
    'image scan finished',
  )
  return true
}

/** Confirmed missing images, if the repository wants reports. */
function findConfirmedMissingImages(
  { missingImages }: ScanState,
  locationsByReference: ReadonlyMap<string, MissingImageReference['places']>,
  rules: Config['rules'],
): readonly MissingImageReference[] {
  return Object.entries(missingImages).flatMap(([reference, one]) => {
    const rule = ruleIdByImageScanFailureKind[one.kind]
    const reportedLocations = (locationsByReference.get(reference) ?? []).filter(
      (at) => !isRuleSilenced(rule, at, rules),
    )
    return one.confirmed && reportedLocations.length > 0
      ? [{ ...one, reference, places: reportedLocations }]
      : []
  })
}

/** Repositories without scans only reread their configuration. */
const disabledScanSchedule: ScanSchedule = { intervalMs: Number.POSITIVE_INFINITY, recheckDelayMs: 0 }

/** Returns undefined if scans are disabled. */
function getScanSchedule(
  config: Config | undefined,
  settings: JobContext['app']['settings'],
): ScanSchedule | undefined {
  const every = config?.images.scan.every ?? 'off'
  if (every === 'off') return undefined
  const hours = Number(every.slice(0, -1)) * (every.endsWith('d') ? 24 : 1)
  const seconds = settings.scanSeconds ?? hours * 3600
  if (seconds === 0) return undefined
  return { intervalMs: seconds * 1000, recheckDelayMs: settings.secondLookSeconds * 1000 }
}

function updateScanMetrics(
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

/**
 * `saveReportState` is called before and after each write to GitHub; the last state counts. Rejects with a retryable
 * ForgeError; a rejection is logged and counted.
 */
async function reportMissingImages(
  missing: readonly MissingImageReference[],
  options: MissingImagesIssueOptions,
  known: MissingImagesReportState | undefined,
  ctx: JobContext,
  saveReportState: (report: MissingImagesReportState) => Promise<void>,
): Promise<void> {
  const { app, forge } = ctx
  if (missing.length === 0 && known === undefined) return
  const desired = missing.length === 0 ? undefined : renderMissingImagesIssue(missing, options)
  const digest = computeIssueDigest(desired ?? resolvedMissingImagesIssue)
  if (known?.digest === digest) return
  try {
    // Recorded first: after a crash, an issue may exist.
    if (known === undefined) await saveReportState({ digest: '', told: [] })
    const keys = missing.map((one) => toImageScanFailureKey(one.reference, one))
    const reportedKeys = new Set(known?.told)
    const hasNews = (shownBody = '') =>
      known === undefined || known.digest === ''
        ? missing.some(
            (one) =>
              !reportedKeys.has(toImageScanFailureKey(one.reference, one)) &&
              !shownBody.includes(formatImageReferenceAsCode(one.reference)),
          )
        : keys.some((key) => !reportedKeys.has(key))
    const { action, number } = await updateTrackedIssue(
      {
        marker: missingImagesMarker,
        number: known?.issue,
        desired,
        whenClosed: (shown) => (hasNews(shown?.body) ? 'reopen' : 'nothing'),
        solved: {
          ...resolvedMissingImagesIssue,
          commentMarker: (shown) =>
            `<!-- catalog-bot:images-are-back ${computeIssueDigest(shown).slice(0, 16)} -->`,
        },
      },
      forge,
    )
    // Images that are back are dropped, so that they are reported again if they disappear.
    await saveReportState({ ...(number !== undefined && { issue: number }), digest, told: keys })
    if (action !== 'nothing') app.metrics.missingImageReports.inc({ outcome: pastTenseByIssueAction[action] })
    app.log.info(
      { repository: forge.repository, issue: number, step: action, missing: missing.length },
      'missing images reported',
    )
  } catch (error) {
    if (!(error instanceof ForgeError) || error.retryable) throw error
    app.metrics.missingImageReports.inc({ outcome: 'refused' })
    app.log.warn(
      { err: error, repository: forge.repository, missing: missing.length },
      'GitHub rejected the issue about missing images because issues are disabled or the App lacks the "issues: write" permission',
    )
  }
}

function computeIssueDigest({ title, body }: { readonly title: string; readonly body: string }): string {
  return createHash('sha256').update(`${title}\n${body}`).digest('hex')
}
