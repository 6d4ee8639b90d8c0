// Rebuilds changed catalogs after a push: dispatches the configured workflow or event once per commit, or sends a signed
// build request to a webhook until it accepts the request, and reports the outcome on the commit.
import { createHash } from 'node:crypto'
import { findChangedSymlinks } from '../catalogs/linked-file.ts'
import { createCachedTreeReader, readRepositoryLayout } from '../catalogs/find-layout.ts'
import type { Config } from '../config/config.ts'
import { ForgeError } from '../adapters/github/forge-error.ts'
import { writeBranchState, type BranchState, type PendingRebuild } from '../jobs/branch-state.ts'
import type { StateStore } from '../ports/state.ts'
import type { JobOfKind } from '../ports/jobs.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import { isBranchManagedByBot, type JobContext } from '../jobs/job-context.ts'
import { addCheckRunDigest, publishMissingCheckRuns } from '../jobs/publish-report.ts'
import type { ForgeAction } from '../ports/forge.ts'
import type { CommitSha } from '../pull-request/ids.ts'
import { isPathUnderDirectory, type CatalogRoot } from '../pull-request/layout/layout.ts'
import { renderCatalogRebuildCheck, type CatalogRebuildState } from '../report/publish-check.ts'
import { catchMissing } from '../adapters/git/git-error.ts'

/** Seconds between polls; a webhook usually comes first. */
const rebuildPollSeconds = 20
/** Six hours, GitHub's own limit. Longer rebuilds are reported as unfinished. */
const rebuildTimeoutMs = 6 * 3600 * 1000

type WebhookRebuildProgress =
  | { readonly next: PendingRebuild; readonly shown?: CatalogRebuildState }
  /** The rebuild ended. */
  | { readonly next?: undefined; readonly shown: CatalogRebuildState }

const maxWebhookAttempts = 10
/** Milliseconds. */
const maxWebhookRetryDelayMs = 10 * 60_000

/** A newer commit replaces a rebuild that is not dispatched yet: only the newest state matters. */
export async function queueRebuild(
  state: BranchState,
  tip: CommitSha,
  config: Config,
  branch: string,
  ctx: JobContext,
): Promise<BranchState> {
  const { workflow, event, webhook } = config.rebuild
  if (workflow === undefined && event === undefined && webhook === undefined) return { ...state, seen: tip }
  // The administrator's secret may sign only merged content of served branches.
  if (webhook !== undefined && !(await isBranchManagedByBot(branch, ctx))) return { ...state, seen: tip }
  const running = state.rebuilds.filter(({ dispatchedAt }) => dispatchedAt !== undefined)
  const waiting = state.rebuilds.filter(({ dispatchedAt }) => dispatchedAt === undefined)
  const changed = await findChangedCatalogs(state.seen, tip, config, ctx)
  const catalogs = [...new Set([...waiting.flatMap((rebuild) => rebuild.catalogs), ...changed])].sort()
  if (catalogs.length === 0) return { ...state, seen: tip }
  for (const { commit, catalogs: taken } of waiting)
    await reportRebuildCheckRun(commit, taken, { kind: 'superseded', by: tip }, ctx)
  return { ...state, seen: tip, rebuilds: [...running, { commit: tip, catalogs }] }
}

async function findChangedCatalogs(
  from: CommitSha,
  to: CommitSha,
  config: Config,
  { repository }: JobContext,
): Promise<readonly string[]> {
  const after = await repository.treeOf(to)
  const entries = await repository.list(after)
  const { catalogs } = await readRepositoryLayout(repository, entries, config.catalogs)
  const before = await catchMissing(repository.treeOf(from), undefined)
  // A forced push may have removed the old commit; treat everything as changed.
  if (before === undefined) return catalogs.flatMap(getCatalogNames)
  const changes = await repository.diff(before, after)
  // Compared from the new state, to use the base's entries.
  const links = await findChangedSymlinks(
    createCachedTreeReader(repository, { trees: new Map([[after, entries]]), blobs: new Map() }),
    { base: after, entries, result: before, differing: new Set(changes.map(({ path }) => path)) },
  )
  return catalogs
    .filter(({ root }) => [...changes, ...links].some(({ path }) => isPathUnderDirectory(path, root)))
    .flatMap(getCatalogNames)
}

const getCatalogNames = ({ root, names = [root] }: CatalogRoot): readonly string[] => names

/** Stores the state after each step. Returns the seconds until the next poll, or undefined if no rebuild remains. */
export async function advanceRebuilds(
  state: BranchState,
  config: Config,
  job: JobOfKind<'branch'>,
  ctx: JobContext<StateStore>,
): Promise<number | undefined> {
  let { rebuilds } = state
  for (const rebuild of rebuilds) {
    const next = await advanceRebuild(rebuild, config, job.branch, ctx)
    const others = rebuilds.filter(({ commit }) => commit !== rebuild.commit)
    rebuilds = next === undefined ? others : [...others, next]
    await writeBranchState(job, ctx, { ...state, rebuilds })
  }
  return rebuilds.length > 0 ? computeNextRebuildPollSeconds(rebuilds, ctx.app.clock.now()) : undefined
}

function computeNextRebuildPollSeconds(rebuilds: readonly PendingRebuild[], now: number): number {
  const waits = rebuilds.map(({ again }) =>
    again === undefined ? rebuildPollSeconds : Math.max(1, Math.ceil((again - now) / 1000)),
  )
  return Math.min(rebuildPollSeconds, ...waits)
}

/** Returns undefined when the rebuild has ended. */
async function advanceRebuild(
  rebuild: PendingRebuild,
  config: Config,
  branch: string,
  ctx: JobContext,
): Promise<PendingRebuild | undefined> {
  const { app, forge } = ctx
  const { commit, catalogs, dispatchedAt } = rebuild
  const { webhook } = config.rebuild
  if (webhook !== undefined) {
    const { next, shown } = await advanceWebhookRebuild(webhook, rebuild, branch, ctx)
    const gaveUp =
      dispatchedAt !== undefined && next !== undefined && app.clock.now() - dispatchedAt > rebuildTimeoutMs
    if (gaveUp) await reportRebuildCheckRun(commit, catalogs, { kind: 'received' }, ctx)
    else if (shown !== undefined) await reportRebuildCheckRun(commit, catalogs, shown, ctx)
    return gaveUp ? undefined : next
  }
  if (dispatchedAt === undefined) {
    await reportRebuildCheckRun(commit, catalogs, { kind: 'announced' }, ctx)
    triggerCrashPoint('rebuild-announced')
    const now = app.clock.now()
    try {
      await forge.perform(createRebuildDispatchAction(config, branch, commit, catalogs))
    } catch (error) {
      if (!(error instanceof ForgeError) || error.retryable) throw error
      await reportRebuildCheckRun(commit, catalogs, { kind: 'not-dispatched', why: error.message }, ctx)
      return undefined
    }
    triggerCrashPoint('rebuild-dispatched')
    return { ...rebuild, dispatchedAt: now }
  }
  const outcome = await fetchRebuildOutcome(config, rebuild, branch, ctx)
  const gaveUp = outcome.kind === 'running' && app.clock.now() - dispatchedAt > rebuildTimeoutMs
  await reportRebuildCheckRun(commit, catalogs, gaveUp ? { kind: 'no-outcome' } : outcome, ctx)
  return outcome.kind === 'running' && !gaveUp ? rebuild : undefined
}

function createRebuildDispatchAction(
  config: Config,
  branch: string,
  commit: CommitSha,
  catalogs: readonly string[],
): ForgeAction {
  const { workflow, event } = config.rebuild
  return workflow !== undefined
    ? { kind: 'dispatch-workflow', workflow, ref: branch, inputs: { commit, catalogs: catalogs.join(' ') } }
    : { kind: 'dispatch-event', event: event ?? 'catalog-changed', payload: { branch, commit, catalogs } }
}

/** GitHub might date the run this much earlier than the dispatch. */
const maxClockSkewMs = 120_000

/** Finds the first run after the dispatch on a commit that contains the dispatched one: the branch may have moved. */
async function fetchRebuildOutcome(
  config: Config,
  { commit, dispatchedAt = 0 }: PendingRebuild,
  branch: string,
  { forge, repository }: JobContext,
): Promise<CatalogRebuildState> {
  const { workflow } = config.rebuild
  try {
    const runs = await forge.listDispatchedRuns(
      workflow === undefined ? 'repository_dispatch' : 'workflow_dispatch',
      branch,
    )
    for (const run of runs.toReversed()) {
      if (workflow !== undefined && !run.path.endsWith(`/${workflow}`)) continue
      if (Date.parse(run.createdAt) < dispatchedAt - maxClockSkewMs) continue
      if (!(await catchMissing(repository.contains(run.head, commit), false))) continue
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

async function reportRebuildCheckRun(
  commit: CommitSha,
  catalogs: readonly string[],
  state: CatalogRebuildState,
  { forge }: JobContext,
): Promise<void> {
  await publishMissingCheckRuns(forge, commit, [
    addCheckRunDigest(renderCatalogRebuildCheck(catalogs, state)),
  ])
}

/** Stable across restarts, so that the receiver can drop duplicates. */
export function computeWebhookDeliveryId(
  repository: string,
  branch: string,
  { commit, catalogs }: PendingRebuild,
): string {
  return createHash('sha256')
    .update(JSON.stringify([repository.toLowerCase(), branch, commit, catalogs]))
    .digest('hex')
    .slice(0, 32)
}

/**
 * Sends the request with the same id until the webhook accepts it, and polls the build's status if possible. Only the
 * publishing process knows the secret.
 */
export async function advanceWebhookRebuild(
  url: string,
  rebuild: PendingRebuild,
  branch: string,
  { app, forge, installation }: JobContext,
): Promise<WebhookRebuildProgress> {
  const { commit, catalogs, dispatchedAt, attempts = 0, again = 0, status } = rebuild
  const { owner, name } = forge.repository
  const requester = { github: forge.repository, installation, url }
  const now = app.clock.now()
  if (dispatchedAt === undefined) {
    if (now < again) return { next: rebuild }
    const delivery = computeWebhookDeliveryId(`${owner}/${name}`, branch, rebuild)
    const payload = { repository: `${owner}/${name}`, branch, commit, catalogs }
    const answer = await app.publishing.order({ kind: 'deliver', ...requester, delivery, payload })
    if (answer.kind === 'delivered')
      return {
        next: {
          ...rebuild,
          dispatchedAt: now,
          ...(answer.status !== undefined && { status: answer.status }),
        },
      }
    const why = 'why' in answer ? answer.why : answer.kind
    if (answer.kind !== 'failed' || !answer.retryable || attempts + 1 >= maxWebhookAttempts)
      return { shown: { kind: 'not-dispatched', why } }
    const wait = Math.min(app.settings.publishRetrySeconds * 1000 * 2 ** attempts, maxWebhookRetryDelayMs)
    return {
      next: { ...rebuild, attempts: attempts + 1, again: now + wait },
      shown: { kind: 'retrying', why },
    }
  }
  if (status === undefined) return { shown: { kind: 'received' } }
  const answer = await app.publishing.order({ kind: 'follow', ...requester, status })
  if (answer.kind === 'followed') {
    const shown = { kind: answer.state, ...(answer.url !== undefined && { url: answer.url }) }
    return answer.state === 'running' ? { next: rebuild, shown } : { shown }
  }
  return answer.kind === 'failed' && answer.retryable
    ? { next: rebuild, shown: { kind: 'running' } }
    : { shown: { kind: 'received' } }
}
