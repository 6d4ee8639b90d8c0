// Puts a manifest with a subject beside its image, so that who has the image finds it: by the referrers API where the
// registry has it, else by the index behind a tag that OCI's distribution specification names for the rest.
import { parseImageReference } from '../go/reference/image-reference.ts'
import { mediaTypes } from '../registry/manifest.ts'
import { RegistryError } from '../registry/registry-error.ts'
import type { RegistryClient } from '../registry/registry-client.ts'
import type { Attachment } from './catalog-publisher.ts'
import type { Pusher } from './open-pusher.ts'

/** Others may write the same index; so often it is read and written again. */
const attempts = 5

/** The digest of the attached manifest. Attaching the same again changes nothing. */
export async function attachReferrer(
  pusher: Pick<Pusher, 'push'>,
  registry: Pick<RegistryClient, 'fetchManifest'>,
  { repository: name, manifest, blobs, tags = [] }: Attachment,
): Promise<{ readonly digest: string }> {
  const { reference } = parseImageReference(name)
  if (!reference) throw new RegistryError('malformed', `${name} is no repository`)
  const { host, repository } = reference
  const { digest, subject } = await pusher.push({ host, repository, blobs, manifests: [manifest], tags })
  const said = JSON.parse(new TextDecoder().decode(manifest.bytes)) as AttachedManifest
  if (subject === said.subject.digest) return { digest }
  const entry = {
    mediaType: manifest.mediaType,
    digest,
    size: manifest.bytes.length,
    artifactType: said.artifactType ?? said.config?.mediaType,
    ...(said.annotations && { annotations: said.annotations }),
  }
  const tag = referrersTag(said.subject.digest)
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const present = await entriesBehind(registry, { host, repository, tag })
    if (present.some((one) => one.digest === digest)) return { digest }
    const index = {
      schemaVersion: 2,
      mediaType: mediaTypes.ociIndex,
      manifests: [...present, entry],
    }
    await pusher.push({
      host,
      repository,
      blobs: [],
      manifests: [{ mediaType: mediaTypes.ociIndex, bytes: Buffer.from(JSON.stringify(index)) }],
      tags: [tag],
    })
  }
  throw new RegistryError('server', `the index behind ${tag} is written by others all the time`)
}

/** `sha256-<hex>`: where the specification has the referrers of a digest, cut to what a tag may hold. */
export function referrersTag(digest: string): string {
  const [algorithm = '', hex = ''] = digest.split(':')
  return `${algorithm.slice(0, 32)}-${hex.slice(0, 64)}`
}

interface AttachedManifest {
  readonly artifactType?: string
  readonly config?: { readonly mediaType?: string }
  readonly subject: { readonly digest: string }
  readonly annotations?: Readonly<Record<string, string>>
}

interface Entry {
  readonly digest: string
}

/** As they stand there: what others wrote of theirs is kept to the letter. */
async function entriesBehind(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  at: { readonly host: string; readonly repository: string; readonly tag: string },
): Promise<readonly Entry[]> {
  try {
    const { manifest, bytes } = await registry.fetchManifest(at)
    if (manifest.kind !== 'index')
      throw new RegistryError('unsupported', `what lies behind ${at.tag} is no list of referrers`)
    return (JSON.parse(new TextDecoder().decode(bytes)) as { manifests: readonly Entry[] }).manifests
  } catch (error) {
    if (error instanceof RegistryError && error.code === 'missing') return []
    throw error
  }
}
