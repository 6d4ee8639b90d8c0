// Fetches the base image's manifests and configs for the requested platforms, but not its layers.
import {
  formatImageReference,
  parseImageReference,
  type ImageReference,
} from '@catalog-bot/fbc/go/reference/image-reference'
import { parseImageConfig, formatPlatform, type Descriptor, type Platform } from '../registry/manifest.ts'
import { getCatalogDirectoryFromLabels } from '../registry/pull-bundle.ts'
import type { FetchedManifest, RegistryClient } from '../registry/registry-client.ts'
import { ImageError } from './catalog-publisher.ts'

/** A document with its unknown fields preserved. */
export type OciJsonDocument = Readonly<Record<string, unknown>>

/** An image for one platform. */
export interface PlatformImage {
  readonly platform: string
  readonly manifest: OciJsonDocument
  /** The platform object from the index, with its unknown fields. Absent without an index. */
  readonly indexPlatform?: OciJsonDocument | undefined
}

export interface FetchedPlatformImage extends PlatformImage {
  readonly digest: string
  readonly manifest: OciJsonDocument & { readonly layers: readonly (OciJsonDocument & Descriptor)[] }
  readonly config: OciJsonDocument
  readonly diffIds: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

export interface FetchedMultiPlatformImage {
  readonly reference: ImageReference
  /** Includes the tag, but no digest. */
  readonly name: string
  readonly digest: string
  readonly mediaType: string
  readonly top: OciJsonDocument
  readonly isIndex: boolean
  readonly images: readonly FetchedPlatformImage[]
}

const maxImageConfigBytes = 4 * 1024 * 1024

/** Rejects with an ImageError of the given code if the reference is not such an image. */
export async function fetchMultiPlatformImage(
  registry: RegistryClient,
  text: string,
  code: 'base' | 'not-a-catalog',
  platforms?: readonly string[],
): Promise<FetchedMultiPlatformImage> {
  const reference = parseImageReferenceOrThrow(text)
  const top = await registry.fetchManifest(reference)
  return fetchPlatformImagesForManifest(registry, reference, top, code, platforms)
}

export async function fetchPlatformImagesForManifest(
  registry: RegistryClient,
  reference: ImageReference,
  top: FetchedManifest,
  code: 'base' | 'not-a-catalog',
  platforms?: readonly string[],
): Promise<FetchedMultiPlatformImage> {
  const document = parseOciJsonDocument(top.bytes)
  const isIndex = top.manifest.kind === 'index'
  const { digest: _, ...named } = reference
  const common = {
    reference,
    name: formatImageReference(reference.tag === undefined ? reference : named),
    digest: top.digest,
    mediaType: top.mediaType,
    top: document,
    isIndex,
  }
  if (!isIndex) {
    const image = await fetchPlatformImage(registry, reference, top, undefined, code)
    return {
      ...common,
      images: selectImagesByPlatform([image], platforms, formatImageReference(reference), code),
    }
  }
  const entries = (document['manifests'] as readonly OciJsonDocument[]).filter(isLinuxImage)
  const chosen = selectImagesByPlatform(
    entries.map((entry) => ({ entry, platform: formatPlatform(entry['platform'] as Platform) })),
    platforms,
    formatImageReference(reference),
    code,
  )
  const images = await Promise.all(
    chosen.map(async ({ entry }) => {
      const digest = entry['digest'] as string
      const fetched = await registry.fetchManifest({ ...named, digest })
      return fetchPlatformImage(registry, reference, fetched, entry['platform'] as OciJsonDocument, code)
    }),
  )
  return { ...common, images }
}

/** Throws an ImageError. */
export function parseImageReferenceOrThrow(text: string): ImageReference {
  const { reference, reason } = parseImageReference(text)
  if (!reference) throw new ImageError('order', `"${text}" is not a valid image reference: ${reason}`)
  return reference
}

/** Rejects a base with a catalog, because its files would be visible in the new image. */
export function rejectBaseImageContainingCatalog({ images, name }: FetchedMultiPlatformImage): void {
  if (images.some(({ labels }) => getCatalogDirectoryFromLabels(labels) !== undefined))
    throw new ImageError(
      'base',
      `the base image ${name} already contains a catalog; specify the image that it was built on, or use catalog-bot rebase`,
    )
}

/** Excludes attestations, artifacts, and other operating systems. */
function isLinuxImage(entry: OciJsonDocument): boolean {
  const { os, architecture } = (entry['platform'] ?? {}) as { os?: unknown; architecture?: unknown }
  const { 'vnd.docker.reference.type': beside } = (entry['annotations'] ?? {}) as Record<string, unknown>
  const isImage = beside === undefined && entry['artifactType'] === undefined
  return isImage && os === 'linux' && typeof architecture === 'string' && architecture !== 'unknown'
}

function selectImagesByPlatform<Item extends { readonly platform: string }>(
  items: readonly Item[],
  platforms: readonly string[] | undefined,
  name: string,
  code: 'base' | 'not-a-catalog',
): readonly Item[] {
  if (items.length === 0) throw new ImageError(code, `${name} has no Linux image`)
  const there = items.map(({ platform }) => platform)
  const twice = there.find((platform, index) => there.indexOf(platform) !== index)
  if (twice !== undefined) throw new ImageError(code, `${name} has two images for ${twice}`)
  if (!platforms) return items
  const missing = platforms.find((platform) => !there.includes(normalizePlatform(platform)))
  if (missing !== undefined)
    throw new ImageError(
      'order',
      `${name} has no image for ${missing}; available platforms: ${there.join(', ')}`,
    )
  return items.filter(({ platform }) => platforms.map(normalizePlatform).includes(platform))
}

function normalizePlatform(platform: string): string {
  const [os = '', architecture = '', variant] = platform.split('/')
  return formatPlatform({ os, architecture, ...(variant !== undefined && { variant }) })
}

async function fetchPlatformImage(
  registry: RegistryClient,
  reference: ImageReference,
  { manifest, bytes, digest }: FetchedManifest,
  indexPlatform: OciJsonDocument | undefined,
  code: 'base' | 'not-a-catalog',
): Promise<FetchedPlatformImage> {
  const rejection = (why: string) =>
    new ImageError(code, `${formatImageReference(reference)} cannot be used: ${why}`)
  if (manifest.kind !== 'image') throw rejection('the index contains another index')
  if (manifest.config.size > maxImageConfigBytes) throw rejection('the config is too large')
  if (manifest.layers.some(({ mediaType }) => /nondistributable|\.foreign\./.test(mediaType)))
    throw rejection('some layers are stored outside the registry')
  const config = await registry.fetchBlob(reference, manifest.config)
  const { diffIds, labels, platform } = parseImageConfig(config)
  if (diffIds.length !== manifest.layers.length)
    throw rejection('the config and the manifest list different layers')
  const own = (indexPlatform as unknown as Platform | undefined) ?? platform
  if (!own) throw rejection('the image does not declare its platform')
  return {
    platform: formatPlatform(own),
    digest,
    manifest: parseOciJsonDocument(bytes) as FetchedPlatformImage['manifest'],
    config: parseOciJsonDocument(config),
    diffIds,
    labels,
    ...(indexPlatform && { indexPlatform }),
  }
}

/** For bytes that already passed the strict parser. */
function parseOciJsonDocument(bytes: Uint8Array): OciJsonDocument {
  return JSON.parse(new TextDecoder().decode(bytes)) as OciJsonDocument
}
