// Brings a publication a step closer to its branch. Steps can be repeated after a crash.
import type { CommitSha } from '../pull-request/ids.ts'
import { parseDurationToMs } from '../config/publish.ts'
import { triggerCrashPoint } from '../jobs/crash-point.ts'
import { type StateStore, writeStateValue } from '../ports/state.ts'
import type { PublishClient } from './process/publish-client.ts'
import type { PublishResponse, PublishedImageResponse } from './process/publish-protocol.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { type BranchTip, describeCatalogChange, computeCatalogContentKey } from './load-publish-inputs.ts'
import { formatPermanentImageTag, type CatalogPublication } from './plan-publications.ts'
import {
  publicationStateNamespace,
  type PublicationState,
  type PublishedImageState,
  type RollbackRequest,
} from './publication-state.ts'

export interface PublishStepInput {
  readonly publication: CatalogPublication
  readonly tip: BranchTip
  readonly key: string
  readonly state: PublicationState
  readonly publishing: PublishClient
  readonly ctx: JobContext<StateStore>
  readonly readCurrentTip: () => Promise<BranchTip | undefined>
  /** Called when an image build starts. */
  readonly onStart: (state: PublicationState) => Promise<void>
}

/** Failed attempts before catalog-bot notifies users, which takes some minutes with the default settings. */
const minPublishFailuresBeforeReport = 4
/** Maximum milliseconds between two attempts. */
const maxPublishRetryDelayMs = 30 * 60_000
/** Milliseconds between two checks of unchanged tags. */
const publishedTagCheckIntervalMs = 3600_000
/** Minimum length of the image history, even if the registry deletes old images. */
const minPublishedImageHistoryLength = 10

export type PublishStepResult =
  | { readonly kind: 'done'; readonly state: PublicationState }
  /** A newer commit came; everything is evaluated again. */
  | { readonly kind: 'superseded'; readonly by: CommitSha; readonly state: PublicationState }

export function isPublishDue(
  state: PublicationState,
  key: string,
  request: RollbackRequest | undefined,
  now: number,
): boolean {
  const { current, pinned, failure } = state
  if (isRollbackPending(request, state) && failure?.wish !== request?.comment) return true
  if (failure !== undefined && failure.key === key) return now >= failure.again
  if (pinned !== undefined && pinned.key === key) return false
  return current?.key !== key
}

export function isRollbackPending(
  request: RollbackRequest | undefined,
  { granted }: PublicationState,
): boolean {
  return request !== undefined && request.comment !== granted
}

/** Milliseconds until the next scheduled step, or undefined. */
export function computeMsUntilNextPublishStep(
  { entry }: CatalogPublication,
  { failure, lookedAt, current }: PublicationState,
  now: number,
): number | undefined {
  const waits = [
    ...(failure === undefined ? [] : [failure.again - now]),
    ...(current === undefined ? [] : [(lookedAt ?? now) + computeTagCheckIntervalMs(entry.rebase) - now]),
  ]
  return waits.length === 0 ? undefined : Math.max(0, Math.min(...waits))
}

function computeTagCheckIntervalMs(rebase: string): number {
  return Math.min(parseDurationToMs(rebase) ?? Infinity, publishedTagCheckIntervalMs)
}

export async function runPublishStep(step: PublishStepInput): Promise<PublishStepResult> {
  const { publication, tip, key, state, publishing, ctx } = step
  const { image, tags, settings, catalog } = publication
  const { forge, installation } = ctx
  // A retry reports nothing until it ends.
  if (state.failure?.key !== key) await step.onStart(state)
  const started = performance.now()
  let by: CommitSha | undefined
  const tag = formatPermanentImageTag(publication, tip.commit)
  const answer = await publishing.order(
    {
      kind: 'publish',
      purpose: 'catalog',
      github: forge.repository,
      installation,
      image,
      mirror: ctx.mirror,
      tree: tip.tree,
      root: catalog.root,
      tags,
      ...(tag !== undefined && { history: { tag, ...createCurrentImageDigestField(state) } }),
      settings,
      annotations: createImageSourceAnnotations(tip.commit, ctx),
    },
    async (digest) => {
      const now = await step.readCurrentTip()
      if (
        now !== undefined &&
        (await computeCatalogContentKey(publication, now.tree, ctx.repository)) !== key
      ) {
        by = now.commit
        return 'superseded'
      }
      await writePublicationState(step, { ...state, intent: { digest, commit: tip.commit, key } })
      triggerCrashPoint('publish-intended')
      return 'go'
    },
  )
  triggerCrashPoint('publish-pushed')
  if (answer.kind === 'superseded') return { kind: 'superseded', by: by ?? tip.commit, state }
  const before =
    (await ctx.app.store.readState(publicationStateNamespace, forge.repository, publication.id)) ?? state
  if (answer.kind !== 'published')
    return { kind: 'done', state: await recordPublishFailure(step, before, answer) }
  return {
    kind: 'done',
    state: await recordPublishedImage(step, before, answer, (performance.now() - started) / 1000),
  }
}

async function recordPublishedImage(
  step: PublishStepInput,
  before: PublicationState,
  answer: Extract<PublishResponse, { kind: 'published' }>,
  seconds: number,
): Promise<PublicationState> {
  const { publication, tip, ctx } = step
  const { pinned: _pinned, ...unpinned } = before
  const made = {
    ...toPublishedImageState(answer, step, seconds, before),
    changeLines:
      before.current === undefined
        ? []
        : await describeCatalogChange(publication, before.current.commit, tip.tree, ctx),
  }
  const since = before.current?.commit
  const next = await writePublicationState(step, {
    ...setCurrentPublishedImage(unpinned, made),
    ...(since !== undefined && since !== made.commit && { since }),
  })
  ctx.app.log.info(
    { image: publication.image, digest: made.digest, unchanged: made.unchanged, seconds: made.seconds },
    'published',
  )
  ctx.app.metrics.published.inc({ outcome: made.unchanged ? 'unchanged' : 'published' })
  triggerCrashPoint('publish-recorded')
  return next
}

/** Points the tags to a former image, until the catalog in git changes. */
export async function rollBackImage(
  step: PublishStepInput,
  request: RollbackRequest,
): Promise<PublicationState> {
  const { publication, key, state, publishing, ctx, tip } = step
  const targetImage = [...(state.current ? [state.current] : []), ...state.history].find(
    ({ digest }) => digest === request.digest,
  )
  const granted = request.comment
  // The requested image is no longer in the history; do not substitute another.
  if (targetImage === undefined) return writePublicationState(step, { ...state, granted })
  const answer = await publishing.order({
    kind: 'retag',
    github: ctx.forge.repository,
    installation: ctx.installation,
    image: publication.image,
    digest: request.digest,
    tags: publication.tags,
  })
  if (answer.kind !== 'published') return recordPublishFailure(step, state, answer, granted)
  const { digest, login } = request
  // A change after the comment is published.
  const pinned = { key: request.key ?? key, digest, login, commit: tip.commit }
  triggerCrashPoint('rolled-back')
  return writePublicationState(step, { ...setCurrentPublishedImage(state, targetImage), pinned, granted })
}

/** Checks for a new base digest and for tags that others moved. */
export async function recheckPublishedTags(step: PublishStepInput): Promise<PublicationState> {
  const { publication, state, publishing, ctx } = step
  const { app, forge, installation } = ctx
  const { current, lookedAt } = state
  const now = app.clock.now()
  const interval = computeTagCheckIntervalMs(publication.entry.rebase)
  if (current === undefined) return state
  if (lookedAt === undefined) return writePublicationState(step, { ...state, lookedAt: now })
  if (now - lookedAt < interval) return state
  const { image, tags, settings, entry } = publication
  const requester = { github: forge.repository, installation, image }
  const rebases = entry.rebase !== 'off' && current.base !== undefined && state.pinned === undefined
  const tagState = await publishing.order({
    kind: 'look',
    ...requester,
    tags,
    ...(rebases && { base: settings.base }),
  })
  if (tagState.kind !== 'seen') return writePublicationState(step, { ...state, lookedAt: now })
  const strayed = tags.find((tag) => tagState.tags[tag] !== current.digest)
  const { strayed: known, ...rest } = { ...state, lookedAt: now }
  if (strayed !== undefined) {
    const to = tagState.tags[strayed] ?? null
    const since = known?.tag === strayed && known.to === to ? known.since : now
    return writePublicationState(step, { ...rest, strayed: { tag: strayed, to, since } })
  }
  if (!rebases || typeof tagState.base !== 'string' || tagState.base === current.base?.digest)
    return writePublicationState(step, rest)
  const started = performance.now()
  const tag = formatPermanentImageTag(publication, current.commit)
  const answer = await publishing.order(
    {
      kind: 'rebase',
      ...requester,
      digest: current.digest,
      tags,
      ...(tag !== undefined && { history: { tag, ...createCurrentImageDigestField(state) } }),
      settings,
      annotations: createImageSourceAnnotations(current.commit, ctx),
    },
    async (digest) => {
      await writePublicationState(step, {
        ...rest,
        intent: { digest, commit: current.commit, key: current.key },
      })
      return 'go'
    },
  )
  if (answer.kind !== 'published') return recordPublishFailure({ ...step, key: current.key }, rest, answer)
  const made = {
    ...toPublishedImageState(answer, step, (performance.now() - started) / 1000, state),
    commit: current.commit,
    key: current.key,
    rebased: true,
    changeLines: [],
  }
  return writePublicationState(step, setCurrentPublishedImage(rest, made))
}

const createCurrentImageDigestField = ({ current }: PublicationState) =>
  current === undefined ? {} : { known: current.digest }

/** OCI annotations that name the image's source. */
export function createImageSourceAnnotations(
  commit: CommitSha,
  { app, forge }: Pick<JobContext, 'app' | 'forge'>,
): Record<string, string> {
  const { owner, name } = forge.repository
  return {
    'org.opencontainers.image.source': `${app.settings.gitUrl}/${owner}/${name}`,
    'org.opencontainers.image.revision': commit,
  }
}

function toPublishedImageState(
  answer: PublishedImageResponse,
  { tip, key, ctx }: PublishStepInput,
  seconds: number,
  { current, intent, history }: PublicationState,
): PublishedImageState {
  const ours = new Set([current?.digest, intent?.digest, ...history.map(({ digest }) => digest)])
  const moved = Object.entries(answer.before).flatMap(([tag, to]) =>
    current === undefined || to === null || ours.has(to) ? [] : [{ tag, to }],
  )
  const { digest, unchanged, history: tag, size, packages, bundles, base, unattested } = answer
  const permanentTag = tag ?? [current, ...history].find((one) => one?.digest === digest)?.tag
  return {
    digest,
    commit: tip.commit,
    key,
    at: ctx.app.clock.now(),
    seconds,
    // A push repeated after a crash finds its own result.
    unchanged: unchanged && intent?.digest !== digest,
    moved,
    changeLines: [],
    ...(permanentTag !== undefined && { tag: permanentTag }),
    ...(size !== undefined && { size }),
    ...(packages !== undefined && { packages }),
    ...(bundles !== undefined && { bundles }),
    ...(base !== undefined && { base }),
    ...(unattested !== undefined && { unattested: unattested.slice(0, 1000) }),
  }
}

/** The current image first, then earlier ones, without duplicates. */
function setCurrentPublishedImage(state: PublicationState, made: PublishedImageState): PublicationState {
  const { intent: _intent, failure: _failure, strayed: _strayed, ...rest } = state
  const before = [...(state.current ? [state.current] : []), ...state.history]
  return { ...rest, current: made, history: before.filter(({ digest }) => digest !== made.digest) }
}

type PublishFailure = Exclude<PublishResponse, PublishedImageResponse>

async function recordPublishFailure(
  step: PublishStepInput,
  state: PublicationState,
  answer: PublishFailure,
  rollbackComment?: number,
): Promise<PublicationState> {
  const { ctx, tip, key } = step
  const { app } = ctx
  const why = 'why' in answer ? answer.why : `the publishing process returned the result ${answer.kind}`
  const retryable = answer.kind === 'failed' && answer.retryable
  const known = state.failure?.key === key ? state.failure : undefined
  const attempts = (known?.attempts ?? 0) + 1
  const isLasting = !retryable || attempts >= minPublishFailuresBeforeReport
  const first = app.settings.publishRetrySeconds * 1000
  const requestedDelayMs = answer.kind === 'failed' ? (answer.retryAfter ?? 0) * 1000 : 0
  const wait = retryable
    ? Math.min(first * 2 ** Math.min(attempts - 1, 20), maxPublishRetryDelayMs)
    : maxPublishRetryDelayMs
  const now = app.clock.now()
  app.metrics.published.inc({ outcome: answer.kind === 'refused' ? 'refused' : 'failed' })
  app.log.warn({ image: step.publication.image, why, attempts }, 'a merged catalog could not be published')
  return writePublicationState(step, {
    ...state,
    failure: {
      commit: tip.commit,
      key,
      why: why.slice(0, 1000),
      attempts,
      since: known?.since ?? now,
      again: now + Math.max(wait, Math.min(requestedDelayMs, maxPublishRetryDelayMs)),
      isLasting,
      isRefused: answer.kind === 'refused',
      ...(rollbackComment !== undefined && { wish: rollbackComment }),
    },
  })
}

async function writePublicationState(
  { publication, ctx }: Pick<PublishStepInput, 'publication' | 'ctx'>,
  state: PublicationState,
): Promise<PublicationState> {
  const { app, forge } = ctx
  const maxHistoryLength = Math.max(publication.entry.retention.keep, minPublishedImageHistoryLength)
  // Retention removes older images and drops them from the history.
  const trimmedState = { ...state, history: state.history.slice(0, maxHistoryLength + 200) }
  await writeStateValue(app.store, publicationStateNamespace, forge.repository, publication.id, trimmedState)
  return trimmedState
}
