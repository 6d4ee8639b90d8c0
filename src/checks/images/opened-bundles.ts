// Selects the bundles whose image we open: new and edited ones. A blob that only moved or changed its format costs
// nothing.
import { compareWithImage, type BundleDifference } from '../../bundle/render/compare-with-image.ts'
import { parseImageReference } from '../../go/reference/image-reference.ts'
import type { BundleBlob } from '../../catalog/facts/catalog.ts'
import type { CatalogChange, Change, NewReference } from '../../change/change.ts'
import type { Finding } from '../../findings/finding.ts'
import { finding } from '../../findings/rule.ts'
import type { PublishedBundle } from '../check.ts'
import type { BundleAnswer } from '../questions.ts'
import type { NamedImage } from './named-image.ts'
import { bundleDiffersFromImage } from './rules/bundle-differs-from-image.ts'
import { bundleNotItsImage } from './rules/bundle-not-its-image.ts'
import { withoutImageDetails, withoutFindingDetails, type Difference } from './restricted-bundle.ts'
import { foreignBundleFormat } from './rules/foreign-bundle-format.ts'

type Bundle = Extract<BundleAnswer, { readonly kind: 'bundle' }>

/** Keyed by the image as written, in the order of the change. */
export function bundlesToOpen(
  { catalogs }: Pick<Change, 'catalogs'>,
  elsewhere: readonly PublishedBundle[] = [],
): ReadonlyMap<string, readonly BundleBlob[]> {
  const byImage = new Map<string, BundleBlob[]>()
  const differing = catalogs.map((catalog) => ({ catalog, blobs: differingBundles(catalog) }))
  if (differing.every(({ blobs }) => blobs.length === 0)) return byImage
  const published = basisOf(catalogs, elsewhere)
  for (const { catalog, blobs } of differing)
    for (const blob of blobs) {
      if (blob.image === '' || isPublished(blob, catalog, published)) continue
      const same = byImage.get(blob.image)
      if (same) same.push(blob)
      else byImage.set(blob.image, [blob])
    }
  return byImage
}

/** Their image references, including those that the base already names. */
export function openedReferences(
  opened: ReadonlyMap<string, readonly BundleBlob[]>,
): readonly NewReference[] {
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
export function* judgeBundle(
  image: NamedImage,
  blobs: readonly BundleBlob[],
  { content, format, findings, isRestricted = false }: Bundle,
): Generator<Finding> {
  const shown = isRestricted ? withoutFindingDetails(findings, image.text) : findings
  for (const inside of shown) yield atReference(inside, image)
  const words = isRestricted ? withoutImageDetails : inWords
  for (const blob of blobs) {
    if (content) yield* judgeBlob(blob, image, words(compareWithImage(blob, content, image.text)))
    else if (format !== undefined && format !== 'registry+v1' && format !== namedFormat(blob)) {
      const { file, line, column } = blob.place
      const named = namedFormat(blob)
      yield finding(
        foreignBundleFormat,
        { file, line, column },
        { reference: image.text, format, ...(named !== undefined && { named }) },
      )
    }
  }
}

/** Moves a finding about a file in the image to the place that names the image. */
export function atReference(inside: Finding, { at, elsewhere, text }: NamedImage): Finding {
  const where = inside.at ? `, ${inside.at.file}` : ''
  return {
    ...inside,
    what: `${inside.what} (in ${text}${where})`,
    at,
    ...(elsewhere.length > 0 && { related: elsewhere }),
  }
}

function differingBundles({ result, packages }: CatalogChange): readonly BundleBlob[] {
  const names = new Set(
    packages.flatMap(({ name: its, bundles: { added, changed } }) =>
      [...added, ...changed].map(({ name }) => keyOf({ package: its, name })),
    ),
  )
  return names.size === 0 ? [] : (result?.bundles ?? []).filter((blob) => names.has(keyOf(blob)))
}

type Published = ReadonlyMap<string, readonly PublishedBundle[]>

/** All bundles of the base, by name and image. */
function basisOf(catalogs: readonly CatalogChange[], elsewhere: readonly PublishedBundle[]): Published {
  const published = new Map<string, PublishedBundle[]>()
  const add = (one: PublishedBundle) => {
    const key = `${keyOf(one.bundle)}\n${one.bundle.image}`
    const same = published.get(key)
    if (same) same.push(one)
    else published.set(key, [one])
  }
  for (const { root, base } of catalogs)
    for (const bundle of base?.bundles ?? []) add({ catalog: root, bundle })
  elsewhere.forEach(add)
  return published
}

/** True if the base has the same content and image: under any name in this catalog, by digest in another. */
function isPublished(blob: BundleBlob, own: CatalogChange, published: Published): boolean {
  const isFixed = parseImageReference(blob.image).reference?.digest !== undefined
  return (published.get(`${keyOf(blob)}\n${blob.image}`) ?? []).some(
    ({ catalog, bundle: known }) =>
      (isFixed || catalog === own.root) && compareWithImage(blob, known, blob.image).length === 0,
  )
}

function keyOf({ package: its, name }: { readonly package: string; readonly name: string }): string {
  return `${its}\n${name}`
}

/** RukPak's catalogs state the bundle format in a property. */
function namedFormat({ properties }: BundleBlob): string | undefined {
  const value = properties.find(({ type }) => type === 'olm.bundle.mediatype')?.value
  return typeof value === 'string' ? value : undefined
}

function* judgeBlob(
  blob: BundleBlob,
  { text: reference }: NamedImage,
  differences: readonly Difference[],
): Generator<Finding> {
  const { file, line, column } = blob.place
  const shown = (isIdentity: boolean) =>
    differences.filter((one) => one.isIdentity === isIdentity).map(({ words }) => words)
  const [identity, others] = [shown(true), shown(false)]
  if (identity.length > 0)
    yield finding(bundleNotItsImage, { file, line, column }, { reference, differences: identity })
  if (others.length > 0)
    yield finding(bundleDiffersFromImage, { file, line, column }, { reference, differences: others })
}

function inWords(differences: readonly BundleDifference[]): readonly Difference[] {
  return differences.map(({ field, catalog, image, isIdentity }) => {
    if (image === undefined) return { isIdentity, words: `${field} ${catalog ?? ''} is only in the catalog` }
    if (catalog === undefined) return { isIdentity, words: `${field} ${image} is only in the image` }
    return { isIdentity, words: `${field} is ${catalog} in the catalog and ${image} in the image` }
  })
}
