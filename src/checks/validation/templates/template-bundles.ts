// Opens a template's bundle by digest, which it asks for first, so that the images check shares the answer.
import { formatImageReference, parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { RenderedBundle } from '@catalog-bot/fbc/template/bundle-source'
import type { BundleBlob } from '@catalog-bot/fbc/facts/catalog'
import { bundleMetadataPropertyTypes, hasSameBundleFields } from '@catalog-bot/fbc/template/find-drift'
import type {
  LookupResults,
  BundleImageLookupResult,
  ImageLookupResult,
  LookupRequest,
} from '../../lookups.ts'
import type { LoadedTemplateCatalogPair } from '../../../pull-request/layout/template-pairs.ts'

export interface TemplateBundleLookupResult {
  readonly question: LookupRequest
  readonly answer:
    | { readonly kind: 'bundle'; readonly bundle: RenderedBundle; readonly isRestricted: boolean }
    | Exclude<ImageLookupResult, { readonly kind: 'ok' }>
}

/** `image` must be an image reference. */
export function findTemplateBundle(image: string, answers: LookupResults): TemplateBundleLookupResult {
  const { reference } = parseImageReference(image)
  if (!reference) throw new TypeError(`${image} is not an image reference`)
  const { host, repository } = reference
  let { digest } = reference
  if (digest === undefined) {
    const question = { kind: 'image', reference: image } as const
    const answer = answers.get(question)
    if (answer.kind !== 'ok') return { question, answer }
    digest = answer.digest
  }
  const question = { kind: 'bundle', reference: formatImageReference({ host, repository, digest }) } as const
  const answer = answers.get(question)
  return { question, answer: answer.kind === 'bundle' ? toTemplateBundleLookupResult(image, answer) : answer }
}

function toTemplateBundleLookupResult(
  image: string,
  {
    content,
    csv,
    findings,
    isRestricted = false,
  }: Extract<BundleImageLookupResult, { readonly kind: 'bundle' }>,
): TemplateBundleLookupResult['answer'] {
  if (!content) {
    const [first] = findings.filter(({ severity }) => severity === 'error')
    return {
      kind: 'unsupported',
      reason: `the image is not a bundle that opm can read${first && !isRestricted ? `: ${first.what}` : ''}`,
    }
  }
  const { name, package: its, properties, relatedImages } = content
  // opm adds the bundle's own image if its ClusterServiceVersion does not name it.
  const related = relatedImages.some((one) => one.image === image)
    ? relatedImages
    : [...relatedImages, { name: '', image }]
  const blob = { schema: 'olm.bundle', name, package: its, image, properties, relatedImages: related }
  return { kind: 'bundle', bundle: { blob, ...(csv !== undefined && { csv }) }, isRestricted }
}

// Bundles that the base's catalog already has, to reuse for templates. The content of a digest never changes, and the
// base was already checked, so catalog-bot does not ask again. A moved tag matters only where the change differs.
/**
 * Known bundles by reference. Empty for substitutes templates, which need more of the ClusterServiceVersion than a
 * catalog stores.
 */
export function findAlreadyRenderedBundles(
  schema: string,
  { known, result }: Pick<LoadedTemplateCatalogPair, 'known' | 'result'>,
): ReadonlyMap<string, RenderedBundle> {
  const bundles = new Map<string, RenderedBundle>()
  if (schema === 'olm.template.substitutes') return bundles
  const now = new Map(result?.bundles.map((blob) => [blob.image, blob]))
  for (const catalog of known)
    for (const blob of catalog.bundles) {
      const { reference } = parseImageReference(blob.image)
      if (bundles.has(blob.image) || !reference) continue
      const other = now.get(blob.image)
      if (reference.digest !== undefined || other === undefined || hasSameBundleFields(blob, other))
        bundles.set(blob.image, toRenderedBundle(blob))
    }
  return bundles
}

function toRenderedBundle({
  name,
  package: its,
  image,
  properties,
  relatedImages,
}: BundleBlob): RenderedBundle {
  return {
    blob: {
      schema: 'olm.bundle',
      name,
      package: its,
      image,
      properties: properties
        .filter(({ type }) => !bundleMetadataPropertyTypes.has(type))
        .map(({ type, value }) => ({ type, value })),
      relatedImages: relatedImages.map((related) => ({ name: related.name, image: related.image })),
    },
  }
}
