// Evaluates every open pull request and base branch every few minutes. Webhooks only make an evaluation happen sooner.
import { z } from 'zod'
import pLimit from 'p-limit'
import type { CommitSha, PullNumber } from '../../pull-request/ids.ts'
import { toPullRequestKey } from '../../pull-request/snapshot.ts'
import { findActiveFreezes, type MergeFreeze } from '../../policy/merge-freeze.ts'
import { type Cache, defineCacheNamespace } from '../../ports/cache.ts'
import type { JobOfKind, JobQueue } from '../../ports/jobs.ts'
import type { OpenPullSummary } from '../../ports/forge.ts'
import type { StatusPageStore } from '../../ports/status-page-store.ts'
import type { Store, ReadyPullStore } from '../../ports/store.ts'
import type { InstalledRepository } from '../../adapters/github/github-app.ts'
import { removeLeftoverStagingBranches } from '../../merge/push-merge.ts'
import { type AppServices, type JobContext, isBranchManagedByBot } from '../../jobs/job-context.ts'
import {
  findPullsUnchangedSinceEvaluation,
  revalidateCachedVerdictOnNewBase,
} from '../../evaluate/publish-evaluation.ts'
import { createMergeRecoveryOptions, isPullBeingPushed } from '../../merge/recover-merges.ts'
import { readMergeQueueBranches } from '../../merge/merge-queue-state.ts'
import { retryBranchesWithChangedRules } from '../../merge/rejected-pulls.ts'
import { isImageScanDue } from '../../image-scan/scan-repository.ts'

/** Seconds until an unchanged pull request is evaluated again, because permissions and registries change too. */
const pullReevaluationIntervalSeconds = 3600
/** If lost, each pull request is evaluated once more. */
const lastSweptPullStateCache = defineCacheNamespace('swept pull', 1, z.string())

export function forgetSweptPull({ repository, pull }: JobOfKind<'pull'>, store: Cache): Promise<void> {
  return store.putCached(lastSweptPullStateCache, new Map([[toPullRequestKey(repository, pull), '']]), 0)
}

interface SweptPull {
  readonly open: OpenPullSummary
  readonly state: string
  readonly tip: CommitSha
  /** GitHub's update time changed, for which catalog-bot's own comment is a possible reason. */
  readonly isUpdated: boolean
}

/**
 * Enqueues a job for each pull request that changed since the last sweep. List calls show the head, base tip and update
 * time, so hundreds of quiet pull requests cost a few calls.
 */
export async function sweepRepository(job: JobOfKind<'sweep'>, ctx: JobContext<Store>): Promise<void> {
  const { app, forge } = ctx
  const about = { installation: job.installation, repository: job.repository }
  await enqueueRepositoryJobs(job, ctx)
  // While pull requests merge, the base soon moves again.
  await app.scheduler.yieldToPulls()
  const pulls = await forge.openPulls()
  await app.store.retainOpenPulls(
    job.repository,
    pulls.map(({ pull }) => pull),
    app.clock.now(),
  )
  const { tips, unserved } = await readBaseBranches(pulls, ctx)
  const sweptPullKey = (pull: PullNumber) => toPullRequestKey(job.repository, pull)
  const before = await app.store.getCached(
    lastSweptPullStateCache,
    pulls.map(({ pull }) => sweptPullKey(pull)),
  )
  const parked = new Set(await app.store.parkedPulls(job.repository))
  // A removed rule may unblock a rejected pull request.
  const waiting = pulls.filter(({ pull }) => parked.has(pull)).map(({ baseRef }) => baseRef)
  await retryBranchesWithChangedRules(await app.store.listFreezes(job.repository), waiting, ctx)
  const stops = await app.store.listFreezes(job.repository)
  const changed = new Map<string, string>()
  const moved: SweptPull[] = []
  const ready = await enqueueMergeBatchJobs(new Set(tips.keys()), ctx)
  const readyBranches = new Set(pulls.filter(({ pull }) => ready.has(pull)).map(({ baseRef }) => baseRef))
  for (const open of pulls) {
    const { pull, head, baseRef, updatedAt } = open
    // The batch reads it again and requests a full evaluation if needed.
    if (ready.get(pull) === `${head} ${baseRef}`) continue
    const tip = tips.get(baseRef)
    const served = unserved.has(baseRef) ? ' unserved' : ''
    const state = `${head} ${tip} ${updatedAt} ${formatFreezeState(stops, baseRef, app.clock.now())}${served}`
    const known = before.get(sweptPullKey(pull))
    // Checks by others may unblock a rejected pull request, and lists do not show them.
    if (known === state && !parked.has(pull)) continue
    if (
      known === undefined ||
      tip === undefined ||
      removeTipAndUpdateTime(known) !== removeTipAndUpdateTime(state) ||
      parked.has(pull)
    )
      changed.set(sweptPullKey(pull), state)
    else {
      const isUpdated = known.split(' ')[2] !== updatedAt
      // The next batch moves the tip again, so a later sweep compares with that one.
      if (isUpdated || !readyBranches.has(baseRef)) moved.push({ open, state, tip, isUpdated })
    }
  }
  const asBefore = await revalidateCachedEvaluations(moved, pulls, ctx)
  for (const { open, state } of moved) {
    const remainingSeconds = asBefore.get(open.pull)
    if (remainingSeconds === undefined) changed.set(sweptPullKey(open.pull), state)
    else
      await app.store.putCached(
        lastSweptPullStateCache,
        new Map([[sweptPullKey(open.pull), state]]),
        remainingSeconds,
      )
  }
  for (const { pull } of pulls)
    if (changed.has(sweptPullKey(pull))) await app.store.enqueue({ kind: 'pull', ...about, pull })
  if (changed.size > 0)
    await app.store.putCached(lastSweptPullStateCache, changed, pullReevaluationIntervalSeconds)
}

/** The work that is due in the repository regardless of its open pull requests. */
async function enqueueRepositoryJobs(job: JobOfKind<'sweep'>, ctx: JobContext<Store>): Promise<void> {
  const { app, forge } = ctx
  const about = { installation: job.installation, repository: job.repository }
  await app.store.enqueue({
    kind: 'branch',
    ...about,
    branch: await forge.defaultBranch({ allowCached: true }),
  })
  await removeLeftoverStagingBranches(job.repository, {
    ...ctx,
    store: app.store,
    leaseSeconds: app.settings.leaseSeconds,
  })
  for (const branch of await readMergeQueueBranches(job.repository, app.store))
    await app.store.enqueue({ kind: 'group', ...about, branch })
  // Interrupted merges: merged pull requests are in no list of open ones.
  for (const { pull } of await app.store.listPendingMerges(job.repository))
    if (!(await isPullBeingPushed(job.repository, pull, createMergeRecoveryOptions(ctx))))
      await app.store.enqueue({ kind: 'pull', ...about, pull })
  if (await isImageScanDue(job.repository, app)) await app.store.enqueue({ kind: 'scan', ...about })
}

async function readBaseBranches(
  pulls: readonly OpenPullSummary[],
  ctx: JobContext<Store>,
): Promise<{
  readonly tips: ReadonlyMap<string, CommitSha | undefined>
  readonly unserved: ReadonlySet<string>
}> {
  const { repository } = ctx
  const tips = new Map<string, CommitSha | undefined>()
  const unserved = new Set<string>()
  for (const branch of new Set(pulls.map(({ baseRef }) => baseRef))) {
    await repository.fetch(branch)
    tips.set(branch, await repository.tip(branch))
    // A configuration change on the default branch does not move other branches.
    if (!(await isBranchManagedByBot(branch, ctx, { allowCached: true }))) unserved.add(branch)
  }
  return { tips, unserved }
}

/** The heads and base branches of queued pull requests. Also enqueues each branch's batch. */
async function enqueueMergeBatchJobs(
  branches: ReadonlySet<string>,
  { app, forge, installation }: JobContext<JobQueue & ReadyPullStore>,
): Promise<ReadonlyMap<PullNumber, string>> {
  const { repository } = forge
  const ready = new Map<PullNumber, string>()
  for (const branch of branches) {
    const waiting = await app.store.readyPulls(repository, branch)
    for (const { pull, snapshot } of waiting) ready.set(pull, `${snapshot.head} ${snapshot.baseRef}`)
    if (waiting.length > 0) await app.store.enqueue({ kind: 'train', installation, repository, branch })
  }
  return ready
}

/** Milliseconds per sweep for pull requests with a moved base or an update; the rest get a full evaluation. */
const maxRevalidationMsPerSweep = 120_000

/** Pull requests whose verdict holds on the new tip, with the seconds for which it does. */
async function revalidateCachedEvaluations(
  moved: readonly SweptPull[],
  pulls: readonly OpenPullSummary[],
  ctx: JobContext<Store>,
): Promise<ReadonlyMap<PullNumber, number>> {
  const { clock, log } = ctx.app
  const end = clock.now() + maxRevalidationMsPerSweep
  const still = new Map<PullNumber, number>()
  const updated = moved.filter(({ isUpdated }) => isUpdated).map(({ open }) => open)
  const unchanged = await findPullsUnchangedSinceEvaluation(updated, ctx)
  await pLimit(2).map(moved, async ({ open, tip, isUpdated }) => {
    if (clock.now() > end || (isUpdated && !unchanged.has(open.pull))) return
    try {
      const remainingSeconds = await revalidateCachedVerdictOnNewBase(open, tip, ctx, pulls)
      if (remainingSeconds !== undefined) still.set(open.pull, remainingSeconds)
    } catch (error) {
      log.debug(
        { err: error, pull: open.pull },
        'a pull request could not be checked against the new base without a full evaluation',
      )
    }
  })
  log.info({ moved: moved.length, still: still.size }, 'the base branch moved')
  return still
}

const removeTipAndUpdateTime = (state: string): string => state.replace(/^(\S+) \S+ \S+/, '$1')

/** Changes when a freeze begins, ends or allows a retry. */
function formatFreezeState(stops: readonly MergeFreeze[], branch: string, now: number): string {
  return findActiveFreezes(stops, branch, now)
    .map(({ kind, since, times }) => `${kind} ${since} ${times}`)
    .join(', ')
}

interface SweeperOptions {
  readonly installed: () => Promise<readonly InstalledRepository[]>
  readonly app: AppServices<JobQueue & StatusPageStore>
}

/** Seconds between sweeps until the App is installed somewhere, because its administrator is waiting for the first check. */
const uninstalledAppSweepIntervalSeconds = 10

/** Sweeps all repositories now and then every `sweepSeconds`, until stopped. Failures wait for the next round. */
export function startSweeper({ installed, app }: SweeperOptions): { stop(): Promise<void> } {
  const ending = new AbortController()
  const loop = async () => {
    while (!ending.signal.aborted) {
      let { sweepSeconds } = app.settings
      try {
        const repositories = await installed()
        const listedAt = app.clock.now()
        await app.store.recordRepositories(
          repositories.map(({ isPublic = false, ...one }) => ({ ...one, isPublic, listedAt })),
        )
        for (const { installation, repository } of repositories)
          await app.store.enqueue({ kind: 'sweep', installation, repository })
        if (repositories.length === 0)
          sweepSeconds = Math.min(sweepSeconds, uninstalledAppSweepIntervalSeconds)
        app.log.debug({ repositories: repositories.length }, 'sweep')
      } catch (error) {
        app.log.warn({ err: error }, 'the sweep could not list repositories and will be retried')
      }
      await app.clock.sleep(sweepSeconds * 1000, ending.signal)
    }
  }
  const running = loop()
  return {
    async stop() {
      ending.abort()
      await running
    },
  }
}
