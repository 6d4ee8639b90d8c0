// Retention: deletes images beyond the configured number, then drops them from the history. An image that still has a
// tag stays and is not retried until another one is due.
import type { StateStore } from '../ports/state.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { publicationStates, type PublicationState, type PublishedImageState } from './publication-state.ts'
import type { PublicationStatus } from './publication-views.ts'

/** More follow with the next image. */
const maxImageRemovalsPerRun = 20

export async function removeOldImages(
  statuses: readonly PublicationStatus[],
  ctx: JobContext<StateStore>,
): Promise<void> {
  const { app, forge, installation } = ctx
  for (const { publication } of statuses) {
    const state = await app.store.readState(publicationStates, forge.repository, publication.id)
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
    if (answer.kept.length > 0)
      app.log.info({ image: publication.image, kept: answer.kept }, 'some old images were not removed')
    await app.store.writeState(
      publicationStates,
      forge.repository,
      new Map([
        [
          publication.id,
          {
            ...state,
            history: state.history.filter(({ digest }) => !removed.has(digest)),
            undeletable: [
              ...new Set([...state.undeletable, ...answer.kept.map(({ digest }) => digest)]),
            ].slice(-1000),
          },
        ],
      ]),
    )
  }
}

/** Images with our tag beyond `keep`, oldest last. A rollback's image is `current` and never included. */
function findImagesBeyondRetention(
  { current, history, undeletable }: PublicationState,
  keep: number,
): readonly PublishedImageState[] {
  const stays = new Set([current?.digest, ...undeletable])
  return history
    .slice(keep)
    .filter(({ digest, tag }) => tag !== undefined && !stays.has(digest))
    .slice(0, maxImageRemovalsPerRun)
}
