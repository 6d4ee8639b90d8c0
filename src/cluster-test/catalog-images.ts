// Finds catalog images for installers that need them: the preview of the tree to merge, and the published image of its
// base. Matched by content, referenced by digest.
import type { PullNumber } from '../pull-request/ids.ts'
import type { StateStore } from '../ports/state.ts'
import type { ClusterTestImages } from './process/cluster-test-protocol.ts'
import type { JobContext } from '../jobs/job-context.ts'
import { computeCatalogContentKey } from '../publish/content-key.ts'
import { builtPreviewState, previewRequestState } from '../publish/preview-state.ts'
import { publicationStates } from '../publish/publication-state.ts'
import { loadPublishInputs } from '../publish/load-publish-inputs.ts'
import type { ClusterTestRequest } from './cluster-test-state.ts'

/** By catalog root. `coming`: the preview is being built. */
export type ClusterTestImagesByCatalog = ReadonlyMap<string, ClusterTestImages | 'coming'>

export async function loadImagesByCatalog(
  pull: PullNumber,
  request: ClusterTestRequest,
  ctx: JobContext<StateStore>,
): Promise<ClusterTestImagesByCatalog> {
  const roots = new Set(
    request.trials.filter(({ trial }) => trial.target === 'OLM v1').map(({ root }) => root),
  )
  if (roots.size === 0) return new Map()
  const inputs = await loadPublishInputs(ctx)
  const found = new Map<string, ClusterTestImages | 'coming'>()
  for (const root of roots) {
    const own = (inputs?.plan.publications ?? []).filter(
      ({ catalog, entry }) => catalog.root === root && entry.preview !== undefined,
    )
    found.set(root, await loadImagesOfCatalog(own, root, pull, request, ctx))
  }
  return found
}

type PlannedPublications = NonNullable<Awaited<ReturnType<typeof loadPublishInputs>>>['plan']['publications']

async function loadImagesOfCatalog(
  own: PlannedPublications,
  root: string,
  pull: PullNumber,
  request: ClusterTestRequest,
  { app, forge, repository }: JobContext<StateStore>,
): Promise<ClusterTestImages | 'coming'> {
  if (own.length === 0)
    return {
      why: 'OLM v1 loads catalogs from images, and the configuration does not enable previews for this catalog',
    }
  const made = await app.store.readState(builtPreviewState, forge.repository, String(pull))
  const previewRequest = await app.store.readState(previewRequestState, forge.repository, String(pull))
  let isOver = false
  for (const publication of own) {
    const key = await computeCatalogContentKey(publication, request.tree, repository)
    const image = made?.images.find(
      (one) => one.root === root && one.image === publication.image && one.key === key,
    )
    if (!image || image.until <= app.clock.now()) {
      // An expired preview is rebuilt only on request.
      isOver ||=
        image !== undefined ||
        made?.ended.some((end) => isEndedPreview(end, previewRequest?.comment ?? 0, key)) === true
      continue
    }
    const published = await app.store.readState(publicationStates, forge.repository, publication.id)
    const isOfBase =
      published?.current !== undefined &&
      published.current.key === (await computeCatalogContentKey(publication, request.baseTree, repository))
    return {
      head: `${image.image}@${image.digest}`,
      ...(isOfBase && { base: `${publication.image}@${published.current?.digest ?? ''}` }),
    }
  }
  const isRequested =
    previewRequest !== undefined &&
    !isOver &&
    !previewRequest.isClosed &&
    previewRequest.head === request.head &&
    previewRequest.tree === request.tree
  const isComing =
    isRequested && own.some(({ entry }) => previewRequest.isAsked || entry.preview?.automatic === true)
  return isComing
    ? 'coming'
    : {
        why: 'OLM v1 loads catalogs from images, and this commit has no preview image; comment /preview, and then /test-install',
      }
}

const isEndedPreview = (end: string, comment: number, key: string): boolean =>
  end.startsWith(`${comment} `) && end.endsWith(` ${key}`)
