// Evaluates every open pull request and base branch every few minutes without webhooks, which only make it sooner.
import type { CommitSha, PullNumber } from '../../change/ids.ts'
import { pullKey } from '../../change/repository-key.ts'
import { stopsInForce, type LandingStop } from '../../gate/landing-stop.ts'
import { eachOf } from '../../examine/gather-answers.ts'
import { defineCache } from '../../ports/cache.ts'
import type { Job, Jobs } from '../../ports/jobs.ts'
import type { OpenPull } from '../../ports/forge.ts'
import type { PageRecords } from '../../ports/page-records.ts'
import type { ReadyPulls } from '../../ports/ready-pulls.ts'
import type { Store } from '../../ports/store.ts'
import type { InstalledRepository } from '../../github/github-app.ts'
import { removeLeftStaged } from '../../landing/remove-staged.ts'
import { isServed } from './is-served.ts'
import { standsStill } from './keep-look.ts'
import { queuedBranches } from './queued-branches.ts'
import { retryWhereRulesChanged } from './refused-pull.ts'
import { isScanDue } from './scan-repository.ts'
import type { App, JobContext } from './job-context.ts'

/** Seconds until an unchanged pull request is evaluated again, because permissions and registries change too. */
const unchangedSeconds = 3600
/** If lost, each pull request is evaluated once more. */
const sweptPulls = defineCache<string>('swept pull', {
  version: 1,
  read: (stored) => (typeof stored === 'string' ? stored : undefined),
})

/**
 * Enqueues a job for each pull request that changed since the last sweep. List calls show the head, base tip and update
 * time, so hundreds of quiet pull requests cost a few calls.
 */
export async function sweepRepository(
  job: Extract<Job, { kind: 'sweep' }>,
  place: JobContext<Store>,
): Promise<void> {
  const { app, forge, repository } = place
  const about = { installation: job.installation, repository: job.repository }
  await app.store.enqueue({ kind: 'branch', ...about, branch: await forge.defaultBranch({ kept: true }) })
  await removeLeftStaged(job.repository, {
    ...place,
    store: app.store,
    leaseSeconds: app.settings.leaseSeconds,
  })
  for (const branch of await queuedBranches(job.repository, app.store))
    await app.store.enqueue({ kind: 'group', ...about, branch })
  // Unsettled merges: merged pull requests are in no list of open ones.
  for (const { pull } of await app.store.openLandings(job.repository))
    await app.store.enqueue({ kind: 'pull', ...about, pull })
  if (await isScanDue(job.repository, app)) await app.store.enqueue({ kind: 'scan', ...about })
  const pulls = await forge.openPulls()
  await app.store.retainOpenPulls(
    job.repository,
    pulls.map(({ pull }) => pull),
    app.clock.now(),
  )
  const tips = new Map<string, CommitSha | undefined>()
  const unserved = new Set<string>()
  for (const branch of new Set(pulls.map(({ baseRef }) => baseRef))) {
    await repository.fetch(branch)
    tips.set(branch, await repository.tip(branch))
    // A configuration change on the default branch does not move other branches.
    if (!(await isServed(branch, place, { kept: true }))) unserved.add(branch)
  }
  const keyOf = (pull: PullNumber) => pullKey(job.repository, pull)
  const before = await app.store.getCached(
    sweptPulls,
    pulls.map(({ pull }) => keyOf(pull)),
  )
  const parked = new Set(await app.store.parkedPulls(job.repository))
  // A removed rule may unblock a rejected pull request.
  const waiting = pulls.filter(({ pull }) => parked.has(pull)).map(({ baseRef }) => baseRef)
  await retryWhereRulesChanged(await app.store.landingStops(job.repository), waiting, place)
  const stops = await app.store.landingStops(job.repository)
  const changed = new Map<string, string>()
  const moved: { readonly open: OpenPull; readonly state: string; readonly tip: CommitSha }[] = []
  const ready = await readyHeads(new Set(tips.keys()), place)
  for (const open of pulls) {
    const { pull, head, baseRef, updatedAt } = open
    // The batch reads it again and requests a full evaluation if needed.
    if (ready.get(pull) === `${head} ${baseRef}`) continue
    const tip = tips.get(baseRef)
    const served = unserved.has(baseRef) ? ' unserved' : ''
    const state = `${head} ${tip} ${updatedAt} ${stateOfStops(stops, baseRef, app.clock.now())}${served}`
    const known = before.get(keyOf(pull))
    // Checks by others may unblock a rejected pull request, and lists do not show them.
    if (known === state && !parked.has(pull)) continue
    if (
      known !== undefined &&
      tip !== undefined &&
      withoutTip(known) === withoutTip(state) &&
      !parked.has(pull)
    )
      moved.push({ open, state, tip })
    else changed.set(keyOf(pull), state)
  }
  const asBefore = await stillStanding(moved, pulls, place)
  for (const { open, state } of moved) {
    const left = asBefore.get(open.pull)
    if (left === undefined) changed.set(keyOf(open.pull), state)
    else await app.store.putCached(sweptPulls, new Map([[keyOf(open.pull), state]]), left)
  }
  for (const { pull } of pulls)
    if (changed.has(keyOf(pull))) await app.store.enqueue({ kind: 'pull', ...about, pull })
  if (changed.size > 0) await app.store.putCached(sweptPulls, changed, unchangedSeconds)
}

/** The heads and base branches of queued pull requests. Also enqueues each branch's batch. */
async function readyHeads(
  branches: ReadonlySet<string>,
  { app, forge, installation }: JobContext<Jobs & ReadyPulls>,
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

/** Milliseconds per sweep for pull requests whose base moved; the rest get a full evaluation. */
const stillTime = 120_000

/** Pull requests whose verdict holds on the new tip, with the seconds for which it does. */
async function stillStanding(
  moved: readonly { readonly open: OpenPull; readonly tip: CommitSha }[],
  pulls: readonly OpenPull[],
  place: JobContext<Store>,
): Promise<ReadonlyMap<PullNumber, number>> {
  const { clock, log } = place.app
  const end = clock.now() + stillTime
  const still = new Map<PullNumber, number>()
  await eachOf(moved, 2, async ({ open, tip }) => {
    if (clock.now() > end) return
    try {
      const left = await standsStill(open, tip, place, pulls)
      if (left !== undefined) still.set(open.pull, left)
    } catch (error) {
      log.debug({ err: error, pull: open.pull }, 'not judged on the new base without a look')
    }
  })
  log.info({ moved: moved.length, still: still.size }, 'base moved')
  return still
}

/** The state without the base's tip. */
const withoutTip = (state: string): string => state.replace(/^(\S+) \S+ /, '$1 ')

/** Changes when a freeze begins, ends or allows a retry. */
function stateOfStops(stops: readonly LandingStop[], branch: string, now: number): string {
  return stopsInForce(stops, branch, now)
    .map(({ kind, since, times }) => `${kind} ${since} ${times}`)
    .join(', ')
}

export interface SweeperOptions {
  readonly installed: () => Promise<readonly InstalledRepository[]>
  readonly app: App<Jobs & PageRecords>
}

/** Sweeps all repositories now and then every `sweepSeconds`, until stopped. Failures wait for the next round. */
export function startSweeper({ installed, app }: SweeperOptions): { stop(): Promise<void> } {
  const ending = new AbortController()
  const loop = async () => {
    while (!ending.signal.aborted) {
      try {
        const repositories = await installed()
        const listedAt = app.clock.now()
        await app.store.listRepositories(
          repositories.map(({ isPublic = false, ...one }) => ({ ...one, isPublic, listedAt })),
        )
        for (const { installation, repository } of repositories)
          await app.store.enqueue({ kind: 'sweep', installation, repository })
        app.log.debug({ repositories: repositories.length }, 'sweep')
      } catch (error) {
        app.log.warn({ err: error }, 'the sweep could not list the repositories and will be retried')
      }
      await app.clock.sleep(app.settings.sweepSeconds * 1000, ending.signal)
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
