// Removes images from a registry. Registries delete by digest, which also deletes all its tags, so an image that
// another tag references, directly or through an index, remains. Attachments (signatures and provenance) are removed
// after their image, or remain with it.
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { CatalogPublisher } from '../../adapters/image/catalog-publisher.ts'
import { forEachConcurrently } from '../../adapters/image/open-pusher.ts'
import type { RegistryClient } from '../../adapters/registry/registry-client.ts'
import { catchMissing, RegistryError } from '../../adapters/registry/registry-error.ts'
import type { PublishResponse, ImageToRemove } from './publish-protocol.ts'

/** Each tag costs a request; larger repositories are skipped. */
const maxTagsPerRepository = 5000
const maxConcurrentRegistryRequests = 4
/** Nested indexes are rare. */
const maxImageIndexDepth = 3

export async function removeImages(
  image: string,
  unwanted: readonly ImageToRemove[],
  publisher: CatalogPublisher,
  registry: Pick<RegistryClient, 'fetchManifest'>,
): Promise<PublishResponse> {
  const tags = await publisher.listTags(image)
  if (tags.length > maxTagsPerRepository)
    return {
      kind: 'removed',
      gone: [],
      left: unwanted.map(({ digest }) => ({
        digest,
        why: `the repository has more than ${maxTagsPerRepository} tags`,
      })),
    }
  const going = new Map(unwanted.map(({ digest, tags: own }) => [digest, new Set(own)]))
  const needed = new Map<string, string>()
  const platforms = new Map<string, readonly string[]>()
  for (const { digest } of unwanted) {
    const found = await fetchManifestIfPresent(image, { digest }, registry)
    platforms.set(digest, found ? await fetchChildManifestDigests(image, found, registry) : [])
  }
  const beside = new Map<string, TaggedImageAttachment[]>(
    [...platforms].flat(2).map((digest) => [digest, []]),
  )
  await forEachConcurrently(tags, maxConcurrentRegistryRequests, async (tag) => {
    const found = await fetchManifestIfPresent(image, { tag }, registry)
    // Deleted since the list was read.
    if (found === undefined) return
    if (going.get(found.digest)?.has(tag) === true) return
    const children = await fetchChildManifestDigests(image, found, registry)
    const ofSubject = beside.get(parseSubjectDigestFromTag(tag) ?? '')
    if (ofSubject) return void ofSubject.push({ tag, digest: found.digest, children })
    for (const digest of [found.digest, ...children]) needed.set(digest, tag)
  })
  retainImageAttachments(beside, needed)
  const removed: string[] = []
  const retained: { digest: string; why: string }[] = []
  for (const { digest } of unwanted) {
    const tag = needed.get(digest)
    if (tag !== undefined) {
      retained.push({ digest, why: `the tag ${tag} still refers to this image` })
      continue
    }
    const own = [digest, ...(platforms.get(digest) ?? [])].filter((one) => !needed.has(one))
    const attachments = await fetchImageAttachments(own, { image, beside, publisher, registry })
    try {
      await publisher.deleteManifest(image, digest)
    } catch (error) {
      if (!(error instanceof RegistryError) || error.code !== 'unsupported') throw error
      retained.push({ digest, why: 'the registry does not support deleting images' })
      continue
    }
    // Attachments are removed last, so that after an interruption, the repeated order finds the rest by tags.
    for (const attachment of attachments)
      if (!needed.has(attachment)) await publisher.deleteManifest(image, attachment)
    removed.push(digest)
  }
  return { kind: 'removed', gone: removed, left: retained }
}

interface ImageAttachmentContext {
  readonly image: string
  readonly beside: ReadonlyMap<string, readonly TaggedImageAttachment[]>
  readonly publisher: CatalogPublisher
  readonly registry: Pick<RegistryClient, 'fetchManifest'>
}

async function fetchImageAttachments(
  digests: readonly string[],
  { image, beside, publisher, registry }: ImageAttachmentContext,
): Promise<ReadonlySet<string>> {
  const attachments = new Set<string>()
  for (const one of digests)
    for (const found of await fetchImageAttachmentDigests(
      image,
      one,
      beside.get(one) ?? [],
      publisher,
      registry,
    ))
      attachments.add(found)
  return attachments
}

/** An attachment whose tag names its image. */
interface TaggedImageAttachment {
  readonly tag: string
  readonly digest: string
  readonly children: readonly string[]
}

/** Parses OCI referrers tags and cosign tags. */
function parseSubjectDigestFromTag(tag: string): string | undefined {
  const hex = /^sha256-(?<hex>[0-9a-f]{64})(?:\.(?:sig|att|sbom))?$/.exec(tag)?.groups?.['hex']
  return hex === undefined ? undefined : `sha256:${hex}`
}

/** Keeps the attachments of images that stay, which may in turn keep other images. */
function retainImageAttachments(
  beside: ReadonlyMap<string, readonly TaggedImageAttachment[]>,
  needed: Map<string, string>,
): void {
  const waiting = new Map(beside)
  for (let size = -1; size !== waiting.size;) {
    size = waiting.size
    for (const [subject, parts] of waiting) {
      if (!needed.has(subject)) continue
      waiting.delete(subject)
      for (const { tag, digest, children } of parts)
        for (const one of [digest, ...children]) needed.set(one, tag)
    }
  }
}

/**
 * Finds attachments by tag. Listed referrers count only if they name the image themselves, because anyone with push
 * access can list any digest.
 */
async function fetchImageAttachmentDigests(
  image: string,
  subject: string,
  parts: readonly TaggedImageAttachment[],
  publisher: CatalogPublisher,
  registry: Pick<RegistryClient, 'fetchManifest'>,
): Promise<ReadonlySet<string>> {
  const listed = await publisher.attached(image, subject)
  const found = new Set(parts.map(({ digest }) => digest))
  for (const { digest } of listed) {
    const manifest = await fetchManifestIfPresent(image, { digest }, registry)
    if (manifest && parseManifestSubjectDigest(manifest.bytes) === subject) found.add(digest)
  }
  return found
}

function parseManifestSubjectDigest(manifest: Uint8Array): unknown {
  const { subject } = JSON.parse(new TextDecoder().decode(manifest)) as {
    subject?: { readonly digest?: unknown } | null
  }
  return subject?.digest
}

type ManifestResponse = Awaited<ReturnType<RegistryClient['fetchManifest']>>

async function fetchManifestIfPresent(
  image: string,
  which: { readonly tag: string } | { readonly digest: string },
  registry: Pick<RegistryClient, 'fetchManifest'>,
): Promise<ManifestResponse | undefined> {
  const { reference } = parseImageReference(image)
  return reference && catchMissing(registry.fetchManifest({ ...reference, ...which }))
}

async function fetchChildManifestDigests(
  image: string,
  { manifest }: ManifestResponse,
  registry: Pick<RegistryClient, 'fetchManifest'>,
  depth = 1,
): Promise<readonly string[]> {
  if (manifest.kind !== 'index') return []
  const digests = manifest.manifests.map(({ digest }) => digest)
  if (depth === maxImageIndexDepth) return digests
  const below: string[] = []
  for (const child of manifest.manifests) {
    if (!/index|manifest\.list/.test(child.mediaType)) continue
    const found = await fetchManifestIfPresent(image, { digest: child.digest }, registry)
    if (found !== undefined)
      below.push(...(await fetchChildManifestDigests(image, found, registry, depth + 1)))
  }
  return [...digests, ...below]
}
