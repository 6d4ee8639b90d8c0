// Retention: deletes images beyond the configured number, then drops them from the history. An image that still has a
// tag stays and is not retried until another one is due.
import type { State } from '../../../ports/state.ts'
import type { JobContext } from '../job-context.ts'
import { publications, type PublicationState, type PublishedImageState } from './publication-state.ts'
import type { Standing } from './told-publication.ts'

/** More follow with the next image. */
const mostAtOnce = 20

export async function removeOldImages(
  standings: readonly Standing[],
  place: JobContext<State>,
): Promise<void> {
  const { app, forge, installation } = place
  for (const { publication } of standings) {
    const state = await app.store.readState(publications, forge.repository, publication.id)
    const old = state === undefined ? [] : beyond(state, publication.entry.retention.keep)
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
    const gone = new Set(answer.gone)
    if (answer.kept.length > 0)
      app.log.info({ image: publication.image, kept: answer.kept }, 'old images that have to stay')
    await app.store.writeState(
      publications,
      forge.repository,
      new Map([
        [
          publication.id,
          {
            ...state,
            history: state.history.filter(({ digest }) => !gone.has(digest)),
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
function beyond(
  { current, history, undeletable }: PublicationState,
  keep: number,
): readonly PublishedImageState[] {
  const stays = new Set([current?.digest, ...undeletable])
  return history
    .slice(keep)
    .filter(({ digest, tag }) => tag !== undefined && !stays.has(digest))
    .slice(0, mostAtOnce)
}
