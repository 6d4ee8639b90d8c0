// Brings one publication a step closer to its branch. All decisions follow from git, the configuration and the state,
// so a step can be repeated after a crash.
import type { CommitSha } from '../../../change/ids.ts'
import { durationOf } from '../../../config/publish.ts'
import { crashPoint } from '../../../landing/crash-point.ts'
import type { State } from '../../../ports/state.ts'
import type { Publishing } from '../../publishing/open-publishing.ts'
import type { PublishAnswer, PublishedImage } from '../../publishing/publish-order.ts'
import type { JobContext } from '../job-context.ts'
import { changeForUsers, contentKey } from './content-key.ts'
import { historyTag, type Publication } from './plan-publications.ts'
import type { Tip } from './read-ground.ts'
import {
  publications,
  type PublicationState,
  type PublishedImageState,
  type RollbackWish,
} from './publication-state.ts'

export interface Step {
  readonly publication: Publication
  readonly tip: Tip
  readonly key: string
  readonly state: PublicationState
  readonly publishing: Publishing
  readonly place: JobContext<State>
  /** Reads the branch's current tip. */
  readonly tipNow: () => Promise<Tip | undefined>
  /** Called when an image build starts. */
  readonly onBegin: (state: PublicationState) => Promise<void>
}

/** Failed attempts before people are notified: some minutes with the default settings. */
const patientAttempts = 4
/** Maximum milliseconds between two attempts. */
const longestWait = 30 * 60_000
/** Milliseconds between two checks of unchanged tags. */
const lookEvery = 3600_000
/** Minimum length of the image history, even if the registry deletes old images. */
const rememberedImages = 10

export type StepOutcome =
  | { readonly kind: 'done'; readonly state: PublicationState }
  /** A newer commit came; everything is evaluated again. */
  | { readonly kind: 'superseded'; readonly by: CommitSha; readonly state: PublicationState }

export function isDue(
  state: PublicationState,
  key: string,
  wish: RollbackWish | undefined,
  now: number,
): boolean {
  const { current, pinned, failure } = state
  if (isOpen(wish, state) && failure?.wish !== wish?.comment) return true
  if (failure !== undefined && failure.key === key) return now >= failure.again
  if (pinned !== undefined && pinned.key === key) return false
  return current?.key !== key
}

export function isOpen(wish: RollbackWish | undefined, { granted }: PublicationState): boolean {
  return wish !== undefined && wish.comment !== granted
}

/** Milliseconds until the next scheduled step, or undefined. */
export function nextLook(
  { entry }: Publication,
  { failure, lookedAt, current }: PublicationState,
  now: number,
): number | undefined {
  const waits = [
    ...(failure === undefined ? [] : [failure.again - now]),
    ...(current === undefined ? [] : [(lookedAt ?? now) + lookInterval(entry.rebase) - now]),
  ]
  return waits.length === 0 ? undefined : Math.max(0, Math.min(...waits))
}

function lookInterval(rebase: string): number {
  return Math.min(durationOf(rebase) ?? Infinity, lookEvery)
}

export async function publishOne(step: Step): Promise<StepOutcome> {
  const { publication, tip, key, state, publishing, place } = step
  const { image, tags, settings, catalog } = publication
  const { app, forge, installation } = place
  // A retry reports nothing until it ends.
  if (state.failure?.key !== key) await step.onBegin(state)
  const started = performance.now()
  let by: CommitSha | undefined
  const tag = historyTag(publication, tip.commit)
  const answer = await publishing.order(
    {
      kind: 'publish',
      purpose: 'catalog',
      github: forge.repository,
      installation,
      image,
      mirror: place.mirror,
      tree: tip.tree,
      root: catalog.root,
      tags,
      ...(tag !== undefined && { history: { tag, ...knownOf(state) } }),
      settings,
      annotations: annotationsOf(step),
    },
    async (digest) => {
      const now = await step.tipNow()
      if (now !== undefined && (await contentKey(publication, now.tree, place.repository)) !== key) {
        by = now.commit
        return 'superseded'
      }
      await write(step, { ...state, intent: { digest, commit: tip.commit, key } })
      crashPoint('publish-intended')
      return 'go'
    },
  )
  crashPoint('publish-pushed')
  if (answer.kind === 'superseded') return { kind: 'superseded', by: by ?? tip.commit, state }
  const before = (await place.app.store.readState(publications, forge.repository, publication.id)) ?? state
  if (answer.kind !== 'published') return { kind: 'done', state: await noteFailure(step, before, answer) }
  const { pinned: _pinned, ...unpinned } = before
  const made = {
    ...imageOf(answer, step, (performance.now() - started) / 1000, before),
    changeLines:
      before.current === undefined
        ? []
        : await changeForUsers(publication, before.current.commit, tip.tree, place),
  }
  const since = before.current?.commit
  const next = await write(step, {
    ...withCurrent(unpinned, made),
    ...(since !== undefined && since !== made.commit && { since }),
  })
  app.log.info({ image, digest: made.digest, unchanged: made.unchanged, seconds: made.seconds }, 'published')
  app.metrics.published.inc({ outcome: made.unchanged ? 'unchanged' : 'published' })
  crashPoint('publish-recorded')
  return { kind: 'done', state: next }
}

/** Points the tags to a former image, until the catalog in git changes. */
export async function rollBack(step: Step, wish: RollbackWish): Promise<PublicationState> {
  const { publication, key, state, publishing, place, tip } = step
  const wanted = [...(state.current ? [state.current] : []), ...state.history].find(
    ({ digest }) => digest === wish.digest,
  )
  const granted = wish.comment
  // The requested image is no longer in the history; do not substitute another.
  if (wanted === undefined) return write(step, { ...state, granted })
  const answer = await publishing.order({
    kind: 'retag',
    github: place.forge.repository,
    installation: place.installation,
    image: publication.image,
    digest: wish.digest,
    tags: publication.tags,
  })
  if (answer.kind !== 'published') return noteFailure(step, state, answer, granted)
  const { digest, login } = wish
  const pinned = { key, digest, login, commit: tip.commit }
  crashPoint('rolled-back')
  return write(step, { ...withCurrent(state, wanted), pinned, granted })
}

/** Checks for a new base digest and for tags that others moved. */
export async function lookAfter(step: Step): Promise<PublicationState> {
  const { publication, state, publishing, place } = step
  const { app, forge, installation } = place
  const { current, lookedAt } = state
  const now = app.clock.now()
  const interval = lookInterval(publication.entry.rebase)
  if (current === undefined) return state
  if (lookedAt === undefined) return write(step, { ...state, lookedAt: now })
  if (now - lookedAt < interval) return state
  const { image, tags, settings, entry } = publication
  const asking = { github: forge.repository, installation, image }
  const rebases = entry.rebase !== 'off' && current.base !== undefined && state.pinned === undefined
  const seen = await publishing.order({
    kind: 'look',
    ...asking,
    tags,
    ...(rebases && { base: settings.base }),
  })
  if (seen.kind !== 'seen') return write(step, { ...state, lookedAt: now })
  const strayed = tags.find((tag) => seen.tags[tag] !== current.digest)
  const { strayed: known, ...rest } = { ...state, lookedAt: now }
  if (strayed !== undefined) {
    const to = seen.tags[strayed] ?? null
    const since = known?.tag === strayed && known.to === to ? known.since : now
    return write(step, { ...rest, strayed: { tag: strayed, to, since } })
  }
  if (!rebases || typeof seen.base !== 'string' || seen.base === current.base?.digest)
    return write(step, rest)
  const started = performance.now()
  const tag = historyTag(publication, current.commit)
  const answer = await publishing.order(
    {
      kind: 'rebase',
      ...asking,
      digest: current.digest,
      tags,
      ...(tag !== undefined && { history: { tag, ...knownOf(state) } }),
      settings,
      annotations: annotationsOf({ ...step, tip: { ...step.tip, commit: current.commit } }),
    },
    async (digest) => {
      await write(step, { ...rest, intent: { digest, commit: current.commit, key: current.key } })
      return 'go'
    },
  )
  if (answer.kind !== 'published') return noteFailure({ ...step, key: current.key }, rest, answer)
  const made = {
    ...imageOf(answer, step, (performance.now() - started) / 1000, state),
    commit: current.commit,
    key: current.key,
    rebased: true,
    changeLines: [],
  }
  return write(step, withCurrent(rest, made))
}

const knownOf = ({ current }: PublicationState) => (current === undefined ? {} : { known: current.digest })

/** OCI annotations that name the image's source. */
function annotationsOf({ tip, place }: Pick<Step, 'tip' | 'place'>): Record<string, string> {
  const { owner, name } = place.forge.repository
  return {
    'org.opencontainers.image.source': `${place.app.settings.gitUrl}/${owner}/${name}`,
    'org.opencontainers.image.revision': tip.commit,
  }
}

function imageOf(
  answer: PublishedImage,
  { tip, key, place }: Step,
  seconds: number,
  { current, intent, history }: PublicationState,
): PublishedImageState {
  const ours = new Set([current?.digest, intent?.digest, ...history.map(({ digest }) => digest)])
  const moved = Object.entries(answer.before).flatMap(([tag, to]) =>
    current === undefined || to === null || ours.has(to) ? [] : [{ tag, to }],
  )
  const { digest, unchanged, history: tag, size, packages, bundles, base, unattested } = answer
  const kept = tag ?? [current, ...history].find((one) => one?.digest === digest)?.tag
  return {
    digest,
    commit: tip.commit,
    key,
    at: place.app.clock.now(),
    seconds,
    // A push repeated after a crash finds its own result.
    unchanged: unchanged && intent?.digest !== digest,
    moved,
    changeLines: [],
    ...(kept !== undefined && { tag: kept }),
    ...(size !== undefined && { size }),
    ...(packages !== undefined && { packages }),
    ...(bundles !== undefined && { bundles }),
    ...(base !== undefined && { base }),
    ...(unattested !== undefined && { unattested: unattested.slice(0, 1000) }),
  }
}

/** The current image first, then earlier ones, without duplicates. */
function withCurrent(state: PublicationState, made: PublishedImageState): PublicationState {
  const { intent: _intent, failure: _failure, strayed: _strayed, ...rest } = state
  const before = [...(state.current ? [state.current] : []), ...state.history]
  return { ...rest, current: made, history: before.filter(({ digest }) => digest !== made.digest) }
}

type Unpublished = Exclude<PublishAnswer, PublishedImage>

async function noteFailure(
  step: Step,
  state: PublicationState,
  answer: Unpublished,
  wish?: number,
): Promise<PublicationState> {
  const { place, tip, key } = step
  const { app } = place
  const why = 'why' in answer ? answer.why : `the publishing process answered ${answer.kind}`
  const retryable = answer.kind === 'failed' && answer.retryable
  const known = state.failure?.key === key ? state.failure : undefined
  const attempts = (known?.attempts ?? 0) + 1
  const isLasting = !retryable || attempts >= patientAttempts
  const first = app.settings.publishRetrySeconds * 1000
  const asked = answer.kind === 'failed' ? (answer.retryAfter ?? 0) * 1000 : 0
  const wait = retryable ? Math.min(first * 2 ** Math.min(attempts - 1, 20), longestWait) : longestWait
  const now = app.clock.now()
  app.metrics.published.inc({ outcome: answer.kind === 'refused' ? 'refused' : 'failed' })
  app.log.warn({ image: step.publication.image, why, attempts }, 'a catalog is merged and not published')
  return write(step, {
    ...state,
    failure: {
      commit: tip.commit,
      key,
      why: why.slice(0, 1000),
      attempts,
      since: known?.since ?? now,
      again: now + Math.max(wait, Math.min(asked, longestWait)),
      isLasting,
      isRefused: answer.kind === 'refused',
      ...(wish !== undefined && { wish }),
    },
  })
}

async function write(
  { publication, place }: Pick<Step, 'publication' | 'place'>,
  state: PublicationState,
): Promise<PublicationState> {
  const { app, forge } = place
  const mostKept = Math.max(publication.entry.retention.keep, rememberedImages)
  // Retention removes older images and drops them from the history.
  const kept = { ...state, history: state.history.slice(0, mostKept + 200) }
  await app.store.writeState(publications, forge.repository, new Map([[publication.id, kept]]))
  return kept
}
