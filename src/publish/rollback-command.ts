// Records a /rollback. Only the publishing job writes to the registry, so that each tag has one writer.
import type { PullComment, PullSnapshot } from '../pull-request/snapshot.ts'
import type { CommandDecision } from '../policy/commands.ts'
import type { RollbackCommand } from '../policy/command-records.ts'
import type { JobQueue } from '../ports/jobs.ts'
import { type StateStore, writeStateValue } from '../ports/state.ts'
import type { JobContext } from '../jobs/job-context.ts'
import type { CatalogPublication } from './plan-publications.ts'
import {
  emptyPublicationState,
  publicationStateNamespace,
  rollbackRequestStateNamespace,
  type PublicationState,
  type RollbackRequest,
} from './publication-state.ts'
import { computeCatalogContentKey, loadPublishInputs } from './load-publish-inputs.ts'

interface RollbackCandidate {
  readonly publication: CatalogPublication
  readonly state: PublicationState
}

type RollbackTarget =
  | {
      readonly kind: 'image'
      readonly publication: CatalogPublication
      readonly tag: string
      readonly digest: string
    }
  | { readonly kind: 'unclear'; readonly why: string }

/** `[tag] [digest or tag of a former image]`. The default is the tag's previous image. */
export function findRollbackTarget(
  argument: string,
  candidates: readonly RollbackCandidate[],
): RollbackTarget {
  const [first, second, ...more] = argument.split(/[ \t]+/).filter((part) => part !== '')
  if (more.length > 0) return createUnresolvedRollbackTarget('use /rollback TAG or /rollback TAG DIGEST')
  if (candidates.length === 0) return createUnresolvedRollbackTarget('no image is published from this branch')
  const named = candidates.filter(
    ({ publication: { image, tags } }) =>
      first !== undefined && (tags.includes(first) || tags.some((tag) => `${image}:${tag}` === first)),
  )
  if (first === undefined && candidates.length > 1)
    return createUnresolvedRollbackTarget(`several images are published from this branch; use /rollback TAG`)
  if (named.length > 1)
    return createUnresolvedRollbackTarget(`several images have the tag ${first}; use IMAGE:TAG`)
  const imageId = named.length === 1 || first === undefined ? second : first
  if (named.length === 0 && second !== undefined)
    return createUnresolvedRollbackTarget(`no published image has the tag ${first}`)
  const among = named.length === 1 ? named : candidates
  if (imageId === undefined) {
    const [only] = among
    const before = only && findPreviousPublishedImage(only.state)
    return only === undefined || before === undefined
      ? createUnresolvedRollbackTarget('no earlier image is available')
      : toRollbackTarget(only, before.digest)
  }
  const found = among.flatMap((candidate) => {
    const { current, history } = candidate.state
    const image = [...(current ? [current] : []), ...history].find(
      ({ digest, tag }) => digest === imageId || tag === imageId,
    )
    return image === undefined ? [] : [toRollbackTarget(candidate, image.digest)]
  })
  const [only, ...others] = found
  if (only === undefined)
    return createUnresolvedRollbackTarget(
      `the publish history for this branch or tag does not contain image ${imageId}`,
    )
  return others.length > 0
    ? createUnresolvedRollbackTarget(`${imageId} matches several images; write the tag before the digest`)
    : only
}

const createUnresolvedRollbackTarget = (why: string): RollbackTarget => ({ kind: 'unclear', why })

function toRollbackTarget({ publication }: RollbackCandidate, digest: string): RollbackTarget {
  return { kind: 'image', publication, tag: publication.tags[0] ?? '', digest }
}

/** The image published before the current one, regardless of rollbacks since. */
function findPreviousPublishedImage({ current, history }: PublicationState) {
  return history
    .filter(({ at }) => current === undefined || at < current.at)
    .toSorted((a, b) => b.at - a.at)
    .at(0)
}

/** Why a /rollback that was read late must not change the tags. `since`: the last request for the image. */
function findLateRollbackReason(
  comment: number,
  since: RollbackRequest | undefined,
  { current, history }: PublicationState,
  comments: readonly PullComment[],
): string | undefined {
  // A job that ended early runs again.
  if (since?.comment === comment) return undefined
  if (since !== undefined && since.comment > comment) return 'a later /rollback applies to this image'
  const writtenAt = Date.parse(comments.find(({ id }) => id === comment)?.createdAt ?? '')
  // GitHub's times have no milliseconds.
  return [...(current ? [current] : []), ...history].every(({ at }) => at < writtenAt + 1000)
    ? undefined
    : 'an image was published after this comment; comment again to roll it back'
}

/** Idempotent. */
export async function executeRollback(
  decision: CommandDecision,
  { pull, baseRef, comments }: PullSnapshot,
  ctx: JobContext<StateStore & JobQueue>,
): Promise<CommandDecision> {
  const { record } = decision
  if (record.command !== 'rollback' || record.outcome !== 'done' || record.rollback === undefined)
    return decision
  const { app, forge, installation } = ctx
  const { repository } = forge
  const { words } = record.rollback
  const inputs = await loadPublishInputs(ctx)
  const candidates: RollbackCandidate[] = []
  for (const publication of inputs?.plan.publications ?? [])
    if (publication.branch === baseRef)
      candidates.push({
        publication,
        state:
          (await app.store.readState(publicationStateNamespace, repository, publication.id)) ??
          emptyPublicationState,
      })
  const meant = findRollbackTarget(words, candidates)
  const withRollback = (rollback: RollbackCommand): CommandDecision['record'] => ({ ...record, rollback })
  const reject = (why: string): CommandDecision => ({
    record: { ...withRollback({ words, why }), outcome: 'unclear' },
    reaction: 'confused',
    answer: why,
  })
  if (meant.kind === 'unclear') return reject(meant.why)
  const { publication, tag, digest } = meant
  const since = await app.store.readState(rollbackRequestStateNamespace, repository, publication.id)
  const state = candidates.find((one) => one.publication === publication)?.state ?? emptyPublicationState
  const { comment, login } = record
  const late = findLateRollbackReason(comment, since, state, comments)
  if (late !== undefined) return reject(late)
  const tip = inputs?.tips.get(baseRef)
  const key =
    since?.comment === comment || tip === undefined
      ? since?.key
      : await computeCatalogContentKey(publication, tip.tree, ctx.repository)
  const request = { comment, pull, login, digest, ...(key !== undefined && { key }) }
  await writeStateValue(app.store, rollbackRequestStateNamespace, repository, publication.id, request)
  await app.store.enqueue({ kind: 'publish', installation, repository })
  app.log.info({ image: publication.image, digest, login }, 'a maintainer requested an image rollback')
  return { ...decision, record: withRollback({ words, image: publication.image, tag, digest }) }
}
