// Requests a preview image of a merge result that passed validation and the images check, if an owner or a maintainer
// asks or if all checks passed. A separate job builds it, and removes expired ones. Previews get only preview tags
// (config/publish.ts), which the pushing process checks again.
import { checkIds, type CheckId } from '@catalog-bot/findings/checks'
import { z } from 'zod'
import { findExecutedCommand, type CommandRecord } from '../policy/command-records.ts'
import type { PullVerdict } from '../policy/verdict.ts'
import type { CheckOutcome } from '../checks/check.ts'
import type { PullSnapshot } from '../pull-request/snapshot.ts'
import type { JobQueue, JobOfKind } from '../ports/jobs.ts'
import { type StateStore, defineStateNamespace, writeStateValue } from '../ports/state.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { toCommitSha, isGitObjectId, toTreeSha, type PullNumber } from '../pull-request/ids.ts'
import { createHash } from 'node:crypto'
import { parseDurationToMs } from '../config/publish.ts'
import { catchRejection } from '../adapters/github/forge-error.ts'
import { renderPreviewCheck, type PreviewImageView } from '../report/publish-check.ts'
import type { PublishResponse } from './process/publish-protocol.ts'
import { addCheckRunDigest } from '../jobs/publish-report.ts'
import { loadPublishInputs, type PublishInputs, computeCatalogContentKey } from './load-publish-inputs.ts'
import { isValidTag, createPublishTemplateRenderer, type CatalogPublication } from './plan-publications.ts'
import { createImageSourceAnnotations } from './publish-step.ts'

export const commitShaSchema = z.string().refine(isGitObjectId).transform(toCommitSha)
export const treeShaSchema = z.string().refine(isGitObjectId).transform(toTreeSha)

const previewRequestSchema = z.object({
  /** The pull request's head, which has the check. */
  head: commitShaSchema,
  /** The validated tree that would be merged. */
  tree: treeShaSchema,
  baseRef: z.string(),
  /** False if all checks passed, which counts only where previews are automatic. */
  isAsked: z.boolean(),
  /** The comment with the last request; 0 if none. A new request after the end gets a new preview. */
  comment: z.number(),
  isClosed: z.boolean(),
})

/** Persistent state of preview images: the requested result, and the images to remove later. */
type PreviewRequest = Readonly<z.infer<typeof previewRequestSchema>>

export const previewRequestStateNamespace = defineStateNamespace('preview wish', 1, previewRequestSchema)

const builtPreviewsSchema = z.object({
  images: z.array(
    z.object({
      image: z.string(),
      root: z.string(),
      tag: z.string(),
      digest: z.string(),
      key: z.string(),
      /** Milliseconds since the epoch. */
      until: z.number(),
    }),
  ),
  /** Expired previews are not rebuilt for the same result and comment. */
  ended: z.array(z.string()),
  attempts: z.number(),
  /** Digest of the check's content and commit. */
  shown: z.string().exactOptional(),
})

type BuiltPreviews = Readonly<z.infer<typeof builtPreviewsSchema>>

export const builtPreviewStateNamespace = defineStateNamespace('preview', 1, builtPreviewsSchema)

export interface PreviewCandidatePull {
  readonly snapshot: PullSnapshot
  readonly verdict: PullVerdict
  readonly epoch: number
  readonly hasPreviews: boolean
  readonly runCommands: readonly CommandRecord[]
}

/** Returns undefined if a preview is not allowed or not requested. Pure. */
export function decidePreviewRequest({
  snapshot,
  verdict,
  epoch,
  runCommands,
}: Omit<PreviewCandidatePull, 'hasPreviews'>): PreviewRequest | undefined {
  const { result, outcomes } = verdict
  if (result === undefined || snapshot.state !== 'open') return undefined
  if (!haveChecksPassed(outcomes, ['validation', 'images'])) return undefined
  const comment = findExecutedCommand(runCommands, 'preview', snapshot, epoch)?.comment
  const decided = outcomes.filter(({ waiting }) => waiting.length === 0)
  const isOptional = (id: CheckId) => outcomes.some((one) => one.check === id && one.isOptional)
  const allPassed = checkIds.every((id) => isOptional(id) || haveChecksPassed(decided, [id]))
  if (comment === undefined && !allPassed) return undefined
  return {
    head: snapshot.head,
    tree: result.tree,
    baseRef: snapshot.baseRef,
    isAsked: comment !== undefined,
    comment: comment ?? 0,
    isClosed: false,
  }
}

/** Whether each of these checks left no question open and reported no error. */
export function haveChecksPassed(outcomes: readonly CheckOutcome[], checks: readonly CheckId[]): boolean {
  return checks.every((id) =>
    outcomes.some(
      ({ check, findings, unanswered }) =>
        check === id && unanswered.length === 0 && !findings.some(({ severity }) => severity === 'error'),
    ),
  )
}

export async function requestPreview(
  candidate: PreviewCandidatePull,
  { app, forge, installation }: JobContext<StateStore & JobQueue>,
): Promise<void> {
  if (!candidate.hasPreviews) return
  const { repository } = forge
  const { pull } = candidate.snapshot
  const request = decidePreviewRequest(candidate)
  if (request === undefined) return
  const known = await app.store.readState(previewRequestStateNamespace, repository, String(pull))
  if (JSON.stringify(known) === JSON.stringify(request)) return
  await writeStateValue(app.store, previewRequestStateNamespace, repository, String(pull), request)
  await app.store.enqueue({ kind: 'preview', installation, repository, pull })
}

export async function cancelPreviews(
  pull: PullSnapshot['pull'],
  { app, forge, installation }: JobContext<StateStore & JobQueue>,
): Promise<void> {
  const { repository } = forge
  const key = String(pull)
  const request = await app.store.readState(previewRequestStateNamespace, repository, key)
  if (request === undefined || request.isClosed) return
  if ((await app.store.readState(builtPreviewStateNamespace, repository, key)) === undefined) return
  await writeStateValue(app.store, previewRequestStateNamespace, repository, key, {
    ...request,
    isClosed: true,
  })
  await app.store.enqueue({ kind: 'preview', installation, repository, pull })
}

type PreviewJob = JobOfKind<'preview'>
type PreviewJobContext = JobContext<StateStore & JobQueue>
type PreviewImage = BuiltPreviews['images'][number]

const emptyBuiltPreviews: BuiltPreviews = { images: [], ended: [], attempts: 0 }
/** For each pull request. */
const maxRecordedEndedPreviews = 100
/** Maximum seconds between attempts, and their number. */
const maxPreviewRetryDelaySeconds = 1800
const maxPreviewBuildAttempts = 10
/** Seconds until a failed removal is retried. */
const previewRemovalRetrySeconds = 600

export async function publishPreview(job: PreviewJob, ctx: PreviewJobContext): Promise<void> {
  const { app, forge } = ctx
  const key = String(job.pull)
  const request = await app.store.readState(previewRequestStateNamespace, forge.repository, key)
  if (request === undefined) return
  const before =
    (await app.store.readState(builtPreviewStateNamespace, forge.repository, key)) ?? emptyBuiltPreviews
  const now = app.clock.now()
  const inputs = request.isClosed ? undefined : await loadPublishInputs(ctx)
  const over = before.images.filter(({ until }) => request.isClosed || until <= now)
  const removed = await removePreviews(over, ctx)
  const activeImages = before.images.filter((image) => !removed.includes(image))
  const ended = [...before.ended, ...over.map((one) => toEndedPreviewKey(request, one))].slice(
    -maxRecordedEndedPreviews,
  )
  const { images, views } =
    inputs === undefined
      ? { images: activeImages, views: [] }
      : await buildPreviewImages(job, request, activeImages, ended, inputs, ctx)
  const failed = views.some(({ state }) => state.kind === 'failed' && state.again)
  const shown = await publishPreviewCheck(
    request,
    [...views, ...removed.map(toPreviewRemovalView)],
    before,
    ctx,
  )
  const attempts = failed ? before.attempts + 1 : 0
  await writeStateValue(app.store, builtPreviewStateNamespace, forge.repository, key, {
    images,
    ended: [...new Set(ended)],
    attempts,
    ...(shown !== undefined && { shown }),
  })
  const waits = [
    ...(failed && attempts < maxPreviewBuildAttempts
      ? [Math.min(app.settings.publishRetrySeconds * 2 ** attempts, maxPreviewRetryDelaySeconds)]
      : []),
    // Failed removals are retried after a delay.
    ...images.map(({ until }) =>
      until > now ? Math.ceil((until - now) / 1000) : previewRemovalRetrySeconds,
    ),
  ]
  if (waits.length > 0) await app.store.enqueue(job, Math.min(...waits))
}

/** Skips previews that expired for the same result. */
async function buildPreviewImages(
  { pull }: PreviewJob,
  request: PreviewRequest,
  activeImages: readonly PreviewImage[],
  ended: readonly string[],
  { plan, tips }: PublishInputs,
  ctx: PreviewJobContext,
): Promise<{ readonly images: PreviewImage[]; readonly views: PreviewImageView[] }> {
  const { app, repository } = ctx
  const images = new Map(activeImages.map((image) => [`${image.image}:${image.tag}`, image]))
  const views: PreviewImageView[] = []
  for (const publication of plan.publications) {
    const { entry, catalog, image } = publication
    const { preview } = entry
    const base = tips.get(publication.branch)
    if (preview === undefined || base === undefined || publication.branch !== request.baseRef) continue
    if (!request.isAsked && !preview.automatic) continue
    const tag = createPublishTemplateRenderer(catalog, { number: String(pull) })(preview.tag)
    if (tag === undefined || !isValidTag(tag) || views.some((one) => one.image === image && one.tag === tag))
      continue
    const key = await computeCatalogContentKey(publication, request.tree, repository)
    // The pull request does not change this catalog.
    if (key === (await computeCatalogContentKey(publication, base.tree, repository))) continue
    const known = images.get(`${image}:${tag}`)
    if (ended.includes(toEndedPreviewKey(request, { key, image, tag }))) continue
    const about = { root: catalog.root, image, tag }
    if (known?.key === key) {
      views.push({
        ...about,
        state: { kind: 'published', digest: known.digest, until: formatUtcDate(known.until) },
      })
      continue
    }
    const answer = await requestPreviewImage(publication, tag, { pull, request }, ctx)
    if (answer.kind !== 'published') {
      const why = 'why' in answer ? answer.why : answer.kind
      const again = answer.kind === 'failed' && answer.retryable
      views.push({ ...about, state: { kind: 'failed', why, again } })
      continue
    }
    const until = app.clock.now() + (parseDurationToMs(preview.expires) ?? 0)
    images.set(`${image}:${tag}`, { ...about, digest: answer.digest, key, until })
    views.push({ ...about, state: { kind: 'published', digest: answer.digest, until: formatUtcDate(until) } })
  }
  return { images: [...images.values()], views }
}

function requestPreviewImage(
  { catalog, image, settings }: CatalogPublication,
  tag: string,
  { pull, request }: { readonly pull: PullNumber; readonly request: PreviewRequest },
  { app, forge, installation, mirror }: PreviewJobContext,
): Promise<PublishResponse> {
  return app.publishing.order({
    kind: 'publish',
    purpose: 'preview',
    github: forge.repository,
    installation,
    image,
    mirror,
    tree: request.tree,
    root: catalog.root,
    tags: [tag],
    settings,
    annotations: {
      ...createImageSourceAnnotations(request.head, { app, forge }),
      'io.github.catalog-bot.preview': `pull request ${pull}`,
    },
  })
}

const toEndedPreviewKey = (
  { comment }: PreviewRequest,
  { key, image, tag }: Pick<PreviewImage, 'key' | 'image' | 'tag'>,
) => `${comment} ${image}:${tag} ${key}`

/** Returns the images that need no further attempt, because they were deleted or the registry keeps them. */
async function removePreviews(
  images: readonly PreviewImage[],
  ctx: PreviewJobContext,
): Promise<readonly PreviewImage[]> {
  const { app, forge, installation } = ctx
  const removed: PreviewImage[] = []
  for (const [image, group] of Map.groupBy(images, (one) => one.image)) {
    const answer = await app.publishing.order({
      kind: 'remove',
      github: forge.repository,
      installation,
      image,
      images: group.map(({ digest, tag }) => ({ digest, tags: [tag] })),
    })
    if (answer.kind === 'removed') removed.push(...group)
    else app.log.warn({ image, answer }, 'preview images could not be removed')
  }
  return removed
}

const formatUtcDate = (milliseconds: number): string => new Date(milliseconds).toISOString().slice(0, 10)

const toPreviewRemovalView = ({ root, image, tag }: PreviewImage): PreviewImageView => ({
  root,
  image,
  tag,
  state: { kind: 'removed' },
})

async function publishPreviewCheck(
  { head }: PreviewRequest,
  views: readonly PreviewImageView[],
  { shown }: BuiltPreviews,
  { app, forge }: PreviewJobContext,
): Promise<string | undefined> {
  if (views.length === 0) return shown
  const run = addCheckRunDigest(renderPreviewCheck(views))
  const digest = createHash('sha256').update(`${head} ${run.digest}`).digest('hex').slice(0, 20)
  if (digest === shown) return shown
  await catchRejection(forge.perform({ kind: 'put-check', head, run }), (error) =>
    app.log.warn({ err: error, head }, 'GitHub rejected the check run for preview images'),
  )
  return digest
}
