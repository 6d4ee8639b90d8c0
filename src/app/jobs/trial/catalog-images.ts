// The images of a pull request's catalogs, for what takes catalogs from images alone: the preview of exactly the tree that would
// land, and what is published of exactly the tree that it would land on. By their content, and always by their digests.
import type { PullNumber } from '../../../change/ids.ts'
import type { State } from '../../../ports/state.ts'
import type { TrialImages } from '../../trials/trial-order.ts'
import type { JobContext } from '../job-context.ts'
import { contentKey } from '../publish/content-key.ts'
import { madePreviews, previewWishes } from '../publish/preview-state.ts'
import { publications } from '../publish/publication-state.ts'
import { readGround } from '../publish/read-ground.ts'
import type { TrialWish } from './trial-state.ts'

/** By the catalog's root. `coming`: the preview is wished, and being made. */
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
      // What is over is not made again, unless somebody asks again.
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
