// Finds catalog images for installers that need them: the preview of the tree to merge, and the published image of its
// base. Matched by content, referenced by digest.
import type { PullNumber } from '../../../change/ids.ts'
import type { State } from '../../../ports/state.ts'
import type { TrialImages } from '../../trials/trial-order.ts'
import type { JobContext } from '../job-context.ts'
import { contentKey } from '../publish/content-key.ts'
import { madePreviews, previewWishes } from '../publish/preview-state.ts'
import { publications } from '../publish/publication-state.ts'
import { readGround } from '../publish/read-ground.ts'
import type { TrialWish } from './trial-state.ts'

/** By catalog root. `coming`: the preview is being built. */
export type FoundImages = ReadonlyMap<string, TrialImages | 'coming'>

export async function catalogImages(
  pull: PullNumber,
  wish: TrialWish,
  place: JobContext<State>,
): Promise<FoundImages> {
  const roots = new Set(wish.trials.filter(({ trial }) => trial.target === 'OLM v1').map(({ root }) => root))
  if (roots.size === 0) return new Map()
  const ground = await readGround(place)
  const found = new Map<string, TrialImages | 'coming'>()
  for (const root of roots) {
    const own = (ground?.plan.publications ?? []).filter(
      ({ catalog, entry }) => catalog.root === root && entry.preview !== undefined,
    )
    found.set(root, await imagesIn(own, root, pull, wish, place))
  }
  return found
}

type Publications = NonNullable<Awaited<ReturnType<typeof readGround>>>['plan']['publications']

async function imagesIn(
  own: Publications,
  root: string,
  pull: PullNumber,
  wish: TrialWish,
  { app, forge, repository }: JobContext<State>,
): Promise<TrialImages | 'coming'> {
  if (own.length === 0)
    return { why: 'OLM v1 takes catalogs from images, and the configuration has no previews of this one' }
  const made = await app.store.readState(madePreviews, forge.repository, String(pull))
  const asked = await app.store.readState(previewWishes, forge.repository, String(pull))
  let isOver = false
  for (const publication of own) {
    const key = await contentKey(publication, wish.tree, repository)
    const image = made?.images.find(
      (one) => one.root === root && one.image === publication.image && one.key === key,
    )
    if (!image || image.until <= app.clock.now()) {
      // An expired preview is rebuilt only on request.
      isOver ||=
        image !== undefined || made?.ended.some((end) => isEndOf(end, asked?.comment ?? 0, key)) === true
      continue
    }
    const published = await app.store.readState(publications, forge.repository, publication.id)
    const isOfBase =
      published?.current !== undefined &&
      published.current.key === (await contentKey(publication, wish.baseTree, repository))
    return {
      head: `${image.image}@${image.digest}`,
      ...(isOfBase && { base: `${publication.image}@${published.current?.digest ?? ''}` }),
    }
  }
  const isWished =
    asked !== undefined && !isOver && !asked.isClosed && asked.head === wish.head && asked.tree === wish.tree
  const isComing = isWished && own.some(({ entry }) => asked.isAsked || entry.preview?.automatic === true)
  return isComing
    ? 'coming'
    : {
        why: 'OLM v1 takes catalogs from images, and there is no preview of this commit: ask with /preview, then with /test-install',
      }
}

const isEndOf = (end: string, comment: number, key: string): boolean =>
  end.startsWith(`${comment} `) && end.endsWith(` ${key}`)
