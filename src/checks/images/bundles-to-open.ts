// Selects the bundles whose images catalog-bot opens: new and edited ones. Skips blobs that only moved or changed their
// format.
import { compareBundleWithImage, type BundleDifference } from '@catalog-bot/bundle/render/render-bundle'
import { parseImageReference } from '@catalog-bot/fbc/go/reference/image-reference'
import type { BundleBlob, Catalog } from '@catalog-bot/fbc/facts/catalog'
import type { CatalogChange, PullRequestChange, AddedImageReference } from '../../pull-request/change.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import type { PublishedBundle } from '../check.ts'
import type { BundleImageLookupResult } from '../lookups.ts'
import type { ReferencedImage } from './named-image.ts'
import { bundleDiffersFromImageRule, bundleIdentityMismatch, bundleFormatMismatch } from './rules.ts'
import {
  redactBundleDifferences,
  redactBundleFindings,
  type BundleDifferenceDescription,
} from './redact-restricted-bundle.ts'

type SuccessfulBundleImageLookup = Extract<BundleImageLookupResult, { readonly kind: 'bundle' }>

/** Keyed by the image as written, in the order of the change. */
export function groupBundlesByImageToPull(
  { catalogs }: Pick<PullRequestChange, 'catalogs'>,
  elsewhere: readonly PublishedBundle[] = [],
): ReadonlyMap<string, readonly BundleBlob[]> {
  const differing = catalogs.map((catalog) => ({ catalog, blobs: listChangedBundles(catalog) }))
  if (differing.every(({ blobs }) => blobs.length === 0)) return new Map()
  const published = indexPublishedBundles(catalogs, elsewhere)
  const unpublished = differing.flatMap(({ catalog, blobs }) =>
    blobs.filter((blob) => blob.image !== '' && !isPublishedBundle(blob, catalog, published)),
  )
  return Map.groupBy(unpublished, ({ image }) => image)
}

/** The image references of opened bundles, including those that the base already has. */
export function listPulledBundleImageReferences(
  opened: ReadonlyMap<string, readonly BundleBlob[]>,
): readonly AddedImageReference[] {
  return [...opened].flatMap(([reference, blobs]) =>
    blobs.map(({ place, imageMark, package: its, name }) => ({
      reference,
      at: { file: place.file, line: (imageMark ?? place).line, column: (imageMark ?? place).column },
      package: its,
      bundle: name,
      role: 'bundle' as const,
    })),
  )
}

/** Findings inside the image, and differences from the catalog's blobs. */
export function* findBundleImageProblems(
  image: ReferencedImage,
  blobs: readonly BundleBlob[],
  { content, format, findings, isRestricted = false }: SuccessfulBundleImageLookup,
): Generator<Finding> {
  const shown = isRestricted ? redactBundleFindings(findings, image.text) : findings
  for (const inside of shown) yield moveFindingToImageReference(inside, image)
  const describe = isRestricted ? redactBundleDifferences : describeBundleDifferences
  for (const blob of blobs) {
    if (content)
      yield* createBundleDifferenceFindings(
        blob,
        image,
        describe(compareBundleWithImage(blob, content, image.text)),
      )
    else if (format !== undefined && format !== 'registry+v1' && format !== findBundleMediaType(blob)) {
      const { file, line, column } = blob.place
      const named = findBundleMediaType(blob)
      yield createFinding(
        bundleFormatMismatch,
        { file, line, column },
        { reference: image.text, format, ...(named !== undefined && { named }) },
      )
    }
  }
}

/** Moves a finding about a file in the image to the location that references the image. */
export function moveFindingToImageReference(
  inside: Finding,
  { at, elsewhere, text }: Pick<ReferencedImage, 'at' | 'elsewhere' | 'text'>,
): Finding {
  const where = inside.at ? `, ${inside.at.file}` : ''
  return {
    ...inside,
    what: `${inside.what} (in ${text}${where})`,
    at,
    ...(elsewhere.length > 0 && { related: elsewhere }),
  }
}

function listChangedBundles(change: CatalogChange): readonly BundleBlob[] {
  const names = new Set(
    change.packages.flatMap(({ name: its, bundles: { added, changed } }) =>
      [...added, ...changed].map(({ name }) => toBundleKey({ package: its, name })),
    ),
  )
  return listBundlesOfPackages(change.result, listChangedPackageNames([change])).filter((blob) =>
    names.has(toBundleKey(blob)),
  )
}

export const listChangedPackageNames = (catalogs: readonly CatalogChange[]): ReadonlySet<string> =>
  new Set(catalogs.flatMap(({ packages }) => packages.map(({ name }) => name)))

/** In the order of the catalog. */
export const listBundlesOfPackages = (
  catalog: Catalog | undefined,
  names: ReadonlySet<string>,
): readonly BundleBlob[] => catalog?.bundles.filter((bundle) => names.has(bundle.package)) ?? []

type PublishedBundleIndex = ReadonlyMap<string, readonly PublishedBundle[]>

/** The base's bundles of changed packages, by name and image. */
function indexPublishedBundles(catalogs: readonly CatalogChange[], elsewhere: readonly PublishedBundle[]) {
  const changed = listChangedPackageNames(catalogs)
  const onBase = catalogs.flatMap(({ root, base }) =>
    listBundlesOfPackages(base, changed).map((bundle): PublishedBundle => ({ catalog: root, bundle })),
  )
  return Map.groupBy([...onBase, ...elsewhere], ({ bundle }) => `${toBundleKey(bundle)}\n${bundle.image}`)
}

/** True if the base has the same content and image: under any name in this catalog, by digest in another. */
function isPublishedBundle(blob: BundleBlob, own: CatalogChange, published: PublishedBundleIndex): boolean {
  const isFixed = parseImageReference(blob.image).reference?.digest !== undefined
  return (published.get(`${toBundleKey(blob)}\n${blob.image}`) ?? []).some(
    ({ catalog, bundle: known }) =>
      (isFixed || catalog === own.root) && compareBundleWithImage(blob, known, blob.image).length === 0,
  )
}

export function toBundleKey({
  package: its,
  name,
}: {
  readonly package: string
  readonly name: string
}): string {
  return `${its}\n${name}`
}

/** RukPak's catalogs state the bundle format in a property. */
function findBundleMediaType({ properties }: BundleBlob): string | undefined {
  const value = properties.find(({ type }) => type === 'olm.bundle.mediatype')?.value
  return typeof value === 'string' ? value : undefined
}

function* createBundleDifferenceFindings(
  blob: BundleBlob,
  { text: reference }: ReferencedImage,
  differences: readonly BundleDifferenceDescription[],
): Generator<Finding> {
  const { file, line, column } = blob.place
  const shown = (isIdentity: boolean) =>
    differences.filter((one) => one.isIdentity === isIdentity).map(({ description }) => description)
  const [identity, others] = [shown(true), shown(false)]
  if (identity.length > 0)
    yield createFinding(bundleIdentityMismatch, { file, line, column }, { reference, differences: identity })
  if (others.length > 0)
    yield createFinding(
      bundleDiffersFromImageRule,
      { file, line, column },
      { reference, differences: others },
    )
}

function describeBundleDifferences(
  differences: readonly BundleDifference[],
): readonly BundleDifferenceDescription[] {
  return differences.map(({ field, catalog, image, isIdentity }) => {
    if (image === undefined)
      return { isIdentity, description: `${field} ${catalog ?? ''} is only in the catalog` }
    if (catalog === undefined) return { isIdentity, description: `${field} ${image} is only in the image` }
    return { isIdentity, description: `${field} is ${catalog} in the catalog and ${image} in the image` }
  })
}
