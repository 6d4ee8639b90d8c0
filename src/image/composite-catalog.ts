// Composite catalogs: renders a list of catalog or bundle images into one catalog, a folder per image.
import type { AbortSignalLike } from '../ports/registry.ts'
import { parseReferenceList } from '../change/references/reference-list.ts'
import { pullBundleOrCatalog } from '../registry/pull-bundle.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import { parseReferenceOrThrow } from './base-image.ts'
import type { CatalogImageFile } from './catalog-publisher.ts'
import { ImageError } from './image-error.ts'
import { renderImageInProcess } from './layer/layer-process-pool.ts'

export interface CompositeCatalogSpec {
  readonly name: string
  /** The catalog's target, if the list has one. */
  readonly repository?: string
  readonly tag?: string
  readonly references: readonly { readonly name: string; readonly image: string }[]
}

const maxConcurrentRenders = 4

/** Throws an ImageError `order` for anything ambiguous. */
export function parseCompositeCatalogSpec(bytes: Uint8Array): CompositeCatalogSpec {
  const list = parseReferenceList(bytes)
  if (!list)
    throw new ImageError(
      'order',
      'this is no composite list: `name`, `repo`, `tag`, and `references` with a `name` and an `image` each, in plain YAML',
    )
  const { fields, references } = list
  const name = fields.get('name')
  if (name === undefined)
    throw new ImageError('order', 'the composite list has no `name`, or one that is no text')
  const repository = fields.get('repo')
  const tag = fields.get('tag')
  return {
    name,
    ...(repository !== undefined && { repository }),
    ...(tag !== undefined && { tag }),
    references: references.map(({ name: folder, image }) => ({ name: folder, image })),
  }
}

/**
 * `<name>/index.yaml` for each reference, as `opm render` prints it. Rejects with an ImageError that names a reference
 * that is not a catalog or bundle, or cannot be read; with a RegistryError if one cannot be pulled.
 */
export async function renderCompositeFiles(
  registry: RegistryClient,
  { references }: CompositeCatalogSpec,
  signal?: AbortSignalLike,
): Promise<readonly CatalogImageFile[]> {
  for (const { image } of references) parseReferenceOrThrow(image)
  const files: CatalogImageFile[] = []
  const waiting = [...references]
  const renderWaiting = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { name, image } = next
      const { labels, files: pulled } = await pullBundleOrCatalog(registry, image, signal)
      const text = await renderImageInProcess({ labels, files: pulled, reference: image }, name)
      files.push({ path: `${name}/index.yaml`, bytes: new TextEncoder().encode(text) })
    }
  }
  const ended = await Promise.allSettled(Array.from({ length: maxConcurrentRenders }, renderWaiting))
  const failure = ended.find((result) => result.status === 'rejected')
  if (failure) throw failure.reason
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}
