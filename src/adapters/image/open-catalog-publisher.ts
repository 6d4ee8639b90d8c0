// Builds and publishes images. Checks the target first, builds only unknown images, pushes only the differences, and
// sets a tag only if no other client changed it.
import { createHash } from 'node:crypto'
import { formatImageReference, parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { catchMissing, RegistryError } from '../registry/registry-error.ts'
import type { FetchedManifest } from '../registry/registry-client.ts'
import { attachManifest, listAttachedManifests } from './attach-manifest.ts'
import {
  olmImagePlatforms,
  assembleImageOnBaseImage,
  assembleImageFromScratch,
  toImageBuildSettings,
  type ImageBuildSettings,
  type CatalogLayer,
} from './assemble-image.ts'
import {
  fetchMultiPlatformImage,
  rejectBaseImageContainingCatalog,
  parseImageReferenceOrThrow,
  fetchPlatformImagesForManifest,
  type FetchedMultiPlatformImage,
} from './base-image.ts'
import {
  type BuiltCatalogImage,
  type CatalogImageSpec,
  type CatalogPublisher,
  type CatalogPublisherOptions,
  type ImagePublishResult,
  type ImagePublishTarget,
  type ImageTagUpdate,
  ImageError,
} from './catalog-publisher.ts'
import { computeImageContentDigest, mediaTypesByImageFormat } from './image-documents.ts'
import { packLayer, type PackedCatalogLayer, listBundlesInCatalogFiles } from './layer/pack-layer.ts'
import { listBundlesInWorkerProcess, packLayerInWorkerProcess } from './layer/layer-process-pool.ts'
import { readCatalogImage, verifyCatalogImage, rebaseCatalogImage } from './read-catalog-image.ts'

/** Part of every cached order. Increment it when builds change. */
const imageBuilderVersion = 'catalog image 1'

const zeroBlobPushCounts = { present: 0, mounted: 0, uploaded: 0 }

type FetchedBaseImage = FetchedMultiPlatformImage | undefined

interface FetchedImageTag {
  readonly tag: string
  readonly now: FetchedManifest | undefined
}

export class RegistryCatalogPublisher implements CatalogPublisher {
  readonly #registry
  readonly #reader
  readonly #pusher
  readonly #buildCache
  readonly #packsIn
  readonly #pack

  constructor(options: CatalogPublisherOptions) {
    const { registry, published: reader = registry, pusher, buildCache, packsIn = 'worker' } = options
    this.#registry = registry
    this.#reader = reader
    this.#pusher = pusher
    this.#buildCache = buildCache
    this.#packsIn = packsIn
    this.#pack = packsIn === 'here' ? packLayer : packLayerInWorkerProcess
  }

  readonly build: CatalogPublisher['build'] = async (order) => {
    const settings = toImageBuildSettings(order)
    const base = await this.#fetchBase(order)
    const packed = await this.#pack(toPackLayerRequest(order, settings, []))
    return this.#assembleImage(order, base, toCatalogLayer(packed, settings), settings)
  }

  readonly publish: CatalogPublisher['publish'] = async (order, target) => {
    const settings = toImageBuildSettings(order)
    const [base, before] = await Promise.all([this.#fetchBase(order), this.#fetchTargetTags(target)])
    const published = await this.#fetchCommonImage(target, before)
    const key = this.#buildCache && computeImageBuildCacheKey(order, settings, base)
    const isOpen = published !== undefined && target.evenIfUnchanged !== true
    if (
      isOpen &&
      key !== undefined &&
      (await this.#buildCache?.get(key)) === computeImageContentDigest(published)
    )
      return toUnchangedPublishResult(published, before)
    // Reuses the published compressed layer if it is the same.
    const known = published && findReusableLayer(published, settings)
    const packed = await this.#pack(toPackLayerRequest(order, settings, known ? [known.diffId] : []))
    const layer = packed.packed || !known ? toCatalogLayer(packed, settings) : toReusedLayer(packed, known)
    const image = this.#assembleImage(order, base, layer, settings)
    if (key !== undefined) await this.#buildCache?.set(key, image.contentDigest)
    if (isOpen && computeImageContentDigest(published) === image.contentDigest)
      return { ...toUnchangedPublishResult(published, before), image }
    return this.#pushChanged(image, target, before)
  }

  readonly push = async (
    image: BuiltCatalogImage,
    target: ImagePublishTarget,
  ): Promise<ImagePublishResult> => {
    const before = await this.#fetchTargetTags(target)
    const published = await this.#fetchCommonImage(target, before)
    if (
      published &&
      computeImageContentDigest(published) === image.contentDigest &&
      target.evenIfUnchanged !== true
    )
      return { ...toUnchangedPublishResult(published, before), image }
    return this.#pushChanged(image, target, before)
  }

  readonly rebase: CatalogPublisher['rebase'] = (order) =>
    rebaseCatalogImage(this.#reader, this.#registry, order)
  readonly read: CatalogPublisher['read'] = (reference) => readCatalogImage(this.#reader, reference)
  readonly verify: CatalogPublisher['verify'] = (reference, files) =>
    verifyCatalogImage(this.#reader, reference, files)
  readonly digestOf: CatalogPublisher['digestOf'] = async (reference) =>
    (await this.#findManifest(reference))?.digest

  readonly retag: CatalogPublisher['retag'] = async (text, target) => {
    const { host, repository } = parseImageReferenceOrThrow(target.repository)
    const reference = parseImageReferenceOrThrow(text)
    if (reference.host !== host || reference.repository !== repository)
      throw new ImageError(
        'order',
        `${text} is not in ${target.repository}; a tag can only point to an image in the same repository`,
      )
    const image = await this.#reader.fetchManifest(reference)
    const before = await this.#fetchTargetTags(target)
    checkExpectedTagDigests(target, before)
    const tree = await this.#fetchPublishedTree(target, image)
    const tags = before.map(({ tag, now }) => ({ tag, before: now?.digest, after: image.digest }))
    const isUnchanged = tags.every((tag) => tag.before === tag.after)
    if (!isUnchanged && target.dryRun !== true) await this.#setTags(image, image.digest, target, before)
    return {
      digest: image.digest,
      mediaType: image.mediaType,
      contentDigest: tree ? computeImageContentDigest(tree) : '',
      unchanged: isUnchanged,
      tags,
      blobs: zeroBlobPushCounts,
    }
  }

  readonly listTags: CatalogPublisher['listTags'] = (repository) =>
    this.#pusher.listTags(parseImageReferenceOrThrow(repository))
  readonly deleteManifest: CatalogPublisher['deleteManifest'] = (repository, digest) =>
    this.#pusher.deleteManifest(parseImageReferenceOrThrow(repository), digest)
  readonly attach: CatalogPublisher['attach'] = (attachment) =>
    attachManifest(this.#reader, this.#pusher, attachment)

  readonly attached: CatalogPublisher['attached'] = (repository, digest) =>
    listAttachedManifests(this.#reader, this.#pusher, { ...parseImageReferenceOrThrow(repository), digest })

  readonly listBundles: CatalogPublisher['listBundles'] = async (files) =>
    this.#packsIn === 'here' ? listBundlesInCatalogFiles(files) : listBundlesInWorkerProcess(files)
  readonly close: CatalogPublisher['close'] = () => this.#pusher.close()

  async #fetchBase(order: CatalogImageSpec): Promise<FetchedBaseImage> {
    if (order.base === 'scratch') return undefined
    const base = await fetchMultiPlatformImage(this.#registry, order.base, 'base', order.platforms)
    rejectBaseImageContainingCatalog(base)
    return base
  }

  #assembleImage(
    order: CatalogImageSpec,
    base: FetchedBaseImage,
    layer: CatalogLayer,
    settings: ImageBuildSettings,
  ) {
    return base
      ? assembleImageOnBaseImage(base, this.#registry, layer, settings)
      : assembleImageFromScratch(order.platforms ?? olmImagePlatforms, layer, settings)
  }

  /** The image for a tag or digest, if it exists. */
  async #findManifest(text: string): Promise<FetchedManifest | undefined> {
    return catchMissing(this.#reader.fetchManifest(parseImageReferenceOrThrow(text)))
  }

  async #fetchTargetTags(target: ImagePublishTarget): Promise<readonly FetchedImageTag[]> {
    validatePublishTarget(target)
    return Promise.all(
      target.tags.map(async (tag) => ({ tag, now: await this.#findManifest(`${target.repository}:${tag}`) })),
    )
  }

  /** The image behind all tags, if they share one. */
  async #fetchCommonImage(
    target: ImagePublishTarget,
    tags: readonly FetchedImageTag[],
  ): Promise<FetchedMultiPlatformImage | undefined> {
    const [first] = tags
    if (!first?.now || tags.some(({ now }) => now?.digest !== first.now?.digest)) return undefined
    return this.#fetchPublishedTree(target, first.now)
  }

  /** Undefined unless the image has the structure of catalog-bot's images. An undefined image is replaced. */
  async #fetchPublishedTree(target: ImagePublishTarget, top: FetchedManifest) {
    try {
      const reference = parseImageReferenceOrThrow(`${target.repository}@${top.digest}`)
      return await fetchPlatformImagesForManifest(this.#reader, reference, top, 'not-a-catalog', undefined)
    } catch (error) {
      if (error instanceof ImageError) return undefined
      // Replaces an unreadable or incomplete image. Retries if the registry could not respond.
      if (error instanceof RegistryError && !error.retryable && error.code !== 'aborted') return undefined
      throw error
    }
  }

  async #pushChanged(
    image: BuiltCatalogImage,
    target: ImagePublishTarget,
    before: readonly FetchedImageTag[],
  ): Promise<ImagePublishResult> {
    const { host, repository } = parseImageReferenceOrThrow(target.repository)
    const toPublishResult = (blobs: ImagePublishResult['blobs']): ImagePublishResult => ({
      digest: image.digest,
      mediaType: image.mediaType,
      contentDigest: image.contentDigest,
      unchanged: false,
      tags: before.map(({ tag, now }) => ({ tag, before: now?.digest, after: image.digest })),
      blobs,
      image,
    })
    checkExpectedTagDigests(target, before)
    if (target.dryRun === true) return toPublishResult(zeroBlobPushCounts)
    const isSameHost = image.base && parseImageReferenceOrThrow(image.base.name).host === host
    const blobs = image.blobs.map(({ mountFrom, ...blob }) =>
      isSameHost === true && mountFrom !== undefined && mountFrom !== repository
        ? { ...blob, mountFrom }
        : blob,
    )
    const pushed = await this.#pusher.push({ host, repository, blobs, manifests: image.manifests, tags: [] })
    await this.#setTags(
      image.manifests.at(-1) as BuiltCatalogImage['manifests'][0],
      image.digest,
      target,
      before,
    )
    return toPublishResult(pushed.blobs)
  }

  /** Registries have no conditional tag update, so this function checks immediately before. */
  async #setTags(
    top: BuiltCatalogImage['manifests'][0],
    digest: string,
    target: ImagePublishTarget,
    before: readonly FetchedImageTag[],
  ): Promise<void> {
    const { host, repository } = parseImageReferenceOrThrow(target.repository)
    for (const { tag, now } of before) {
      const current = (await this.#findManifest(`${target.repository}:${tag}`))?.digest
      if (current === digest) continue
      if (current !== now?.digest) throw createTagMovedError(target, tag, now?.digest, current)
      await this.#pusher.push({ host, repository, blobs: [], manifests: [top], tags: [tag] })
    }
  }
}

function toUnchangedPublishResult(
  published: FetchedMultiPlatformImage,
  before: readonly { readonly tag: string }[],
): Omit<ImagePublishResult, 'image'> {
  const { digest, mediaType } = published
  return {
    digest,
    mediaType,
    contentDigest: computeImageContentDigest(published),
    unchanged: true,
    tags: before.map(({ tag }): ImageTagUpdate => ({ tag, before: digest, after: digest })),
    blobs: zeroBlobPushCounts,
  }
}

function toPackLayerRequest(
  order: CatalogImageSpec,
  { hasCache, compression }: ImageBuildSettings,
  unlessDiffId: readonly string[],
) {
  return { files: order.files, cache: hasCache, compression, unlessDiffId }
}

function toCatalogLayer(
  { summary, packed }: PackedCatalogLayer,
  { format, compression }: ImageBuildSettings,
): CatalogLayer {
  if (!packed) throw new Error('a packed layer has no bytes')
  const { bytes, digest } = packed
  const size = bytes.length
  return {
    descriptor: { mediaType: mediaTypesByImageFormat[format].layers[compression], digest, size },
    summary: { ...summary, digest, size },
    read: async () => bytes,
  }
}

interface ReusableLayer {
  readonly diffId: string
  readonly descriptor: CatalogLayer['descriptor']
}

/** The published top layer, if every platform has it in the requested format. */
function findReusableLayer(
  { images }: FetchedMultiPlatformImage,
  { format, compression }: ImageBuildSettings,
): ReusableLayer | undefined {
  const [first] = images
  const diffId = first?.diffIds.at(-1)
  const descriptor = first?.manifest.layers.at(-1)
  const isCommon = images.every(({ diffIds, manifest }) => {
    const top = manifest.layers.at(-1)
    return diffIds.at(-1) === diffId && top?.digest === descriptor?.digest
  })
  if (diffId === undefined || !descriptor || !isCommon) return undefined
  return descriptor.mediaType === mediaTypesByImageFormat[format].layers[compression]
    ? { diffId, descriptor }
    : undefined
}

/** Fails if the registry lost the existing layer, so that the caller restarts. */
function toReusedLayer({ summary }: PackedCatalogLayer, { descriptor }: ReusableLayer): CatalogLayer {
  const { digest, size } = descriptor
  return {
    descriptor,
    summary: { ...summary, digest, size },
    read: () =>
      Promise.reject(
        new RegistryError('server', `the registry no longer has the layer ${digest} of the published image`),
      ),
  }
}

/** A digest of every input that affects the build. Annotations do not. */
function computeImageBuildCacheKey(
  order: CatalogImageSpec,
  settings: ImageBuildSettings,
  base: FetchedMultiPlatformImage | undefined,
): string {
  const { annotations: _, ...decisive } = settings
  const hash = createHash('sha256')
  const labels = Object.entries(settings.labels).sort(([a], [b]) => (a < b ? -1 : 1))
  const platforms = base
    ? base.images.map(({ platform }) => platform)
    : (order.platforms ?? olmImagePlatforms)
  hash.update(
    JSON.stringify([imageBuilderVersion, { ...decisive, labels }, base?.digest ?? 'scratch', platforms]),
  )
  for (const { path, bytes } of [...order.files].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    hash.update(JSON.stringify([path, bytes.length]))
    hash.update(bytes)
  }
  return hash.digest('hex')
}

function validatePublishTarget({ repository, tags }: ImagePublishTarget): void {
  const { reference, reason } = parseImageReference(repository)
  if (!reference) throw new ImageError('order', `${repository} is not a valid repository: ${reason}`)
  if (reference.tag !== undefined || reference.digest !== undefined)
    throw new ImageError('order', `${repository} contains a tag or a digest; specify only the repository`)
  if (tags.length === 0) throw new ImageError('order', 'specify at least one tag to publish')
  for (const tag of tags)
    if (parseImageReference(`${formatImageReference(reference)}:${tag}`).reference?.tag !== tag)
      throw new ImageError('order', `"${tag}" is not a valid tag`)
}

function checkExpectedTagDigests(
  target: ImagePublishTarget,
  before: readonly { readonly tag: string; readonly now: FetchedManifest | undefined }[],
): void {
  const { expected = {} } = target
  for (const { tag, now } of before)
    if (Object.hasOwn(expected, tag) && expected[tag] !== now?.digest)
      throw createTagMovedError(target, tag, expected[tag], now?.digest)
}

function createTagMovedError(
  target: ImagePublishTarget,
  tag: string,
  expected: string | undefined,
  actual: string | undefined,
): ImageError {
  return new ImageError(
    'tag-moved',
    `another client changed the tag ${target.repository}:${tag} from ${expected ?? 'nothing'} to ${actual ?? 'nothing'}; catalog-bot did not overwrite it`,
  )
}
