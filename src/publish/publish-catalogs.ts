// Compares published images with branches, and updates the images that differ. Runs after every push and sweep, one at
// a time for each repository, so a tag has one builder and the newest commit wins. Idempotent.
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import { toPullNumber, type CommitSha } from '../pull-request/ids.ts'
import type { JobOfKind, JobQueue } from '../ports/jobs.ts'
import type { MergeRecordStore } from '../ports/merge-records.ts'
import { type StateStore, writeStateValue } from '../ports/state.ts'
import type { VerdictStore } from '../ports/status-page-store.ts'
import type { JobContext } from '../jobs/job-context.ts'
import {
  loadPublishInputs,
  readBranchTip,
  type PublishInputs,
  computeCatalogContentKey,
} from './load-publish-inputs.ts'
import type { CatalogPublication } from './plan-publications.ts'
import {
  isPublishDue,
  isRollbackPending,
  recheckPublishedTags,
  computeMsUntilNextPublishStep,
  runPublishStep,
  rollBackImage,
  type PublishStepInput,
} from './publish-step.ts'
import {
  emptyPublicationState,
  publicationStateNamespace,
  rollbackRequestStateNamespace,
  type PublicationState,
  type PublishedImageState,
  type PublicationStatus,
} from './publication-state.ts'
import {
  reportPublications,
  reportImageBuildProgress,
  type PublicationStatusWithRollback,
} from './report-publications.ts'
import { pullPublicationStateNamespace } from '../jobs/merged-report.ts'
import { catchMissing } from '../adapters/git/git-error.ts'

/** More follow with the next image. */
const maxImagesRemovedPerPublish = 20

type PublishJob = JobOfKind<'publish'>
type PublishJobContext = JobContext<JobQueue & StateStore & MergeRecordStore & VerdictStore>

/** Restarts within one job because of newer commits. */
const maxPublishRestartsPerJob = 5
/** Minimum seconds between two runs that wait for a time. */
const minPublishJobDelaySeconds = 1
/** Milliseconds after which catalog-bot's merge on the branch is certainly recorded. */
const maxMergeRecordingDelayMs = 3600_000

export async function publishCatalogs(job: PublishJob, ctx: PublishJobContext): Promise<void> {
  for (let attempt = 1; attempt <= maxPublishRestartsPerJob; attempt += 1) {
    const inputs = await loadPublishInputs(ctx)
    if (inputs === undefined) return
    const { isSuperseded, statuses } = await publishAllCatalogs(inputs, ctx)
    if (isSuperseded) continue
    await reportPublications(statuses, inputs.plan.problems, ctx)
    triggerCrashPoint('publish-reported')
    await removeOldImages(statuses, ctx)
    await scheduleNextPublishJob(job, statuses, ctx)
    return
  }
  await ctx.app.store.enqueue(job, minPublishJobDelaySeconds)
}

async function publishAllCatalogs(
  { plan, tips }: PublishInputs,
  ctx: PublishJobContext,
): Promise<{ readonly isSuperseded: boolean; readonly statuses: readonly PublicationStatusWithRollback[] }> {
  const { app, repository, forge } = ctx
  const { store } = app
  const statuses: PublicationStatusWithRollback[] = []
  for (const publication of plan.publications) {
    const tip = tips.get(publication.branch)
    if (tip === undefined) continue
    const key = await computeCatalogContentKey(publication, tip.tree, repository)
    const known =
      (await store.readState(publicationStateNamespace, forge.repository, publication.id)) ??
      emptyPublicationState
    const rollbackRequest = await store.readState(
      rollbackRequestStateNamespace,
      forge.repository,
      publication.id,
    )
    const due = isPublishDue(known, key, rollbackRequest, app.clock.now())
    const state = await addMergedPullsToPublicationState(
      publication,
      known,
      due ? tip.commit : undefined,
      ctx,
    )
    const step = createPublishStepInput({ publication, tip, key, state }, ctx)
    const status = { publication, commit: tip.commit, rollbackRequest }
    if (due && isRollbackPending(rollbackRequest, state) && rollbackRequest !== undefined) {
      const state = await rollBackImage(step, rollbackRequest)
      statuses.push({ ...status, state })
      // After the rollback was reported, because the reply compares the current image.
      if (isPublishDue(state, key, rollbackRequest, app.clock.now()))
        await store.enqueue({ kind: 'publish', installation: ctx.installation, repository: forge.repository })
      continue
    }
    if (!due) {
      statuses.push({ ...status, state: await recheckPublishedTags(step) })
      continue
    }
    const outcome = await runPublishStep(step)
    if (outcome.kind === 'superseded') {
      await reportImageBuildProgress(
        { publication, state: outcome.state, commit: tip.commit, by: outcome.by },
        ctx,
      )
      return { isSuperseded: true, statuses }
    }
    statuses.push({ ...status, state: outcome.state })
  }
  return { isSuperseded: false, statuses }
}

function createPublishStepInput(
  { publication, tip, key, state }: Pick<PublishStepInput, 'publication' | 'tip' | 'key' | 'state'>,
  ctx: PublishJobContext,
): PublishStepInput {
  return {
    publication,
    tip,
    key,
    state,
    publishing: ctx.app.publishing,
    ctx,
    readCurrentTip: () => readBranchTip(publication.branch, ctx.repository),
    onStart: async (startedState) => {
      await reportImageBuildProgress({ publication, state: startedState, commit: tip.commit }, ctx)
      triggerCrashPoint('publish-begun')
    },
  }
}

/** Adds the merged pull requests of this image. A merge can be published before it is recorded. */
async function addMergedPullsToPublicationState(
  { id, catalog }: CatalogPublication,
  state: PublicationState,
  tip: CommitSha | undefined,
  { app, repository, forge }: PublishJobContext,
): Promise<PublicationState> {
  const { current } = state
  const isOld = current === undefined || app.clock.now() - current.at > maxMergeRecordingDelayMs
  if (tip === undefined && isOld) return state
  const to = tip ?? current?.commit
  const from = tip === undefined ? state.since : current?.commit
  if (to === undefined) return state
  const isAhead = from !== undefined && (await catchMissing(repository.contains(to, from), false))
  const commits = isAhead ? await repository.firstParents(to, from) : [to]
  const mergedPulls = await app.store.findPullsOfCommits(forge.repository, commits)
  const concerned: number[] = []
  for (const [commit, pull] of mergedPulls) {
    const reported = await app.store.readState(pullPublicationStateNamespace, forge.repository, String(pull))
    const isReported = reported?.isShown === true && reported.state === 'published'
    if (!isReported && (await isCatalogChangedByCommit(commit, catalog.root, repository)))
      concerned.push(pull)
  }
  const pulls = [...new Set([...state.pulls, ...concerned])].sort((a, b) => a - b).map(toPullNumber)
  if (pulls.length === state.pulls.length) return state
  const next = { ...state, pulls }
  await writeStateValue(app.store, publicationStateNamespace, forge.repository, id, next)
  return next
}

/** Compares with the first parent. */
async function isCatalogChangedByCommit(
  commit: CommitSha,
  root: string,
  repository: PublishJobContext['repository'],
): Promise<boolean> {
  const [parent] = await repository.parentsOf(commit)
  if (parent === undefined) return true
  const changes = await repository.diff(await repository.treeOf(parent), await repository.treeOf(commit))
  return changes.some(({ path }) => root === '' || path.startsWith(`${root}/`))
}

async function scheduleNextPublishJob(
  job: PublishJob,
  statuses: readonly PublicationStatusWithRollback[],
  { app }: PublishJobContext,
): Promise<void> {
  const now = app.clock.now()
  const waits = statuses.flatMap(
    ({ publication, state }) => computeMsUntilNextPublishStep(publication, state, now) ?? [],
  )
  if (waits.length === 0) return
  await app.store.enqueue(job, Math.max(minPublishJobDelaySeconds, Math.ceil(Math.min(...waits) / 1000)))
}

/** Retention: deletes images beyond the configured number, then drops them from the history. An image that still has a tag stays and is not retried until another one is due. */
async function removeOldImages(
  statuses: readonly PublicationStatus[],
  ctx: JobContext<StateStore>,
): Promise<void> {
  const { app, forge, installation } = ctx
  for (const { publication } of statuses) {
    const state = await app.store.readState(publicationStateNamespace, forge.repository, publication.id)
    const old = state === undefined ? [] : findImagesBeyondRetention(state, publication.entry.retention.keep)
    if (state === undefined || old.length === 0) continue
    const answer = await app.publishing.order({
      kind: 'remove',
      github: forge.repository,
      installation,
      image: publication.image,
      images: old.map(({ digest, tag }) => ({ digest, tags: tag === undefined ? [] : [tag] })),
    })
    if (answer.kind !== 'removed') {
      // Retried with the next image.
      app.log.warn({ image: publication.image, answer }, 'old images could not be removed')
      continue
    }
    const removed = new Set(answer.gone)
    if (answer.left.length > 0)
      app.log.info({ image: publication.image, left: answer.left }, 'some old images were not removed')
    await writeStateValue(app.store, publicationStateNamespace, forge.repository, publication.id, {
      ...state,
      history: state.history.filter(({ digest }) => !removed.has(digest)),
      undeletable: [...new Set([...state.undeletable, ...answer.left.map(({ digest }) => digest)])].slice(
        -1000,
      ),
    })
  }
}

/** Images with catalog-bot's tag beyond `keep`, oldest last. A rollback's image is `current` and never included. */
function findImagesBeyondRetention(
  { current, history, undeletable }: PublicationState,
  keep: number,
): readonly PublishedImageState[] {
  const stays = new Set([current?.digest, ...undeletable])
  return history
    .slice(keep)
    .filter(({ digest, tag }) => tag !== undefined && !stays.has(digest))
    .slice(0, maxImagesRemovedPerPublish)
}
