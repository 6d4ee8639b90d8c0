// The duty "see what a push to this branch means": catalogs that changed are rebuilt by dispatching the configured
// workflow or event, once per commit, and the outcome is reported on the commit.
import type { CommitSha } from '../change/ids.ts'
import { isBelow } from '../change/layout.ts'
import { recogniseLayout } from '../change/recognise-layout.ts'
import type { Config } from '../config/config.ts'
import { ForgeError } from '../github/forge-error.ts'
import { rebuildCheck, type RebuildState } from '../messages/rebuild-check.ts'
import type { Action } from '../ports/forge.ts'
import type { Job } from '../ports/store.ts'
import { crashPoint } from './crash-point.ts'
import { readConfig } from './examine.ts'
import { leaseName } from './land-pull.ts'
import { withDigest } from './publish-report.ts'
import type { Workplace } from './workplace.ts'

/** Seconds between two looks at a rebuild that runs; its webhook usually comes first. */
const pollSeconds = 20
/** A rebuild that has not ended after this long is reported as such and left alone: six hours, GitHub's own limit. */
const patienceMilliseconds = 6 * 3600 * 1000

/** What is remembered of a branch. `seen`: the tip up to which all rebuilds were dispatched. */
interface BranchState {
  readonly seen: CommitSha
  readonly rebuild?: {
    readonly commit: CommitSha
    readonly catalogs: readonly string[]
    readonly dispatchedAt?: number
  }
}

export async function watchBranch(job: Extract<Job, { kind: 'branch' }>, place: Workplace): Promise<void> {
  const { app, repository } = place
  const lease = await app.store.acquireLease(
    `${leaseName(job.repository, job.branch)} rebuild`,
    app.settings.leaseSeconds,
  )
  if (lease === undefined) return app.store.enqueue(job, 2)
  try {
    await repository.fetch(job.branch)
    const tip = await repository.tip(job.branch)
    if (tip === undefined) return
    const state = await readState(job, place)
    if (state === undefined) return await writeState(job, place, { seen: tip })
    const { config } = await readConfig(repository, await repository.treeOf(tip))
    const next = state.seen === tip ? state : await noticePush(state, tip, config, place)
    if (next !== state) await writeState(job, place, next)
    if (next.rebuild !== undefined) await driveRebuild(next, config, job, place)
  } finally {
    await app.store.releaseLease(lease)
  }
}

/** Records a branch's tip before the first landing on it, so that this landing counts as a push. */
export async function rememberBranch(branch: string, tip: CommitSha, place: Workplace): Promise<void> {
  const job = { repository: place.forge.repository, branch }
  if ((await readState(job, place)) === undefined) await writeState(job, place, { seen: tip })
}

async function noticePush(
  state: BranchState,
  tip: CommitSha,
  config: Config,
  place: Workplace,
): Promise<BranchState> {
  const catalogs = await changedCatalogs(state.seen, tip, config, place)
  // A rebuild that was not dispatched yet is taken over by the newer commit: one build of the newest state is enough.
  const open =
    state.rebuild !== undefined && state.rebuild.dispatchedAt === undefined ? state.rebuild.catalogs : []
  const all = [...new Set([...open, ...catalogs])].sort()
  if (all.length === 0 || (config.rebuild.workflow === undefined && config.rebuild.event === undefined))
    return { ...state, seen: tip }
  return { seen: tip, rebuild: { commit: tip, catalogs: all } }
}

async function changedCatalogs(
  from: CommitSha,
  to: CommitSha,
  config: Config,
  { repository }: Workplace,
): Promise<readonly string[]> {
  const after = await repository.treeOf(to)
  const paths = (await repository.list(after)).map(({ path }) => path)
  const { catalogs } = recogniseLayout(paths, config.catalogs)
  const before = await repository.treeOf(from).catch(() => undefined)
  // A forced push may leave the old tip unknown here: then everything may have changed.
  if (before === undefined) return catalogs.map(({ root }) => root)
  const changes = await repository.diff(before, after)
  return catalogs
    .filter(({ root }) => changes.some(({ path }) => isBelow(path, root)))
    .map(({ root }) => root)
}

async function driveRebuild(
  state: BranchState,
  config: Config,
  job: Extract<Job, { kind: 'branch' }>,
  place: Workplace,
): Promise<void> {
  const { app, forge } = place
  const { rebuild } = state
  if (rebuild === undefined) return
  if (rebuild.dispatchedAt === undefined) {
    const by = config.rebuild.workflow === undefined ? 'repository_dispatch' : 'workflow_dispatch'
    await show(rebuild.commit, rebuild.catalogs, { kind: 'announced' }, place)
    crashPoint('rebuild-announced')
    // A process that died between dispatching and remembering it: a workflow's run tells, an event's cannot.
    const running =
      by === 'workflow_dispatch' ? await forge.dispatchedRuns(by, rebuild.commit).catch(() => []) : []
    try {
      if (running.length === 0)
        await forge.perform(dispatchAction(config, job.branch, rebuild.commit, rebuild.catalogs))
    } catch (error) {
      if (!(error instanceof ForgeError) || error.retryable) throw error
      await show(rebuild.commit, rebuild.catalogs, { kind: 'not-dispatched', why: error.message }, place)
      return writeState(job, place, { seen: state.seen })
    }
    crashPoint('rebuild-dispatched')
    await writeState(job, place, { ...state, rebuild: { ...rebuild, dispatchedAt: app.clock.now() } })
    return app.store.enqueue(job, pollSeconds)
  }
  const outcome = await rebuildOutcome(config, rebuild.commit, place)
  const tooLong = app.clock.now() - rebuild.dispatchedAt > patienceMilliseconds
  await show(
    rebuild.commit,
    rebuild.catalogs,
    tooLong && outcome.kind === 'running' ? { kind: 'no-outcome' } : outcome,
    place,
  )
  if (outcome.kind === 'running' && !tooLong) return app.store.enqueue(job, pollSeconds)
  await writeState(job, place, { seen: state.seen })
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

async function rebuildOutcome(
  config: Config,
  commit: CommitSha,
  { forge }: Workplace,
): Promise<RebuildState> {
  const by = config.rebuild.workflow === undefined ? 'repository_dispatch' : 'workflow_dispatch'
  try {
    const runs = await forge.dispatchedRuns(by, commit)
    const run = runs.find(
      ({ path }) => config.rebuild.workflow === undefined || path.endsWith(`/${config.rebuild.workflow}`),
    )
    if (run === undefined) return { kind: 'running' }
    if (run.status !== 'completed') return { kind: 'running', url: run.url }
    return { kind: run.conclusion === 'success' ? 'succeeded' : 'failed', url: run.url }
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
  { forge }: Workplace,
): Promise<void> {
  const run = withDigest(rebuildCheck(catalogs, state))
  const shown = (await forge.checksOn(commit)).some(
    ({ name, digest }) => name === run.name && digest === run.digest,
  )
  if (!shown) await forge.perform({ kind: 'put-check', head: commit, run })
}

type Branch = Pick<Extract<Job, { kind: 'branch' }>, 'repository' | 'branch'>

const space = 'branches'
const keyOf = ({ repository, branch }: Branch) => `${repository.owner}/${repository.name} ${branch}`

async function readState(branch: Branch, { app }: Workplace): Promise<BranchState | undefined> {
  const key = keyOf(branch)
  return (await app.store.getCached(space, [key])).get(key) as BranchState | undefined
}

async function writeState(branch: Branch, { app }: Workplace, state: BranchState): Promise<void> {
  await app.store.putCached(space, new Map([[keyOf(branch), state]]))
}
