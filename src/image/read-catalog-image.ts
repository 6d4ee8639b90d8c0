// Reads a published catalog image and compares it with the expected files.
import type { AbortSignalLike } from '../ports/registry.ts'
import { compareWalk } from '../go/walk-order.ts'
import { cacheDigest } from '../catalog/api/cache-digest.ts'
import { formatImageReference } from '../go/reference/image-reference.ts'
import { catalogDirectory, pullCatalogFiles } from '../registry/pull-bundle.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import { fetchTree, type Document, type FetchedTree } from './base-image.ts'
import type { CatalogFile, PublishedCatalog, ReadBack } from './catalog-publisher.ts'
import { baseDigestAnnotation, baseNameAnnotation, contentDigest } from './image-documents.ts'
import { ImageError } from './image-error.ts'
import { cacheFolder, catalogModes } from './layer/catalog-content.ts'

interface Pulled {
  readonly published: PublishedCatalog
  readonly tree: FetchedTree
  readonly cache: ReadonlyMap<string, Uint8Array>
}

export async function readCatalogImage(
  registry: RegistryClient,
  text: string,
  signal?: AbortSignalLike,
): Promise<PublishedCatalog> {
  return (await pull(registry, text, signal)).published
}

export async function verifyCatalogImage(
  registry: RegistryClient,
  text: string,
  files: readonly CatalogFile[],
  signal?: AbortSignalLike,
): Promise<ReadBack> {
  const { published, tree, cache } = await pull(registry, text, signal)
  const problems = [...otherCatalogs(tree), ...cacheProblems(published.files, cache)]
  const differences = differencesOf(published.files, files)
  return {
    digest: published.digest,
    contentDigest: published.contentDigest,
    isSame: differences.length === 0 && problems.length === 0,
    differences: differences.slice(0, 100),
    problems,
  }
}

async function pull(registry: RegistryClient, text: string, signal?: AbortSignalLike): Promise<Pulled> {
  const tree = await fetchTree(registry, text, 'not-a-catalog', undefined, signal)
  const [first] = tree.images
  const directory = first && catalogDirectory(first.labels)
  if (!first || directory === undefined)
    throw new ImageError(
      'not-a-catalog',
      `${text} is no catalog image: it does not say where its catalog lies`,
    )
  const { reference } = tree
  const unpacked = await pullCatalogFiles(
    registry,
    formatImageReference({ host: reference.host, repository: reference.repository, digest: first.digest }),
    [directory, cacheFolder],
    signal,
  )
  const below = (folder: string) =>
    new Map(
      [...unpacked]
        .filter(([path]) => path.startsWith(`${folder}/`))
        .map(([path, bytes]) => [path.slice(folder.length + 1), bytes]),
    )
  const annotations = (tree.top['annotations'] ?? {}) as Readonly<Record<string, string>>
  return {
    tree,
    cache: below(cacheFolder),
    published: {
      digest: tree.digest,
      mediaType: tree.mediaType,
      contentDigest: contentOf(tree),
      platforms: tree.images.map(({ platform }) => platform),
      labels: first.labels,
      annotations,
      baseName: annotations[baseNameAnnotation],
      baseDigest: annotations[baseDigestAnnotation],
      files: [...below(directory)]
        .map(([path, bytes]) => ({ path, bytes }))
        .sort((a, b) => compareWalk(a.path, b.path)),
    },
  }
}

/** Comparable with the `contentDigest` of a built image. */
export function contentOf(tree: FetchedTree): string {
  return contentDigest(
    tree.isIndex,
    tree.images.map(
      ({ indexPlatform, manifest }): { platform: Document | undefined; manifest: Document } => ({
        platform: indexPlatform,
        manifest,
      }),
    ),
  )
}

/** The catalog is read from one platform, so the others must have the same top layer and labels. */
function otherCatalogs({ images }: FetchedTree): readonly string[] {
  const [first, ...others] = images
  const top = first?.diffIds.at(-1)
  return others.flatMap(({ platform, diffIds, labels }) =>
    diffIds.at(-1) === top && catalogDirectory(labels) === catalogDirectory(first?.labels ?? {})
      ? []
      : [`the image for ${platform} has another top layer than the one for ${first?.platform ?? ''}`],
  )
}

function cacheProblems(
  files: readonly CatalogFile[],
  cache: ReadonlyMap<string, Uint8Array>,
): readonly string[] {
  const told = cache.get('digest')
  // No cache, or an unknown format: opm creates its own.
  if (!told || ![...cache.keys()].some((path) => path.startsWith('cache/'))) return []
  const inCache = [...cache].filter(([path]) => path.startsWith('cache/'))
  const digest = cacheDigest(
    files.map(({ path, bytes }) => ({ path, pieces: [bytes] })),
    catalogModes,
    inCache.map(([path, bytes]) => ({ path: path.slice('cache/'.length), pieces: [bytes] })),
  )
  const said = new TextDecoder().decode(told).trim()
  return said === digest
    ? []
    : [`its cache is of another catalog: it says ${said.slice(0, 40)}, and ${digest} would fit`]
}

function differencesOf(
  there: readonly CatalogFile[],
  wanted: readonly CatalogFile[],
): ReadBack['differences'] {
  const found = new Map(there.map(({ path, bytes }) => [path, bytes]))
  const asked = new Map(wanted.map(({ path, bytes }) => [path, bytes]))
  return [...new Set([...found.keys(), ...asked.keys()])]
    .sort(compareWalk)
    .flatMap((path): ReadBack['differences'] => {
      const is = found.get(path)
      const should = asked.get(path)
      if (is === undefined) return [{ path, kind: 'missing' }]
      if (should === undefined) return [{ path, kind: 'unexpected' }]
      return Buffer.compare(is, should) === 0 ? [] : [{ path, kind: 'different' }]
    })
}
