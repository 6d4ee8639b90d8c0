// Fetches the base image's manifests and configs for the wanted platforms, never its layers.
import {
  formatImageReference,
  parseImageReference,
  type ImageReference,
} from '../go/reference/image-reference.ts'
import type { AbortSignalLike } from '../ports/registry.ts'
import { parseConfig, platformText, type Descriptor, type Platform } from '../registry/manifest.ts'
import { catalogDirectory } from '../registry/pull-bundle.ts'
import type { FetchedManifest, RegistryClient } from '../registry/registry-client.ts'
import { ImageError } from './image-error.ts'

/** A document with its unknown fields preserved. */
export type Document = Readonly<Record<string, unknown>>

export interface FetchedImage {
  readonly platform: string
  readonly digest: string
  readonly manifest: Document & { readonly layers: readonly (Document & Descriptor)[] }
  readonly config: Document
  readonly diffIds: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  /** The index's platform object, unmodified; absent without an index. */
  readonly indexPlatform?: Document
}

export interface FetchedTree {
  readonly reference: ImageReference
  /** With its tag, without a digest. */
  readonly name: string
  readonly digest: string
  readonly mediaType: string
  readonly top: Document
  readonly isIndex: boolean
  readonly images: readonly FetchedImage[]
}

const largestConfig = 4 * 1024 * 1024

/** Rejects with an ImageError of the given code if the reference is not such an image. */
export async function fetchTree(
  registry: RegistryClient,
  text: string,
  code: 'base' | 'not-a-catalog',
  platforms?: readonly string[],
  signal?: AbortSignalLike,
): Promise<FetchedTree> {
  const reference = referenceOf(text)
  const top = await registry.fetchManifest(reference, signal)
  return treeOf(registry, reference, top, code, platforms, signal)
}

export async function treeOf(
  registry: RegistryClient,
  reference: ImageReference,
  top: FetchedManifest,
  code: 'base' | 'not-a-catalog',
  platforms?: readonly string[],
  signal?: AbortSignalLike,
): Promise<FetchedTree> {
  const document = documentOf(top.bytes)
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
    const image = await imageOf(registry, reference, top, undefined, code, signal)
    return { ...common, images: wanted([image], platforms, text(reference), code) }
  }
  const entries = (document['manifests'] as readonly Document[]).filter(isLinuxImage)
  const chosen = wanted(
    entries.map((entry) => ({ entry, platform: platformText(entry['platform'] as Platform) })),
    platforms,
    text(reference),
    code,
  )
  const images = await Promise.all(
    chosen.map(async ({ entry }) => {
      const digest = entry['digest'] as string
      const fetched = await registry.fetchManifest({ ...named, digest }, signal)
      return imageOf(registry, reference, fetched, entry['platform'] as Document, code, signal)
    }),
  )
  return { ...common, images }
}

/** Throws an ImageError. */
export function referenceOf(text: string): ImageReference {
  const { reference, reason } = parseImageReference(text)
  if (!reference) throw new ImageError('order', `${text} is no image reference: ${reason}`)
  return reference
}

/** Rejects a base with a catalog, which would show through ours. */
export function refuseCatalogs({ images, name }: FetchedTree): void {
  if (images.some(({ labels }) => catalogDirectory(labels) !== undefined))
    throw new ImageError(
      'base',
      `the base ${name} holds a catalog already: name the image that it was built on, or rebase it`,
    )
}

function text(reference: ImageReference): string {
  return formatImageReference(reference)
}

/** Excludes attestations, artifacts and other systems. */
function isLinuxImage(entry: Document): boolean {
  const { os, architecture } = (entry['platform'] ?? {}) as { os?: unknown; architecture?: unknown }
  const { 'vnd.docker.reference.type': beside } = (entry['annotations'] ?? {}) as Record<string, unknown>
  const isImage = beside === undefined && entry['artifactType'] === undefined
  return isImage && os === 'linux' && typeof architecture === 'string' && architecture !== 'unknown'
}

function wanted<Item extends { readonly platform: string }>(
  items: readonly Item[],
  platforms: readonly string[] | undefined,
  name: string,
  code: 'base' | 'not-a-catalog',
): readonly Item[] {
  if (items.length === 0) throw new ImageError(code, `${name} has no image for Linux`)
  const there = items.map(({ platform }) => platform)
  const twice = there.find((platform, index) => there.indexOf(platform) !== index)
  if (twice !== undefined) throw new ImageError(code, `${name} has two images for ${twice}`)
  if (!platforms) return items
  const missing = platforms.find((platform) => !there.includes(normalized(platform)))
  if (missing !== undefined)
    throw new ImageError('order', `${name} has no image for ${missing}, only for ${there.join(', ')}`)
  return items.filter(({ platform }) => platforms.map(normalized).includes(platform))
}

function normalized(platform: string): string {
  const [os = '', architecture = '', variant] = platform.split('/')
  return platformText({ os, architecture, ...(variant !== undefined && { variant }) })
}

async function imageOf(
  registry: RegistryClient,
  reference: ImageReference,
  { manifest, bytes, digest }: FetchedManifest,
  indexPlatform: Document | undefined,
  code: 'base' | 'not-a-catalog',
  signal: AbortSignalLike | undefined,
): Promise<FetchedImage> {
  const refuse = (why: string) => new ImageError(code, `${text(reference)} cannot be used: ${why}`)
  if (manifest.kind !== 'image') throw refuse('it is an index within an index')
  if (manifest.config.size > largestConfig) throw refuse('its config is too large')
  if (manifest.layers.some(({ mediaType }) => /nondistributable|\.foreign\./.test(mediaType)))
    throw refuse('it has layers that are kept elsewhere')
  const config = await registry.fetchBlob(reference, manifest.config, signal)
  const { diffIds, labels, platform } = parseConfig(config)
  if (diffIds.length !== manifest.layers.length)
    throw refuse('its config speaks of other layers than its manifest')
  const own = (indexPlatform as unknown as Platform | undefined) ?? platform
  if (!own) throw refuse('it does not say for which platform it is')
  return {
    platform: platformText(own),
    digest,
    manifest: documentOf(bytes) as FetchedImage['manifest'],
    config: documentOf(config),
    diffIds,
    labels,
    ...(indexPlatform && { indexPlatform }),
  }
}

/** For bytes that already passed the strict parser. */
function documentOf(bytes: Uint8Array): Document {
  return JSON.parse(new TextDecoder().decode(bytes)) as Document
}
