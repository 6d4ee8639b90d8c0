// Rebuilds changed catalogs after a push: dispatches the configured workflow or event once per commit and reports the
// outcome on the commit.
import { z } from 'zod'
import { commitSha, isObjectId, type CommitSha } from '../../change/ids.ts'
import { isBelow, type CatalogRoot } from '../../change/layout/layout.ts'
import { changedLinks } from '../../examine/changed-links.ts'
import { findLayout } from '../../examine/find-layout.ts'
import type { Config } from '../../config/config.ts'
import { ForgeError } from '../../github/forge-error.ts'
import { rebuildCheck, type RebuildState } from '../../messages/rebuild-check.ts'
import type { Action } from '../../ports/forge.ts'
import type { Job, Jobs } from '../../ports/jobs.ts'
import type { Landings } from '../../ports/landings.ts'
import type { Cache } from '../../ports/cache.ts'
import type { Leases } from '../../ports/leases.ts'
import type { PageRecords } from '../../ports/page-records.ts'
import { defineState, type State } from '../../ports/state.ts'
import { crashPoint } from '../../landing/crash-point.ts'
import { putChecks } from '../../landing/put-checks.ts'
import { readConfig } from '../../examine/read-config.ts'
import { leaseName } from '../../landing/lease-name.ts'
import { rememberTrees } from '../../examine/remember-trees.ts'
import { stepWebhook } from './rebuild-webhook.ts'
import { judgePush, reportPush } from './judge-push.ts'
import { withDigest } from './publish-report.ts'
import { isServed } from './is-served.ts'
import { wantsReleases } from './release/release-bundles.ts'
import { recordCatalogs } from './record-catalogs.ts'
import type { JobContext } from './job-context.ts'

/** Seconds between polls; a webhook usually comes first. */
const pollSeconds = 20
/** Six hours, GitHub's own limit. Longer rebuilds are reported as unfinished. */
const patienceMilliseconds = 6 * 3600 * 1000

const commit = z.string().refine(isObjectId).transform(commitSha)

const rebuild = z.object({
  commit,
  catalogs: z.array(z.string()),
  /** Milliseconds since the epoch; absent until dispatched. */
  dispatchedAt: z.number().exactOptional(),
  /** For webhooks: see rebuild-webhook.ts. */
  attempts: z.number().exactOptional(),
  again: z.number().exactOptional(),
  status: z.string().exactOptional(),
})

const broken = z.object({
  root: z.string(),
  since: commit,
  complaints: z.array(z.string()).readonly(),
  more: z.number(),
})

const branchState = z.object({
  /** The last tip that was processed. */
  seen: commit,
  /** Running rebuilds, and at most one that is not dispatched yet. */
  rebuilds: z.array(rebuild).readonly(),
  /** Catalogs that others' pushes broke and that are still broken. */
  broken: z.array(broken).readonly().exactOptional(),
})

type BranchState = Readonly<z.infer<typeof branchState>>
type Rebuild = Readonly<z.infer<typeof rebuild>>

const branches = defineState<BranchState>('branch', {
  version: 1,
  read: (stored) => branchState.safeParse(stored).data,
})

type BranchJob = Extract<Job, { kind: 'branch' }>
type Remembering = JobContext<State>

export async function watchBranch(
  job: BranchJob,
  place: JobContext<Jobs & Leases & State & Landings & Cache & PageRecords>,
): Promise<void> {
  await watch(job, place)
  await recordCatalogs(job.branch, place)
}

async function watch(job: BranchJob, place: JobContext<Jobs & Leases & State & Landings>): Promise<void> {
  const { app, repository } = place
  const name = `${leaseName(job.repository, job.branch)} rebuild`
  const lease = await app.store.acquireLease(name, app.settings.leaseSeconds)
  if (lease === undefined) return app.store.enqueue(job, 2)
  try {
    await repository.fetch(job.branch)
    const tip = await repository.tip(job.branch)
    if (tip === undefined) return
    let state = await readState(job, place)
    const { config } = await readConfig(repository, await repository.treeOf(tip))
    // Publishing compares branches with images itself, so any change may matter to it.
    if (state?.seen !== tip || config.publish.length > 0)
      await app.store.enqueue({
        kind: 'publish',
        installation: job.installation,
        repository: job.repository,
      })
    if (await wantsReleases(job.branch, tip, config, place))
      await app.store.enqueue({ ...job, kind: 'release' })
    if (state === undefined) return await writeState(job, place, { seen: tip, rebuilds: [] })
    if (state.seen !== tip) {
      const { broken = [] } = state
      const now = await judgePush({ branch: job.branch, from: state.seen, tip, broken }, config, place)
      await reportPush(job.branch, broken, now, place)
      state = { ...state, broken: now }
      state = await noticePush(state, tip, config, job.branch, place)
      await writeState(job, place, state)
    }
    for (const rebuild of state.rebuilds) {
      const next = await driveRebuild(rebuild, config, job, place)
      const others: readonly Rebuild[] = state.rebuilds.filter(({ commit }) => commit !== rebuild.commit)
      state = { ...state, rebuilds: next === undefined ? others : [...others, next] }
      await writeState(job, place, state)
    }
    if (state.rebuilds.length > 0) await app.store.enqueue(job, nextPoll(state.rebuilds, app.clock.now()))
  } finally {
    await app.store.releaseLease(lease)
  }
}

function nextPoll(rebuilds: readonly Rebuild[], now: number): number {
  const waits = rebuilds.map(({ again }) =>
    again === undefined ? pollSeconds : Math.max(1, Math.ceil((again - now) / 1000)),
  )
  return Math.min(pollSeconds, ...waits)
}

/** Called before the first merge on a branch, so that the merge counts as a push. */
export async function rememberBranch(branch: string, tip: CommitSha, place: Remembering): Promise<void> {
  const job = { repository: place.forge.repository, branch }
  if ((await readState(job, place)) === undefined) await writeState(job, place, { seen: tip, rebuilds: [] })
}

/** A newer commit replaces a rebuild that is not dispatched yet: only the newest state matters. */
async function noticePush(
  state: BranchState,
  tip: CommitSha,
  config: Config,
  branch: string,
  place: JobContext,
): Promise<BranchState> {
  const { workflow, event, webhook } = config.rebuild
  if (workflow === undefined && event === undefined && webhook === undefined) return { ...state, seen: tip }
  // The operator's secret may sign only merged content of served branches.
  if (webhook !== undefined && !(await isServed(branch, place))) return { ...state, seen: tip }
  const running = state.rebuilds.filter(({ dispatchedAt }) => dispatchedAt !== undefined)
  const waiting = state.rebuilds.filter(({ dispatchedAt }) => dispatchedAt === undefined)
  const changed = await changedCatalogs(state.seen, tip, config, place)
  const catalogs = [...new Set([...waiting.flatMap((rebuild) => rebuild.catalogs), ...changed])].sort()
  if (catalogs.length === 0) return { ...state, seen: tip }
  for (const { commit, catalogs: taken } of waiting)
    await show(commit, taken, { kind: 'superseded', by: tip }, place)
  return { ...state, seen: tip, rebuilds: [...running, { commit: tip, catalogs }] }
}

async function changedCatalogs(
  from: CommitSha,
  to: CommitSha,
  config: Config,
  { repository }: JobContext,
): Promise<readonly string[]> {
  const after = await repository.treeOf(to)
  const entries = await repository.list(after)
  const { catalogs } = await findLayout(repository, entries, config.catalogs)
  const before = await repository.treeOf(from).catch(() => undefined)
  // A forced push may have removed the old commit; treat everything as changed.
  if (before === undefined) return catalogs.flatMap(namesOf)
  const changes = await repository.diff(before, after)
  // Compared from the new state, to use the base's entries.
  const links = await changedLinks(
    rememberTrees(repository, { trees: new Map([[after, entries]]), blobs: new Map() }),
    {
      base: after,
      entries,
      result: before,
      differing: new Set(changes.map(({ path }) => path)),
    },
  )
  return catalogs
    .filter(({ root }) => [...changes, ...links].some(({ path }) => isBelow(path, root)))
    .flatMap(namesOf)
}

function namesOf({ root, names = [root] }: CatalogRoot): readonly string[] {
  return names
}

/** Returns undefined when the rebuild has ended. */
async function driveRebuild(
  rebuild: Rebuild,
  config: Config,
  job: BranchJob,
  place: JobContext,
): Promise<Rebuild | undefined> {
  const { app, forge } = place
  const { commit, catalogs, dispatchedAt } = rebuild
  const { webhook } = config.rebuild
  if (webhook !== undefined) {
    const { next, shown } = await stepWebhook(webhook, rebuild, job.branch, place)
    const gaveUp =
      dispatchedAt !== undefined &&
      next !== undefined &&
      app.clock.now() - dispatchedAt > patienceMilliseconds
    if (gaveUp) await show(commit, catalogs, { kind: 'received' }, place)
    else if (shown !== undefined) await show(commit, catalogs, shown, place)
    return gaveUp ? undefined : next
  }
  if (dispatchedAt === undefined) {
    await show(commit, catalogs, { kind: 'announced' }, place)
    crashPoint('rebuild-announced')
    const now = app.clock.now()
    try {
      await forge.perform(dispatchAction(config, job.branch, commit, catalogs))
    } catch (error) {
      if (!(error instanceof ForgeError) || error.retryable) throw error
      await show(commit, catalogs, { kind: 'not-dispatched', why: error.message }, place)
      return undefined
    }
    crashPoint('rebuild-dispatched')
    return { ...rebuild, dispatchedAt: now }
  }
  const outcome = await rebuildOutcome(config, rebuild, job.branch, place)
  const gaveUp = outcome.kind === 'running' && app.clock.now() - dispatchedAt > patienceMilliseconds
  await show(commit, catalogs, gaveUp ? { kind: 'no-outcome' } : outcome, place)
  return outcome.kind === 'running' && !gaveUp ? rebuild : undefined
}

function dispatchAction(
  config: Config,
  branch: string,
  commit: CommitSha,
  catalogs: readonly string[],
): Action {
  const { workflow, event } = config.rebuild
  return workflow !== undefined
    ? { kind: 'dispatch-workflow', workflow, ref: branch, inputs: { commit, catalogs: catalogs.join(' ') } }
    : { kind: 'dispatch-event', event: event ?? 'catalog-changed', payload: { branch, commit, catalogs } }
}

/** GitHub may date our run this much before our dispatch. */
const clockSkew = 120_000

/** Finds the first run after the dispatch whose commit contains ours; the branch may have moved on. */
async function rebuildOutcome(
  config: Config,
  { commit, dispatchedAt = 0 }: Rebuild,
  branch: string,
  { forge, repository }: JobContext,
): Promise<RebuildState> {
  const { workflow } = config.rebuild
  try {
    const runs = await forge.dispatchedRuns(
      workflow === undefined ? 'repository_dispatch' : 'workflow_dispatch',
      branch,
    )
    for (const run of runs.toReversed()) {
      if (workflow !== undefined && !run.path.endsWith(`/${workflow}`)) continue
      if (Date.parse(run.createdAt) < dispatchedAt - clockSkew) continue
      if (!(await repository.contains(run.head, commit).catch(() => false))) continue
      if (run.status !== 'completed') return { kind: 'running', url: run.url }
      return { kind: run.conclusion === 'success' ? 'succeeded' : 'failed', url: run.url }
    }
    return { kind: 'running' }
  } catch (error) {
    if (error instanceof ForgeError && (error.code === 'forbidden' || error.code === 'not-found'))
      return { kind: 'no-outcome' }
    throw error
  }
}

async function show(
  commit: CommitSha,
  catalogs: readonly string[],
  state: RebuildState,
  { forge }: JobContext,
): Promise<void> {
  await putChecks(forge, commit, [withDigest(rebuildCheck(catalogs, state))])
}

type Branch = Pick<Extract<Job, { kind: 'branch' }>, 'repository' | 'branch'>

async function readState(
  { repository, branch }: Branch,
  { app }: Remembering,
): Promise<BranchState | undefined> {
  return app.store.readState(branches, repository, branch)
}

async function writeState(
  { repository, branch }: Branch,
  { app }: Remembering,
  state: BranchState,
): Promise<void> {
  await app.store.writeState(branches, repository, new Map([[branch, state]]))
}
