// Runs install tests on clusters, one at a time on each cluster across all instances. Repositories with a recent
// install test yield to others. After a crash, the next process cleans up by the names that the crashed process stored.
import { catchRejection } from '../adapters/github/forge-error.ts'
import { renderClusterTestCheck, type ClusterTestView } from '../report/cluster-test-check.ts'
import type { JobOfKind, JobQueue, Lease, LeaseStore } from '../ports/jobs.ts'
import { type StateStore, writeStateValue } from '../ports/state.ts'
import type {
  ClusterTestWorkerResponse,
  ClusterTestProgress,
  ClusterTestCatalogImages,
} from './process/cluster-test-protocol.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { addCheckRunDigest } from '../jobs/publish-report.ts'
import {
  clusterTestRunStateNamespace,
  lastClusterTestRunStateNamespace,
  clusterTestRequestStateNamespace,
  type ClusterTestRunState,
  type ClusterTestRequest,
} from './request-cluster-test.ts'
import type { PullNumber } from '../pull-request/ids.ts'
import { loadPublishInputs, computeCatalogContentKey } from '../publish/load-publish-inputs.ts'
import { builtPreviewStateNamespace, previewRequestStateNamespace } from '../publish/preview.ts'
import { publicationStateNamespace } from '../publish/publication-state.ts'

/** By catalog root. `coming`: the preview is being built. */
export type ClusterTestImagesByCatalog = ReadonlyMap<string, ClusterTestCatalogImages | 'coming'>

type PlannedCatalogPublications = NonNullable<
  Awaited<ReturnType<typeof loadPublishInputs>>
>['plan']['publications']

const isEndedPreviewRecord = (end: string, comment: number, key: string): boolean =>
  end.startsWith(`${comment} `) && end.endsWith(` ${key}`)

type ClusterTestJob = JobOfKind<'trial'>
type ClusterTestContext = JobContext<StateStore & JobQueue & LeaseStore>
type RequestedClusterTest = ClusterTestRequest['trials'][number]

const clusterLeaseSeconds = 180
const busyClusterRetrySeconds = 15
/** Milliseconds in which a repository yields after its install test; all who wait retry within this time. */
const clusterTestCooldownMs = 3 * busyClusterRetrySeconds * 1000
/** Seconds for which a repository keeps its place in line without asking again. */
const clusterQueuePositionLeaseSeconds = 2 * busyClusterRetrySeconds
const lastClusterTestRunStateKey = 'last'
/** Milliseconds between check updates while it runs. */
const checkRunUpdateIntervalMs = 15_000
const emptyClusterTestRunState: ClusterTestRunState = { key: '', running: [], attempts: 0 }
/** Retries after a process failure, which also clean up. */
const maxClusterTestAttempts = 3
const workerProcessFailureRetrySeconds = 60
/** Seconds between checks for a preview image in progress, and their number: after ten minutes OLM v1 is skipped. */
const previewImagePollSeconds = 20
const maxPreviewImagePolls = 30

export async function runClusterTests(
  job: ClusterTestJob,
  ctx: ClusterTestContext,
  findImages: typeof loadClusterTestImagesByCatalog = loadClusterTestImagesByCatalog,
): Promise<void> {
  const { app, forge, installation } = ctx
  const key = String(job.pull)
  const request = await app.store.readState(clusterTestRequestStateNamespace, forge.repository, key)
  const made =
    (await app.store.readState(clusterTestRunStateNamespace, forge.repository, key)) ??
    emptyClusterTestRunState
  if (request === undefined || request.isOver || made.key === request.key) return
  const prepared = await app.clusterTests.order({ kind: 'prepare', github: forge.repository, installation })
  if (prepared.kind !== 'prepared') {
    const why = 'why' in prepared ? prepared.why : 'the test cluster could not be prepared'
    await publishClusterTestCheck(request, [{ kind: 'not-tried', what: 'this change', why }], ctx)
    await writeStateValue(app.store, clusterTestRunStateNamespace, forge.repository, key, {
      ...made,
      key: request.key,
    })
    return
  }
  const images = await findImages(job.pull, request, ctx)
  const waited = made.waited?.key === request.key ? made.waited.times : 0
  if ([...images.values()].includes('coming') && waited < maxPreviewImagePolls) {
    await publishClusterTestCheck(request, [{ kind: 'waiting', isForImage: true }], ctx)
    const now = { ...made, waited: { key: request.key, times: waited + 1 } }
    await writeStateValue(app.store, clusterTestRunStateNamespace, forge.repository, key, now)
    await app.store.enqueue(job, previewImagePollSeconds)
    return
  }
  const lease = await acquireClusterLease(prepared.slot, ctx)
  if (lease === undefined) {
    await publishClusterTestCheck(request, [{ kind: 'waiting' }], ctx)
    await app.store.enqueue(job, busyClusterRetrySeconds)
    return
  }
  try {
    await runRequestedClusterTests(job, request, made, { prepared, lease, images }, ctx)
  } finally {
    const lastRun = new Map([[lastClusterTestRunStateKey, { ended: app.clock.now() }]])
    await app.store.writeState(lastClusterTestRunStateNamespace, forge.repository, lastRun)
    await app.store.releaseLease(lease)
  }
}

/**
 * Returns the cluster's lease if it is free and no other repository waits first. A place in line is a lease that
 * expires unreleased.
 */
async function acquireClusterLease(
  slot: string,
  { app, forge }: ClusterTestContext,
): Promise<Lease | undefined> {
  const line = `trial line ${slot}`
  const lastRun = await app.store.readState(
    lastClusterTestRunStateNamespace,
    forge.repository,
    lastClusterTestRunStateKey,
  )
  const wasLast = lastRun !== undefined && app.clock.now() - lastRun.ended < clusterTestCooldownMs
  if (wasLast) {
    const free = await app.store.acquireLease(line, 1)
    if (free === undefined) return undefined
    await app.store.releaseLease(free)
  }
  const lease = await app.store.acquireLease(`trial ${slot}`, clusterLeaseSeconds)
  if (lease === undefined && !wasLast) await app.store.acquireLease(line, clusterQueuePositionLeaseSeconds)
  return lease
}

interface ClusterTestInputs {
  readonly prepared: Extract<ClusterTestWorkerResponse, { kind: 'prepared' }>
  readonly lease: Lease
  readonly images: ClusterTestImagesByCatalog
}

async function runRequestedClusterTests(
  job: ClusterTestJob,
  request: ClusterTestRequest,
  before: ClusterTestRunState,
  inputs: ClusterTestInputs,
  ctx: ClusterTestContext,
): Promise<void> {
  const { app, forge } = ctx
  const key = String(job.pull)
  const views: ClusterTestView[] = []
  let made = before
  const saveRuns = async (change: Partial<ClusterTestRunState>): Promise<void> => {
    made = { ...made, ...change }
    await writeStateValue(app.store, clusterTestRunStateNamespace, forge.repository, key, made)
  }
  for (const [index, requested] of request.trials.entries()) {
    const rest = request.trials
      .slice(index + 1)
      .map(({ trial }): ClusterTestView => ({ kind: 'planned', trial }))
    let shownAt = -Infinity
    const onProgress = async ({ id, says }: ClusterTestProgress): Promise<'go' | 'stop'> => {
      if (id !== undefined) await saveRuns({ running: [...made.running, id] })
      if (!(await app.store.renewLease(inputs.lease, clusterLeaseSeconds))) return 'stop'
      const now = await app.store.readState(clusterTestRequestStateNamespace, forge.repository, key)
      if (now?.key !== request.key || now.isOver) return 'stop'
      if (app.clock.now() - shownAt >= checkRunUpdateIntervalMs) {
        shownAt = app.clock.now()
        await publishClusterTestCheck(
          request,
          [...views, { kind: 'running', trial: requested.trial, says }, ...rest],
          ctx,
        )
      }
      return 'go'
    }
    const answer = await runSingleClusterTest(requested, request, made.running, inputs, onProgress, ctx)
    // The janitor removes the remaining objects by label.
    if (answer.kind === 'tried' || answer.kind === 'not-tried') await saveRuns({ running: [] })
    if (answer.kind === 'failed' && made.attempts < maxClusterTestAttempts) {
      await saveRuns({ attempts: made.attempts + 1 })
      await publishClusterTestCheck(request, [{ kind: 'waiting' }], ctx)
      await app.store.enqueue(job, workerProcessFailureRetrySeconds)
      return
    }
    views.push(toClusterTestView(requested, answer))
    const now = await app.store.readState(clusterTestRequestStateNamespace, forge.repository, key)
    // A newer commit has its own check and job.
    if (now?.key !== request.key || now.isOver) {
      await reportSupersededClusterTests(job, request, now, ctx)
      return
    }
  }
  await publishClusterTestCheck(request, views, ctx)
  await saveRuns({ key: request.key, attempts: 0 })
  // The required check may have been the last obstacle to the merge.
  if (request.isRequired) await app.store.enqueue({ ...job, kind: 'pull' })
}

async function reportSupersededClusterTests(
  job: ClusterTestJob,
  request: ClusterTestRequest,
  now: ClusterTestRequest | undefined,
  ctx: ClusterTestContext,
): Promise<void> {
  await publishClusterTestCheck(
    request,
    [{ kind: 'not-tried', what: 'this commit', why: 'the pull request has a newer commit or was closed' }],
    ctx,
  )
  if (now !== undefined && !now.isOver) await ctx.app.store.enqueue(job)
}

async function runSingleClusterTest(
  { root, trial }: RequestedClusterTest,
  { tree, baseTree }: ClusterTestRequest,
  abandoned: readonly string[],
  { prepared, images }: ClusterTestInputs,
  onNews: (news: ClusterTestProgress) => Promise<'go' | 'stop'>,
  { app, forge, installation, mirror }: ClusterTestContext,
): Promise<ClusterTestWorkerResponse> {
  const imagesOfRoot = trial.target === 'OLM v1' ? images.get(root) : undefined
  const requestTest = (catalogs?: { readonly head: number; readonly base?: number }) =>
    app.clusterTests.order(
      {
        kind: 'try',
        github: forge.repository,
        installation,
        trial,
        abandoned,
        ...(catalogs && { catalogs }),
        ...(imagesOfRoot && { images: imagesOfRoot === 'coming' ? missingPreviewImageReason : imagesOfRoot }),
      },
      onNews,
    )
  if (trial.target !== 'OLM v0' || !prepared.servesCatalogs) return requestTest()
  const [headPort, basePort] = prepared.ports ?? [0, 0]
  const answer = await app.clusterTests.withServedCatalog(
    { mirror, tree, root, port: headPort },
    async (head) => {
      if (!trial.isUpgrade) return requestTest({ head })
      return app.clusterTests.withServedCatalog({ mirror, tree: baseTree, root, port: basePort }, (base) =>
        requestTest({ head, base }),
      )
    },
  )
  return 'unserved' in answer ? { kind: 'failed', why: answer.unserved } : answer
}

const missingPreviewImageReason = {
  why: 'OLM v1 loads catalogs from images, and the preview image for this commit was not ready in time',
}

function toClusterTestView(
  { trial }: RequestedClusterTest,
  answer: ClusterTestWorkerResponse,
): ClusterTestView {
  if (answer.kind === 'tried') return { kind: 'tried', report: answer.report }
  const label = `${trial.package}, channel ${trial.channel}, ${trial.target}`
  return {
    kind: 'not-tried',
    what: label,
    why: 'why' in answer ? answer.why : 'the install test did not run',
  }
}

async function publishClusterTestCheck(
  { head, isRequired }: ClusterTestRequest,
  views: readonly ClusterTestView[],
  { app, forge }: ClusterTestContext,
): Promise<void> {
  const run = addCheckRunDigest(renderClusterTestCheck(views, isRequired))
  await catchRejection(forge.perform({ kind: 'put-check', head, run }), (error) =>
    app.log.warn({ err: error, head }, 'GitHub rejected the check run for cluster install tests'),
  )
}

/** Finds catalog images for installers that need them: the preview of the tree to merge, and the published image of its base. Matched by content, referenced by digest. */
export async function loadClusterTestImagesByCatalog(
  pull: PullNumber,
  request: ClusterTestRequest,
  ctx: JobContext<StateStore>,
): Promise<ClusterTestImagesByCatalog> {
  const roots = new Set(
    request.trials.filter(({ trial }) => trial.target === 'OLM v1').map(({ root }) => root),
  )
  if (roots.size === 0) return new Map()
  const inputs = await loadPublishInputs(ctx)
  const found = new Map<string, ClusterTestCatalogImages | 'coming'>()
  for (const root of roots) {
    const own = (inputs?.plan.publications ?? []).filter(
      ({ catalog, entry }) => catalog.root === root && entry.preview !== undefined,
    )
    found.set(root, await loadClusterTestCatalogImages(own, root, pull, request, ctx))
  }
  return found
}

async function loadClusterTestCatalogImages(
  own: PlannedCatalogPublications,
  root: string,
  pull: PullNumber,
  request: ClusterTestRequest,
  { app, forge, repository }: JobContext<StateStore>,
): Promise<ClusterTestCatalogImages | 'coming'> {
  if (own.length === 0)
    return {
      why: 'OLM v1 loads catalogs from images, and the configuration does not enable previews for this catalog',
    }
  const made = await app.store.readState(builtPreviewStateNamespace, forge.repository, String(pull))
  const previewRequest = await app.store.readState(
    previewRequestStateNamespace,
    forge.repository,
    String(pull),
  )
  let isOver = false
  for (const publication of own) {
    const key = await computeCatalogContentKey(publication, request.tree, repository)
    const image = made?.images.find(
      (one) => one.root === root && one.image === publication.image && one.key === key,
    )
    if (!image || image.until <= app.clock.now()) {
      // An expired preview is rebuilt only on request.
      isOver ||=
        image !== undefined ||
        made?.ended.some((end) => isEndedPreviewRecord(end, previewRequest?.comment ?? 0, key)) === true
      continue
    }
    const published = await app.store.readState(publicationStateNamespace, forge.repository, publication.id)
    const isOfBase =
      published?.current !== undefined &&
      published.current.key === (await computeCatalogContentKey(publication, request.baseTree, repository))
    return {
      head: `${image.image}@${image.digest}`,
      ...(isOfBase && { base: `${publication.image}@${published.current?.digest ?? ''}` }),
    }
  }
  const isRequested =
    previewRequest !== undefined &&
    !isOver &&
    !previewRequest.isClosed &&
    previewRequest.head === request.head &&
    previewRequest.tree === request.tree
  const isComing =
    isRequested && own.some(({ entry }) => previewRequest.isAsked || entry.preview?.automatic === true)
  return isComing
    ? 'coming'
    : {
        why: 'OLM v1 loads catalogs from images, and this commit has no preview image; comment /preview, and then /test-install',
      }
}
