// Reads a published catalog image and compares it with the expected files.
import type { AbortSignalLike } from '../../ports/registry.ts'
import { comparePathsInWalkOrder } from '@catalog-bot/fbc/go/text'
import { computeCacheDigest } from '@catalog-bot/fbc/api/build-opm-cache'
import { formatImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { getCatalogDirectory, pullCatalogFiles } from '../registry/pull-bundle.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import { fetchMultiPlatformImage, type OciDocument, type FetchedMultiPlatformImage } from './base-image.ts'
import type {
  CatalogImageFile,
  PublishedCatalogContent,
  CatalogImageComparison,
} from './catalog-publisher.ts'
import {
  baseImageDigestAnnotation,
  baseImageNameAnnotation,
  computeContentDigest,
} from './image-documents.ts'
import { ImageError } from './image-error.ts'
import { cacheImageDirectory, catalogFileModes } from './layer/catalog-content.ts'

interface PulledCatalogImage {
  readonly published: PublishedCatalogContent
  readonly tree: FetchedMultiPlatformImage
  readonly cache: ReadonlyMap<string, Uint8Array>
}

export async function readCatalogImage(
  registry: RegistryClient,
  text: string,
  signal?: AbortSignalLike,
): Promise<PublishedCatalogContent> {
  return (await pullCatalogImage(registry, text, signal)).published
}

export async function verifyCatalogImage(
  registry: RegistryClient,
  text: string,
  files: readonly CatalogImageFile[],
  signal?: AbortSignalLike,
): Promise<CatalogImageComparison> {
  const { published, tree, cache } = await pullCatalogImage(registry, text, signal)
  const problems = [...findPlatformMismatches(tree), ...findCatalogCacheProblems(published.files, cache)]
  const differences = compareCatalogFiles(published.files, files)
  return {
    digest: published.digest,
    contentDigest: published.contentDigest,
    isSame: differences.length === 0 && problems.length === 0,
    differences: differences.slice(0, 100),
    problems,
  }
}

async function pullCatalogImage(
  registry: RegistryClient,
  text: string,
  signal?: AbortSignalLike,
): Promise<PulledCatalogImage> {
  const tree = await fetchMultiPlatformImage(registry, text, 'not-a-catalog', undefined, signal)
  const [first] = tree.images
  const directory = first && getCatalogDirectory(first.labels)
  if (!first || directory === undefined)
    throw new ImageError(
      'not-a-catalog',
      `${text} is not a catalog image because it has no label that specifies the catalog directory`,
    )
  const { reference } = tree
  const unpacked = await pullCatalogFiles(
    registry,
    formatImageReference({ host: reference.host, repository: reference.repository, digest: first.digest }),
    [directory, cacheImageDirectory],
    signal,
  )
  const filesBelow = (folder: string) =>
    new Map(
      [...unpacked]
        .filter(([path]) => path.startsWith(`${folder}/`))
        .map(([path, bytes]) => [path.slice(folder.length + 1), bytes]),
    )
  const annotations = (tree.top['annotations'] ?? {}) as Readonly<Record<string, string>>
  return {
    tree,
    cache: filesBelow(cacheImageDirectory),
    published: {
      digest: tree.digest,
      mediaType: tree.mediaType,
      contentDigest: computeFetchedImageContentDigest(tree),
      platforms: tree.images.map(({ platform }) => platform),
      labels: first.labels,
      annotations,
      baseName: annotations[baseImageNameAnnotation],
      baseDigest: annotations[baseImageDigestAnnotation],
      files: [...filesBelow(directory)]
        .map(([path, bytes]) => ({ path, bytes }))
        .sort((a, b) => comparePathsInWalkOrder(a.path, b.path)),
    },
  }
}

/** Comparable with the `contentDigest` of a built image. */
export function computeFetchedImageContentDigest(tree: FetchedMultiPlatformImage): string {
  return computeContentDigest(
    tree.isIndex,
    tree.images.map(
      ({ indexPlatform, manifest }): { platform: OciDocument | undefined; manifest: OciDocument } => ({
        platform: indexPlatform,
        manifest,
      }),
    ),
  )
}

/** The catalog is read from one platform, so the others must have the same top layer and labels. */
function findPlatformMismatches({ images }: FetchedMultiPlatformImage): readonly string[] {
  const [first, ...others] = images
  const top = first?.diffIds.at(-1)
  return others.flatMap(({ platform, diffIds, labels }) =>
    diffIds.at(-1) === top && getCatalogDirectory(labels) === getCatalogDirectory(first?.labels ?? {})
      ? []
      : [`the images for ${platform} and ${first?.platform ?? ''} have different top layers`],
  )
}

function findCatalogCacheProblems(
  files: readonly CatalogImageFile[],
  cache: ReadonlyMap<string, Uint8Array>,
): readonly string[] {
  const digestFile = cache.get('digest')
  // Without a cache, or with an unknown format, opm creates its own.
  if (!digestFile || ![...cache.keys()].some((path) => path.startsWith('cache/'))) return []
  const inCache = [...cache].filter(([path]) => path.startsWith('cache/'))
  const digest = computeCacheDigest(
    files.map(({ path, bytes }) => ({ path, pieces: [bytes] })),
    catalogFileModes,
    inCache.map(([path, bytes]) => ({ path: path.slice('cache/'.length), pieces: [bytes] })),
  )
  const recordedDigest = new TextDecoder().decode(digestFile).trim()
  return recordedDigest === digest
    ? []
    : [
        `its cache belongs to another catalog (cache digest ${recordedDigest.slice(0, 40)}, expected ${digest})`,
      ]
}

function compareCatalogFiles(
  there: readonly CatalogImageFile[],
  wanted: readonly CatalogImageFile[],
): CatalogImageComparison['differences'] {
  const actualBytes = new Map(there.map(({ path, bytes }) => [path, bytes]))
  const expectedBytes = new Map(wanted.map(({ path, bytes }) => [path, bytes]))
  return [...new Set([...actualBytes.keys(), ...expectedBytes.keys()])]
    .sort(comparePathsInWalkOrder)
    .flatMap((path): CatalogImageComparison['differences'] => {
      const is = actualBytes.get(path)
      const should = expectedBytes.get(path)
      if (is === undefined) return [{ path, kind: 'missing' }]
      if (should === undefined) return [{ path, kind: 'unexpected' }]
      return Buffer.compare(is, should) === 0 ? [] : [{ path, kind: 'different' }]
    })
}
