// Converts a bundle to its `olm.bundle` blob, field by field as `opm render` does (opm 1.73).
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { compareBytes } from '@catalog-bot/fbc/go/text'
import { parseCsvMetadata } from './csv-metadata.ts'
import { formatUntypedGoJson } from '../manifest-document.ts'
import type { RegistryBundle, RelatedImage } from '../registry-bundle.ts'

export interface OlmBundleBlob {
  readonly schema: 'olm.bundle'
  readonly name: string
  readonly package: string
  readonly image: string
  readonly properties: readonly { readonly type: string; readonly value: Json }[]
  readonly relatedImages?: readonly RelatedImage[]
}

export interface BlobRenderOptions {
  /** opm's `--migrate-level bundle-object-to-csv-metadata`: one `olm.csv.metadata` instead of the objects. */
  readonly csvMetadata?: boolean
}

/** `image` is the reference for the catalog; '' for a bundle without an image. */
export function renderBundle(
  bundle: RegistryBundle,
  image: string,
  options: BlobRenderOptions = {},
): OlmBundleBlob {
  // opm doesn't migrate a bundle without an image.
  const isMigrated = options.csvMetadata === true && image !== ''
  const bulky = isMigrated
    ? [{ type: 'olm.csv.metadata', value: parseCsvMetadata(bundle.csv.tree).metadata }]
    : bundle.objects
        .map(({ tree }) => encodeBase64Text(formatUntypedGoJson(tree)))
        .sort(compareBytes)
        .map((data) => ({ type: 'olm.bundle.object', value: { data } }))
  const related = collectRelatedImages(bundle, image)
  return {
    schema: 'olm.bundle',
    name: bundle.csv.name,
    package: bundle.package,
    image,
    properties: [...bundle.derivedProperties.map(({ type, value }) => ({ type, value })), ...bulky],
    ...(related.length > 0 && { relatedImages: related }),
  }
}

/** Returns opm's error if it can't migrate the bundle. */
export function findOpmMigrationError(bundle: RegistryBundle, image: string): string | undefined {
  if (image === '') return undefined
  const { problem } = parseCsvMetadata(bundle.csv.tree)
  return problem && `migrate: ${problem}`
}

function collectRelatedImages(bundle: RegistryBundle, image: string): readonly RelatedImage[] {
  const images = [...bundle.relatedImages]
  const listed = new Set(images.map((entry) => entry.image))
  // opm doesn't track that it already added the bundle's own image, so a container that uses the image adds it again.
  if (image !== '' && !listed.has(image)) images.push({ name: '', image })
  for (const reference of bundle.operatorImages)
    if (!listed.has(reference)) images.push({ name: '', image: reference })
  return images.sort((a, b) => compareBytes(a.image, b.image))
}

function encodeBase64Text(text: string): string {
  const bytes = new TextEncoder().encode(text)
  let binary = ''
  for (let start = 0; start < bytes.length; start += 8192)
    binary += String.fromCharCode(...bytes.subarray(start, start + 8192))
  return btoa(binary)
}
