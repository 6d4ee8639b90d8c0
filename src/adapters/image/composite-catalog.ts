// Composite catalogs. Renders a list of catalog or bundle images into one catalog with a folder per image.
import { parseCompositeListFile } from '../../pull-request/references/composite-list.ts'
import { pullBundleOrCatalog } from '../registry/pull-bundle.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import { RegistryError } from '../registry/registry-error.ts'
import { parseImageReferenceOrThrow } from './base-image.ts'
import { type CatalogImageFile, ImageError } from './catalog-publisher.ts'
import { forEachConcurrently } from './open-pusher.ts'
import { renderImageInWorkerProcess } from './layer/layer-process-pool.ts'

export interface CompositeCatalogSpec {
  readonly name: string
  /** The catalog's target, if the list has one. */
  readonly repository?: string
  readonly tag?: string
  readonly references: readonly { readonly name: string; readonly image: string }[]
}

const maxConcurrentImageRenders = 4

/** Throws an ImageError `order` for anything ambiguous. */
export function parseCompositeCatalogSpec(bytes: Uint8Array): CompositeCatalogSpec {
  const list = parseCompositeListFile(bytes)
  if (!list)
    throw new ImageError(
      'order',
      'the file is not a composite list; write plain YAML with a `name` and a list of `references`, and give each reference a `name` and an `image`',
    )
  const { fields, references } = list
  const name = fields.get('name')
  if (name === undefined)
    throw new ImageError('order', 'the `name` of the composite list is missing or not a string')
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
 * `<name>/index.yaml` for each reference, like `opm render`. `path`: of the list. Rejects with an ImageError (not a
 * catalog or bundle, or unreadable) or a RegistryError, which name the reference.
 */
export async function renderCompositeCatalogFiles(
  registry: RegistryClient,
  { references }: CompositeCatalogSpec,
  path: string,
): Promise<readonly CatalogImageFile[]> {
  for (const { image } of references) parseImageReferenceOrThrow(image)
  const files: CatalogImageFile[] = []
  await forEachConcurrently(references, maxConcurrentImageRenders, async (reference) => {
    const { name, image } = reference
    const { labels, files: pulled } = await pullBundleOrCatalog(registry, image).catch((error: unknown) => {
      throw error instanceof RegistryError
        ? toImagePullError(formatCompositeCatalogEntry(path, reference), error)
        : error
    })
    const text = await renderImageInWorkerProcess({ labels, files: pulled, reference: image }, name)
    files.push({ path: `${name}/index.yaml`, bytes: new TextEncoder().encode(text) })
  })
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** Names an entry of a composite list in messages: `catalogs/list.yaml: reference "extra" (quay.io/acme/extra:1)`. */
export function formatCompositeCatalogEntry(
  path: string,
  { name, image }: { readonly name: string; readonly image: string },
): string {
  return `${path}: reference "${name}" (${image})`
}

/** Names the image that failed and the next step. `label` starts the message. */
export function toImagePullError(label: string, error: RegistryError): RegistryError {
  const { code, retryAfter, status, contentType } = error
  return new RegistryError(code, `${label}: ${error.message}${formatImagePullErrorHint(error)}`, {
    cause: error,
    retryAfter,
    status,
    contentType,
  })
}

function formatImagePullErrorHint({ code, retryable }: RegistryError): string {
  if (code === 'missing') return '. Correct the reference or push the image.'
  if (code === 'private') return '. Log in to the registry or correct the reference.'
  return retryable ? '. Try again later.' : ''
}
