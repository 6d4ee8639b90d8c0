// Attaches bill of images, provenance and signature to a published image. The key signs only what was built here: an
// equivalent image from elsewhere is replaced by ours.
import type { RegistryClient } from '../../registry/registry-client.ts'
import { RegistryError } from '../../registry/registry-error.ts'
import { referenceOf, type Document } from '../base-image.ts'
import type { CatalogImage, CatalogPublisher, Published, Target } from '../catalog-publisher.ts'
import { subjectOf } from './artifacts.ts'
import { billType } from './bill-of-images.ts'
import { inTotoType } from './envelope.ts'
import type { ListedBundle } from './listed-bundles.ts'
import { isVouchedFor, provenanceAttachments, signaturesFor } from './provenance-attachments.ts'
import type { SigningKey } from './signing-key.ts'
import type { BuildRecord } from './statement.ts'

export interface VouchRoom {
  readonly publisher: Pick<CatalogPublisher, 'push' | 'attach' | 'attached'>
  /** Reads published images without mirrors. */
  readonly registry: Pick<RegistryClient, 'fetchManifest' | 'fetchBlob'>
  /** Default: no signatures. */
  readonly key?: SigningKey | undefined
  /** Whether to sign each platform's manifest too. Default: true. */
  readonly signPlatforms?: boolean | undefined
}

/**
 * The published image, if the key has signed it or it equals our build except for annotations. Otherwise ours replaces
 * it despite equal content, because other software may read its layers differently.
 */
export async function signablePublished(
  { publisher, registry, key }: VouchRoom,
  published: Published,
  built: () => Promise<CatalogImage>,
  target: Target,
): Promise<Published> {
  if (!key || !published.unchanged || target.dryRun === true) return published
  const at = { ...referenceOf(target.repository), digest: published.digest }
  if (await isVouchedFor(registry, await subjectOf(registry, at), key)) return published
  const image = published.image ?? (await built())
  if (await isSameButForAnnotations(registry, at, image)) return { ...published, image }
  return publisher.push(image, { ...target, evenIfUnchanged: true })
}

export interface Vouching {
  readonly repository: string
  readonly digest: string
  /** Called only if something is missing, because it may have to read the image. */
  readonly made: () => Promise<{ readonly listed: readonly ListedBundle[]; readonly build: BuildRecord }>
}

/** Attaches only what is missing. Returns true if something was. */
export async function vouchFor(
  { publisher, registry, key, signPlatforms }: VouchRoom,
  { repository, digest, made }: Vouching,
): Promise<boolean> {
  const image = await subjectOf(registry, { ...referenceOf(repository), digest })
  const isVouched = key !== undefined && (await isVouchedFor(registry, image, key))
  if (!key) {
    const types = new Set(
      (await publisher.attached(repository, digest)).map(({ artifactType }) => artifactType),
    )
    if (types.has(billType) && types.has(inTotoType)) return false
  }
  // An attested index names its platforms, so they can lack only signatures.
  const attachments =
    key && isVouched
      ? await signaturesFor(registry, image, key, signPlatforms)
      : await provenanceAttachments(registry, {
          image,
          ...(await made()),
          ...(key && { key }),
          signPlatforms,
        })
  if (attachments.length === 0) return false
  for (const attachment of attachments) await publisher.attach(attachment)
  // A registry may accept a signature but not return it.
  if (key && (await signaturesFor(registry, image, key, signPlatforms)).length > 0)
    throw new RegistryError('server', `${image.host} does not give back the signature of ${digest}`)
  return true
}

/** Compares documents byte for byte, ignoring annotations. */
async function isSameButForAnnotations(
  registry: Pick<RegistryClient, 'fetchManifest'>,
  at: ReturnType<typeof referenceOf> & { readonly digest: string },
  image: CatalogImage,
): Promise<boolean> {
  if (image.digest === at.digest) return true
  const top = await registry.fetchManifest(at)
  const ours = image.manifests.map(({ bytes }) => withoutAnnotations(bytes))
  if (top.manifest.kind === 'image') return ours.length === 1 && ours[0] === withoutAnnotations(top.bytes)
  const { manifests } = top.manifest
  if (manifests.length + 1 !== ours.length) return false
  const { host, repository } = at
  const theirs = await Promise.all(
    manifests.map(async ({ digest }) => {
      const { bytes } = await registry.fetchManifest({ host, repository, digest })
      return withoutAnnotations(bytes)
    }),
  )
  return [...theirs, withoutAnnotations(top.bytes)].every((text, index) => text === ours[index])
}

/** Drops image digests from an index, because annotations change them; the images are compared separately. */
function withoutAnnotations(bytes: Uint8Array): string {
  const { annotations: _, ...document } = JSON.parse(new TextDecoder().decode(bytes)) as Document
  if (!Array.isArray(document['manifests'])) return JSON.stringify(document)
  const manifests = (document['manifests'] as readonly Document[]).map(
    ({ digest: _digest, size: _size, ...entry }) => entry,
  )
  return JSON.stringify({ ...document, manifests })
}
