// Replaces the layers below a published catalog's layer, which stays byte for byte the same.
import type { AbortSignalLike } from '../ports/registry.ts'
import type { Descriptor } from '../registry/manifest.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import { RegistryError } from '../registry/registry-error.ts'
import { onBase, settingsOf } from './assemble-image.ts'
import {
  fetchTree,
  refuseCatalogs,
  type Document,
  type FetchedImage,
  type FetchedTree,
} from './base-image.ts'
import type { CatalogImage, RebaseOrder } from './catalog-publisher.ts'
import {
  baseDigestAnnotation,
  baseNameAnnotation,
  catalogLabel,
  formats,
  madeBy,
  type Compression,
  type Format,
} from './image-documents.ts'
import { ImageError } from './image-error.ts'

/** `published` reads the image, `registry` both bases. */
export async function rebase(
  published: RegistryClient,
  registry: RegistryClient,
  order: RebaseOrder,
  signal?: AbortSignalLike,
): Promise<CatalogImage> {
  const [image, base] = await Promise.all([
    fetchTree(published, order.image, 'not-a-catalog', undefined, signal),
    fetchTree(registry, order.base, 'base', order.platforms, signal),
  ])
  refuseCatalogs(base)
  const [first] = image.images
  if (!first || first.labels[catalogLabel] !== '/configs')
    throw refused(order, 'it is no catalog image such as `catalog-bot build` makes')
  const diffId = first.diffIds.at(-1) ?? ''
  const descriptor = first.manifest.layers.at(-1)
  if (!descriptor || image.images.some(({ diffIds }) => diffIds.at(-1) !== diffId))
    throw refused(order, 'its platforms have different catalogs')
  if (first.diffIds.length === 1) throw refused(order, 'it was built without a base')
  // The history names our layer. For other images, the base that they name is compared.
  const isOurs = image.images.every(saysItIsOurs)
  const old = order.labels && isOurs ? undefined : await oldBase(registry, order, image, first, signal)
  const settings = settingsOf({
    ...kindOf(descriptor, order),
    cache: hasCache(first),
    labels: order.labels ?? labelsOf(first, old),
    annotations: order.annotations ?? ownAnnotations(image),
    created: String(first.config['created']),
  })
  const { digest, size } = descriptor
  const layer = {
    descriptor,
    summary: { digest, size, diffId, uncompressed: 0 },
    read: () => published.fetchBlob(image.reference, descriptor),
  }
  return onBase(base, registry, layer, settings)
}

function saysItIsOurs({ config }: FetchedImage): boolean {
  const history = (config['history'] ?? []) as readonly Document[]
  return history.at(-1)?.['created_by'] === madeBy
}

function kindOf(layer: Descriptor, order: RebaseOrder): { format: Format; compression: Compression } {
  for (const format of ['oci', 'docker'] as const)
    for (const compression of ['gzip', 'none'] as const)
      if (formats[format].layers[compression] === layer.mediaType) return { format, compression }
  throw refused(order, `its top layer is of the type ${layer.mediaType}`)
}

function hasCache({ config }: FetchedImage): boolean {
  const { Cmd: command } = (config['config'] ?? {}) as { Cmd?: readonly string[] }
  return command?.includes('--cache-dir=/tmp/cache') ?? false
}

function ownAnnotations({ top }: FetchedTree): Readonly<Record<string, string>> {
  const {
    [baseNameAnnotation]: _,
    [baseDigestAnnotation]: __,
    ...own
  } = (top['annotations'] ?? {}) as Record<string, string>
  return own
}

/** Labels of the image that its old base does not have. */
function labelsOf(first: FetchedImage, old: FetchedImage | undefined): Readonly<Record<string, string>> {
  const own = Object.entries(first.labels).filter(
    ([label, value]) => label !== catalogLabel && old?.labels[label] !== value,
  )
  return Object.fromEntries(own)
}

/** The recorded base, verified to be everything below the top layer. */
async function oldBase(
  registry: RegistryClient,
  order: RebaseOrder,
  { top }: FetchedTree,
  first: FetchedImage,
  signal: AbortSignalLike | undefined,
): Promise<FetchedImage> {
  const annotations = (top['annotations'] ?? {}) as Readonly<Record<string, string>>
  const name = annotations[baseNameAnnotation]
  const digest = annotations[baseDigestAnnotation]
  if (name === undefined || digest === undefined)
    throw refused(order, 'it does not say what its base was: build it anew')
  let old: FetchedTree
  try {
    old = await fetchTree(registry, `${withoutTag(name)}@${digest}`, 'base', undefined, signal)
  } catch (cause) {
    if (cause instanceof RegistryError && cause.retryable) throw cause
    throw refused(order, `its old base ${name} is not there any more: build it anew`, cause)
  }
  const under = old.images.find(({ platform }) => platform === first.platform)
  const isPrefix = under?.diffIds.every((diffId, at) => first.diffIds[at] === diffId) ?? false
  if (!under || !isPrefix || under.diffIds.length + 1 !== first.diffIds.length)
    throw refused(order, `it does not lie on the base that it names, ${name}`)
  return under
}

function withoutTag(name: string): string {
  const slash = name.lastIndexOf('/')
  const colon = name.indexOf(':', slash)
  return colon < 0 ? name : name.slice(0, colon)
}

function refused({ image }: RebaseOrder, why: string, cause?: unknown): ImageError {
  return new ImageError('not-a-catalog', `${image} cannot be put on another base: ${why}`, cause)
}
