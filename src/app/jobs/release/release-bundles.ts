// Opens a pull request for each bundle directory merged to the default branch, where its configuration allows.
// Level-triggered and idempotent. It merges nothing: its pull requests are judged like any other.
import type { Config } from '../../../config/config.ts'
import { compareVersions, parseVersion } from '../../../catalog/versions/version.ts'
import type { CommitSha } from '../../../change/ids.ts'
import { readConfig } from '../../../examine/read-config.ts'
import { leaseName } from '../../../landing/lease-name.ts'
import type { Job, Jobs } from '../../../ports/jobs.ts'
import type { Landings } from '../../../ports/landings.ts'
import type { Leases } from '../../../ports/leases.ts'
import type { State } from '../../../ports/state.ts'
import type { JobContext } from '../job-context.ts'
import { keepLease } from '../keep-lease.ts'
import { mergedBundles } from './merged-bundles.ts'
import { releases, type ReleaseState, type Releasing } from './release-state.ts'
import { stepRelease } from './step-release.ts'

type ReleaseJob = Extract<Job, { kind: 'release' }>
type Releases = JobContext<State & Jobs & Leases & Landings>

/** Seconds until retry while another process holds the lease. */
const leaseWait = 5
/** For each repository; the oldest are dropped. */
const mostReleasing = 500

export async function wantsReleases(
  branch: string,
  tip: CommitSha,
  config: Config,
  { app, forge }: JobContext<State>,
): Promise<boolean> {
  const state = await app.store.readState(releases, forge.repository, branch)
  if (!config.bundles.release.enabled) return state !== undefined
  return (
    (state === undefined || state.seen !== tip || state.releasing.length > 0) &&
    branch === (await forge.defaultBranch())
  )
}

export async function releaseBundles(job: ReleaseJob, place: Releases): Promise<void> {
  const { app } = place
  const kept = await keepLease(`${leaseName(job.repository, job.branch)} release`, app)
  if (kept === undefined) return app.store.enqueue(job, leaseWait)
  try {
    await release(job, place)
  } finally {
    await kept.release()
  }
}

async function release(job: ReleaseJob, place: Releases): Promise<void> {
  const { app, forge, repository } = place
  const { store } = app
  if (job.branch !== (await forge.defaultBranch())) return
  await repository.fetch(job.branch)
  const tip = await repository.tip(job.branch)
  if (tip === undefined) return
  const tree = await repository.treeOf(tip)
  const { config, findings } = await readConfig(repository, tree)
  // Wait until the broken configuration is fixed.
  if (findings.length > 0) return
  if (!config.bundles.release.enabled) {
    // If enabled again, only later merges count.
    await store.retainState(releases, forge.repository, [])
    return
  }
  const known = await store.readState(releases, forge.repository, job.branch)
  const write = (state: ReleaseState) =>
    store.writeState(releases, forge.repository, new Map([[job.branch, state]]))
  if (known === undefined) return write({ seen: tip, releasing: [] })
  let state = known
  if (state.seen !== tip) {
    state = await noticed(state, tip, place)
    await write(state)
  }
  const base = { branch: job.branch, tip, tree }
  const failed: unknown[] = []
  for (const { directory, version } of state.releasing) {
    const isIt = (one: Releasing) => one.directory === directory && one.version === version
    const at = state.releasing.findIndex(isIt)
    const entry = state.releasing[at]
    if (entry === undefined) continue
    const put = async (next: Releasing | undefined) => {
      state = { ...state, releasing: state.releasing.flatMap((one) => (isIt(one) ? (next ?? []) : one)) }
      await write(state)
    }
    // Problems of an earlier version are reported there.
    const isBehind = state.releasing
      .slice(0, at)
      .some((one) => one.directory === directory && one.told.length === 0)
    try {
      const next = await stepRelease({ entry, config, base, isBehind, remember: put }, place)
      if (next !== entry) await put(next)
    } catch (error) {
      // One bundle's failure must not block the others.
      failed.push(error)
    }
  }
  if (failed.length > 0) throw failed[0]
  const waiting = state.releasing.filter(({ image, seen }) => image === undefined || seen !== tip)
  if (waiting.length === 0) return
  const again = Math.min(...waiting.map((one) => one.again))
  await store.enqueue(job, Math.max(1, Math.ceil((again - app.clock.now()) / 1000)))
}

/** Adds what was merged to the branch since. */
async function noticed(state: ReleaseState, tip: CommitSha, place: Releases): Promise<ReleaseState> {
  const { app, repository } = place
  const merged = await mergedBundles(state.seen, tip, repository)
  if (merged === 'too-many') {
    app.log.warn({ from: state.seen, tip }, 'more bundle directories came at once than are released')
    return { ...state, seen: tip }
  }
  const now = app.clock.now()
  const isSame = (a: { directory: string; version: string }, b: typeof a) =>
    a.directory === b.directory && a.version === b.version
  const renewed = state.releasing.map((one): Releasing => {
    const again = merged.find((each) => isSame(each, one))
    if (!again) return one
    const { seen: _, ...rest } = one
    return rest
  })
  const added = merged
    .filter((one) => !state.releasing.some((each) => isSame(each, one)))
    .map((one): Releasing => ({ ...one, since: now, tries: 0, again: now, told: [] }))
  return {
    seen: tip,
    releasing: [...renewed, ...added].sort(byVersion).slice(-mostReleasing),
  }
}

/** By package, then version: each may replace the one before it. */
function byVersion(a: Releasing, b: Releasing): number {
  if (a.directory !== b.directory) return a.directory < b.directory ? -1 : 1
  const [one, other] = [parseVersion(a.version), parseVersion(b.version)]
  const order = one.ok && other.ok ? compareVersions(one.value, other.value) : 0
  return order === 0 ? (a.version < b.version ? -1 : 1) : order
}
