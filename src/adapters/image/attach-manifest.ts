// Attaches manifests (OCI distribution 1.1, "Pushing Manifests with Subject"), also without a referrers API.
import { formatImageReference, type ImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import { manifestMediaTypes, type Descriptor } from '../registry/manifest.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import { catchMissing, RegistryError } from '../registry/registry-error.ts'
import { parseImageReferenceOrThrow, type OciJsonDocument } from './base-image.ts'
import { type AttachedManifest, type ImageAttachment, ImageError } from './catalog-publisher.ts'
import { computeSha256Digest } from '../registry/manifest.ts'
import type { ImagePusher } from './open-pusher.ts'

/** Concurrent writers may overwrite an index entry. This is the number of attempts to write it. */
const maxReferrersIndexWriteAttempts = 5

export async function attachManifest(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  pusher: Pick<ImagePusher, 'push'>,
  { repository: name, manifest, blobs, tags = [] }: ImageAttachment,
): Promise<{ readonly digest: string }> {
  const { host, repository } = parseImageReferenceOrThrow(name)
  const document = JSON.parse(new TextDecoder().decode(manifest.bytes)) as OciJsonDocument
  const subject = (document['subject'] as { digest?: unknown } | undefined)?.digest
  if (typeof subject !== 'string') throw new ImageError('order', 'an attachment must have a subject')
  const target = { host, repository }
  const pushed = await pusher.push({ ...target, blobs, manifests: [manifest], tags })
  if (pushed.subject === subject) return { digest: pushed.digest }
  const entry = {
    mediaType: manifest.mediaType,
    digest: computeSha256Digest(manifest.bytes),
    size: manifest.bytes.length,
    artifactType: document['artifactType'] ?? (document['config'] as Descriptor | undefined)?.mediaType,
    ...(document['annotations'] !== undefined && { annotations: document['annotations'] }),
  }
  const tag = toReferrersTag(subject)
  for (let attempt = 1; attempt <= maxReferrersIndexWriteAttempts; attempt++) {
    const known = await fetchReferrersIndex(registry, formatImageReference({ ...target, tag }))
    if (known.some(({ digest }) => digest === entry.digest)) return { digest: pushed.digest }
    const index = { schemaVersion: 2, mediaType: manifestMediaTypes.ociIndex, manifests: [...known, entry] }
    const bytes = new TextEncoder().encode(JSON.stringify(index))
    const manifests = [{ mediaType: manifestMediaTypes.ociIndex, bytes }] as const
    await pusher.push({ ...target, blobs: [], manifests, tags: [tag] })
  }
  throw new RegistryError('server', `other clients keep overwriting the index tagged ${tag}`)
}

/** The attachments from the registry's referrers list, or from the index tag if the registry has no list. */
export async function listAttachedManifests(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  pusher: Pick<ImagePusher, 'listReferrers'>,
  { host, repository, digest }: ImageReference & { readonly digest: string },
): Promise<readonly AttachedManifest[]> {
  const target = { host, repository }
  const listed =
    (await pusher.listReferrers(target, digest)) ??
    (await fetchReferrersIndex(registry, formatImageReference({ ...target, tag: toReferrersTag(digest) })))
  return listed.flatMap((entry) => {
    const descriptor = (typeof entry === 'object' && entry !== null ? entry : {}) as OciJsonDocument
    const { digest: found, artifactType } = descriptor
    if (typeof found !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(found)) return []
    return [{ digest: found, artifactType: typeof artifactType === 'string' ? artifactType : '' }]
  })
}

/** The specification's referrers tag: `sha256-<hex>`, truncated to the maximum tag length. */
export function toReferrersTag(digest: string): string {
  const [algorithm = '', hex = ''] = digest.split(':')
  return `${algorithm.slice(0, 32)}-${hex.slice(0, 64)}`
}

async function fetchReferrersIndex(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  text: string,
): Promise<readonly (OciJsonDocument & Descriptor)[]> {
  const found = await catchMissing(registry.fetchManifest(parseImageReferenceOrThrow(text)))
  if (!found) return []
  if (found.manifest.kind !== 'index') throw new RegistryError('bad-reply', `${text} is not an image index`)
  const { manifests } = JSON.parse(new TextDecoder().decode(found.bytes)) as {
    manifests: (OciJsonDocument & Descriptor)[]
  }
  return manifests
}
