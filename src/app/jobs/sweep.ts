// The sweep: every open pull request and every base branch is looked at every few minutes, with no webhook at all.
// Webhooks only make it sooner (T41); what the sweep finds is the truth.
import type { CommitSha } from '../../change/ids.ts'
import { stopsInForce, type LandingStop } from '../../gate/landing-stop.ts'
import type { LandingStops } from '../../ports/landing-stops.ts'
import type { Landings } from '../../ports/landings.ts'
import type { Leases } from '../../ports/leases.ts'
import { defineCache, type Cache } from '../../ports/cache.ts'
import type { Job, Jobs } from '../../ports/jobs.ts'
import type { PageRecords } from '../../ports/page-records.ts'
import type { State } from '../../ports/state.ts'
import type { InstalledRepository } from '../../github/github-app.ts'
import { removeLeftStaged } from '../../landing/remove-staged.ts'
import { queuedBranches } from './queued-branches.ts'
import { retryWhereRulesChanged } from './refused-pull.ts'
import { isScanDue } from './scan-repository.ts'
import type { App, JobContext } from './job-context.ts'

/** A pull request about which nothing changed is looked into again after this long: rights and registries change too. */
const unchangedSeconds = 3600
/** As the last sweep saw them. Forgotten, a pull request is looked at once more than it needs. */
const sweptPulls = defineCache<string>('swept pull', {
  version: 1,
  read: (stored) => (typeof stored === 'string' ? stored : undefined),
})

/**
 * One repository: its branches, and a job for each open pull request that is not as it was at the last sweep. What
 * a list call shows (head, base branch's tip, time of the last change) tells that, so a repository with hundreds of
 * quiet pull requests costs a few calls, not thousands.
 */
export async function sweepRepository(
  job: Extract<Job, { kind: 'sweep' }>,
  place: JobContext<Jobs & State & Cache & LandingStops & Landings & Leases & PageRecords>,
): Promise<void> {
  const { app, forge, repository } = place
  const about = { installation: job.installation, repository: job.repository }
  await app.store.enqueue({ kind: 'branch', ...about, branch: await forge.defaultBranch() })
  await removeLeftStaged(job.repository, {
    ...place,
    store: app.store,
    leaseSeconds: app.settings.leaseSeconds,
  })
  for (const branch of await queuedBranches(job.repository, app.store))
    await app.store.enqueue({ kind: 'group', ...about, branch })
  // What was begun and is not settled: a merged pull request is in no list of open ones.
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
  for (const branch of new Set(pulls.map(({ baseRef }) => baseRef))) {
    await repository.fetch(branch)
    tips.set(branch, await repository.tip(branch))
  }
  const keyOf = (pull: number) => `${job.repository.owner}/${job.repository.name}#${pull}`.toLowerCase()
  const before = await app.store.getCached(
    sweptPulls,
    pulls.map(({ pull }) => keyOf(pull)),
  )
  const parked = new Set(await app.store.parkedPulls(job.repository))
  // Also what one pull request was refused for may be gone with a rule.
  const waiting = pulls.filter(({ pull }) => parked.has(pull)).map(({ baseRef }) => baseRef)
  await retryWhereRulesChanged(await app.store.landingStops(job.repository), waiting, place)
  const stops = await app.store.landingStops(job.repository)
  const changed = new Map<string, string>()
  for (const { pull, head, baseRef, updatedAt } of pulls) {
    const state = `${head} ${tips.get(baseRef)} ${updatedAt} ${stateOfStops(stops, baseRef, app.clock.now())}`
    // What GitHub refused may depend on checks of others: no list shows those.
    if (before.get(keyOf(pull)) === state && !parked.has(pull)) continue
    await app.store.enqueue({ kind: 'pull', ...about, pull })
    changed.set(keyOf(pull), state)
  }
  if (changed.size > 0) await app.store.putCached(sweptPulls, changed, unchangedSeconds)
}

/** Differs when a stop begins, ends or is over for a try. */
function stateOfStops(stops: readonly LandingStop[], branch: string, now: number): string {
  return stopsInForce(stops, branch, now)
    .map(({ kind, since, times }) => `${kind} ${since} ${times}`)
    .join(', ')
}

export interface SweeperOptions {
  readonly installed: () => Promise<readonly InstalledRepository[]>
  readonly app: App<Jobs & PageRecords>
}

/** Sweeps all repositories at once and then every `sweepSeconds`, until stopped. A failure waits for the next round. */
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
