// Builds and publishes: checks the target first, builds only what is unknown, pushes what differs, and sets a tag only
// if it has not changed.
import { createHash } from 'node:crypto'
import type { AbortSignalLike } from '../ports/registry.ts'
import { formatImageReference, parseImageReference } from '../go/reference/image-reference.ts'
import { RegistryError } from '../registry/registry-error.ts'
import type { FetchedManifest } from '../registry/registry-client.ts'
import { attach, attached } from './attach.ts'
import {
  olmPlatforms,
  onBase,
  onScratch,
  settingsOf,
  type ImageSettings,
  type LayerToPlace,
} from './assemble-image.ts'
import { fetchTree, refuseCatalogs, referenceOf, treeOf, type FetchedTree } from './base-image.ts'
import type {
  CatalogImage,
  CatalogImageOrder,
  CatalogPublisher,
  CatalogPublisherOptions,
  Published,
  Target,
  TagOutcome,
} from './catalog-publisher.ts'
import { formats } from './image-documents.ts'
import { ImageError } from './image-error.ts'
import { bundlesIn } from './layer/catalog-content.ts'
import { listInProcess, packInProcess } from './layer/layer-processes.ts'
import { packLayer, type PackedLayer } from './layer/pack-layer.ts'
import { contentOf, readCatalogImage, verifyCatalogImage } from './read-catalog-image.ts'
import { rebase } from './rebase.ts'

/** Part of every cached order. Raise it when builds change. */
const builderVersion = 'catalog image 1'

const noBlobs = { present: 0, mounted: 0, uploaded: 0 }

export function openCatalogPublisher(options: CatalogPublisherOptions): CatalogPublisher {
  const { registry, published: reader = registry, pusher, memory, packsIn = 'worker' } = options
  const pack = packsIn === 'here' ? packLayer : packInProcess

  type Base = FetchedTree | undefined

  async function fetchBase(order: CatalogImageOrder, signal?: AbortSignalLike): Promise<Base> {
    if (order.base === 'scratch') return undefined
    const base = await fetchTree(registry, order.base, 'base', order.platforms, signal)
    refuseCatalogs(base)
    return base
  }

  function placed(order: CatalogImageOrder, base: Base, layer: LayerToPlace, settings: ImageSettings) {
    return base
      ? onBase(base, registry, layer, settings)
      : onScratch(order.platforms ?? olmPlatforms, layer, settings)
  }

  /** The image of a tag or digest, if it exists. */
  async function there(text: string, signal?: AbortSignalLike): Promise<FetchedManifest | undefined> {
    try {
      return await reader.fetchManifest(referenceOf(text), signal)
    } catch (error) {
      if (error instanceof RegistryError && error.code === 'missing') return undefined
      throw error
    }
  }

  async function nowBehind(target: Target, signal?: AbortSignalLike): Promise<readonly FetchedTag[]> {
    checkTarget(target)
    return Promise.all(
      target.tags.map(async (tag) => ({ tag, now: await there(`${target.repository}:${tag}`, signal) })),
    )
  }

  interface FetchedTag {
    readonly tag: string
    readonly now: FetchedManifest | undefined
  }

  /** The image behind all tags, if they share one. */
  async function commonImage(
    target: Target,
    tags: readonly FetchedTag[],
    signal?: AbortSignalLike,
  ): Promise<FetchedTree | undefined> {
    const [first] = tags
    if (!first?.now || tags.some(({ now }) => now?.digest !== first.now?.digest)) return undefined
    return publishedTree(target, first.now, signal)
  }

  /** Undefined unless it has the form of our images; it is then replaced. */
  async function publishedTree(target: Target, top: FetchedManifest, signal?: AbortSignalLike) {
    try {
      const reference = referenceOf(`${target.repository}@${top.digest}`)
      return await treeOf(reader, reference, top, 'not-a-catalog', undefined, signal)
    } catch (error) {
      if (error instanceof ImageError) return undefined
      // Replaces an unreadable or incomplete image; retries if the registry could not answer.
      if (error instanceof RegistryError && !error.retryable && error.code !== 'aborted') return undefined
      throw error
    }
  }

  async function push(
    image: CatalogImage,
    target: Target,
    before: readonly FetchedTag[],
    signal?: AbortSignalLike,
  ): Promise<Published> {
    const { host, repository } = referenceOf(target.repository)
    const outcome = (blobs: Published['blobs']): Published => ({
      digest: image.digest,
      mediaType: image.mediaType,
      contentDigest: image.contentDigest,
      unchanged: false,
      tags: before.map(({ tag, now }) => ({ tag, before: now?.digest, after: image.digest })),
      blobs,
      image,
    })
    checkExpected(target, before)
    if (target.dryRun === true) return outcome(noBlobs)
    const isSameHost = image.base && referenceOf(image.base.name).host === host
    const blobs = image.blobs.map(({ mountFrom, ...blob }) =>
      isSameHost === true && mountFrom !== undefined && mountFrom !== repository
        ? { ...blob, mountFrom }
        : blob,
    )
    const pushed = await pusher.push(
      { host, repository, blobs, manifests: image.manifests, tags: [] },
      signal,
    )
    await setTags(
      image.manifests.at(-1) as CatalogImage['manifests'][0],
      image.digest,
      target,
      before,
      signal,
    )
    return outcome(pushed.blobs)
  }

  /** Registries have no conditional tag update, so this checks right before. */
  async function setTags(
    top: CatalogImage['manifests'][0],
    digest: string,
    target: Target,
    before: readonly FetchedTag[],
    signal?: AbortSignalLike,
  ): Promise<void> {
    const { host, repository } = referenceOf(target.repository)
    for (const { tag, now } of before) {
      const found = (await there(`${target.repository}:${tag}`, signal))?.digest
      if (found === digest) continue
      if (found !== now?.digest) throw movedTag(target, tag, now?.digest, found)
      await pusher.push({ host, repository, blobs: [], manifests: [top], tags: [tag] }, signal)
    }
  }

  async function pushOrLeave(
    image: CatalogImage,
    target: Target,
    signal?: AbortSignalLike,
  ): Promise<Published> {
    const before = await nowBehind(target, signal)
    const published = await commonImage(target, before, signal)
    if (published && contentOf(published) === image.contentDigest && target.evenIfUnchanged !== true)
      return { ...unchanged(published, before), image }
    return push(image, target, before, signal)
  }

  async function build(order: CatalogImageOrder, signal?: AbortSignalLike): Promise<CatalogImage> {
    const settings = settingsOf(order)
    const base = await fetchBase(order, signal)
    const packed = await pack(layerOrder(order, settings, []))
    return placed(order, base, placeOf(packed, settings), settings)
  }

  async function publish(
    order: CatalogImageOrder,
    target: Target,
    signal?: AbortSignalLike,
  ): Promise<Published> {
    const settings = settingsOf(order)
    const [base, before] = await Promise.all([fetchBase(order, signal), nowBehind(target, signal)])
    const published = await commonImage(target, before, signal)
    const key = memory && orderKey(order, settings, base)
    const isOpen = published !== undefined && target.evenIfUnchanged !== true
    if (isOpen && key !== undefined && (await memory?.get(key)) === contentOf(published))
      return unchanged(published, before)
    // Reuses the published compressed layer if it is the same.
    const known = published && layerThere(published, settings)
    const packed = await pack(layerOrder(order, settings, known ? [known.diffId] : []))
    const layer = packed.packed || !known ? placeOf(packed, settings) : placeThere(packed, known)
    const image = placed(order, base, layer, settings)
    if (key !== undefined) await memory?.set(key, image.contentDigest)
    if (isOpen && contentOf(published) === image.contentDigest)
      return { ...unchanged(published, before), image }
    return push(image, target, before, signal)
  }

  return {
    build,
    publish,
    push: pushOrLeave,
    rebase: (order, signal) => rebase(reader, registry, order, signal),
    read: (reference, signal) => readCatalogImage(reader, reference, signal),
    verify: (reference, files, signal) => verifyCatalogImage(reader, reference, files, signal),
    digestOf: async (reference, signal) => (await there(reference, signal))?.digest,
    async retag(text, target, signal) {
      const { host, repository } = referenceOf(target.repository)
      const reference = referenceOf(text)
      if (reference.host !== host || reference.repository !== repository)
        throw new ImageError('order', `${text} is not in ${target.repository}: tags stay in a repository`)
      const image = await reader.fetchManifest(reference, signal)
      const before = await nowBehind(target, signal)
      checkExpected(target, before)
      const tree = await publishedTree(target, image, signal)
      const tags = before.map(({ tag, now }) => ({ tag, before: now?.digest, after: image.digest }))
      const isUnchanged = tags.every((tag) => tag.before === tag.after)
      if (!isUnchanged && target.dryRun !== true) await setTags(image, image.digest, target, before, signal)
      return {
        digest: image.digest,
        mediaType: image.mediaType,
        contentDigest: tree ? contentOf(tree) : '',
        unchanged: isUnchanged,
        tags,
        blobs: noBlobs,
      }
    },
    listTags: (repository, signal) => pusher.listTags(referenceOf(repository), signal),
    deleteManifest: (repository, digest, signal) =>
      pusher.deleteManifest(referenceOf(repository), digest, signal),
    attach: (attachment, signal) => attach(reader, pusher, attachment, signal),
    attached: (repository, digest, signal) =>
      attached(reader, pusher, { ...referenceOf(repository), digest }, signal),
    listBundles: async (files) => (packsIn === 'here' ? bundlesIn(files) : listInProcess(files)),
    close: () => pusher.close(),
  }
}

function unchanged(
  published: FetchedTree,
  before: readonly { readonly tag: string }[],
): Omit<Published, 'image'> {
  const { digest, mediaType } = published
  return {
    digest,
    mediaType,
    contentDigest: contentOf(published),
    unchanged: true,
    tags: before.map(({ tag }): TagOutcome => ({ tag, before: digest, after: digest })),
    blobs: noBlobs,
  }
}

function layerOrder(
  order: CatalogImageOrder,
  { hasCache, compression }: ImageSettings,
  unlessDiffId: readonly string[],
) {
  return { files: order.files, cache: hasCache, compression, unlessDiffId }
}

function placeOf({ summary, packed }: PackedLayer, { format, compression }: ImageSettings): LayerToPlace {
  if (!packed) throw new Error('a layer was packed without its bytes')
  const { bytes, digest } = packed
  const size = bytes.length
  return {
    descriptor: { mediaType: formats[format].layers[compression], digest, size },
    summary: { ...summary, digest, size },
    read: async () => bytes,
  }
}

interface LayerThere {
  readonly diffId: string
  readonly descriptor: LayerToPlace['descriptor']
}

/** The published top layer, if every platform has it in the wanted format. */
function layerThere({ images }: FetchedTree, { format, compression }: ImageSettings): LayerThere | undefined {
  const [first] = images
  const diffId = first?.diffIds.at(-1)
  const descriptor = first?.manifest.layers.at(-1)
  const isCommon = images.every(({ diffIds, manifest }) => {
    const top = manifest.layers.at(-1)
    return diffIds.at(-1) === diffId && top?.digest === descriptor?.digest
  })
  if (diffId === undefined || !descriptor || !isCommon) return undefined
  return descriptor.mediaType === formats[format].layers[compression] ? { diffId, descriptor } : undefined
}

/** Fails if the registry lost the existing layer, so that the caller restarts. */
function placeThere({ summary }: PackedLayer, { descriptor }: LayerThere): LayerToPlace {
  const { digest, size } = descriptor
  return {
    descriptor,
    summary: { ...summary, digest, size },
    read: () =>
      Promise.reject(
        new RegistryError('server', `the registry lost the layer ${digest} of the published image`),
      ),
  }
}

/** A digest of every input that affects the build. Annotations do not. */
function orderKey(order: CatalogImageOrder, settings: ImageSettings, base: FetchedTree | undefined): string {
  const { annotations: _, ...decisive } = settings
  const hash = createHash('sha256')
  const labels = Object.entries(settings.labels).sort(([a], [b]) => (a < b ? -1 : 1))
  const platforms = base ? base.images.map(({ platform }) => platform) : (order.platforms ?? olmPlatforms)
  hash.update(JSON.stringify([builderVersion, { ...decisive, labels }, base?.digest ?? 'scratch', platforms]))
  for (const { path, bytes } of [...order.files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    hash.update(JSON.stringify([path, bytes.length]))
    hash.update(bytes)
  }
  return hash.digest('hex')
}

function checkTarget({ repository, tags }: Target): void {
  const { reference, reason } = parseImageReference(repository)
  if (!reference) throw new ImageError('order', `${repository} is no repository: ${reason}`)
  if (reference.tag !== undefined || reference.digest !== undefined)
    throw new ImageError('order', `${repository} names a tag or a digest, where a repository is wanted`)
  if (tags.length === 0) throw new ImageError('order', 'there is no tag to publish under')
  for (const tag of tags)
    if (parseImageReference(`${formatImageReference(reference)}:${tag}`).reference?.tag !== tag)
      throw new ImageError('order', `"${tag}" is no tag`)
}

function checkExpected(
  target: Target,
  before: readonly { readonly tag: string; readonly now: FetchedManifest | undefined }[],
): void {
  const { expected = {} } = target
  for (const { tag, now } of before)
    if (Object.hasOwn(expected, tag) && expected[tag] !== now?.digest)
      throw movedTag(target, tag, expected[tag], now?.digest)
}

function movedTag(
  target: Target,
  tag: string,
  wanted: string | undefined,
  found: string | undefined,
): ImageError {
  return new ImageError(
    'tag-moved',
    `somebody else moved the tag ${target.repository}:${tag}: it held ${wanted ?? 'nothing'}, and now ${found ?? 'nothing'}. It was left as it is`,
  )
}
