// The images that a change references, without duplicates, each with all its locations.
import {
  parseImageReference,
  type ImageReference,
  type ParsedImageReference,
} from '@catalog-bot/fbc/go/reference/image-reference'
import type { Location, Finding } from '@catalog-bot/findings/finding'
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { FindingList } from '@catalog-bot/findings/finding-list'
import { createFinding, formatFindingSubject } from '@catalog-bot/findings/rule'
import type { AddedImageReference } from '../../pull-request/change.ts'
import { imageByTagRule, malformedReferenceRule, registryNotAllowedRule } from './rules.ts'

/** Findings, and the locations that reference each finding's image. */
interface ImageReferenceFindings {
  readonly findings: readonly Finding[]
  locationsOf(found: Finding): ReferencedImage['locations'] | undefined
}

interface ImageReferenceCheckOptions {
  readonly allowed: readonly string[]
  readonly rejects: (reference: string) => boolean
  readonly ignores: (rule: string, location: ReferencedImage['locations'][number]) => boolean
}

interface TaggedImageGroup {
  readonly first: ReferencedImage
  more: number
}

export interface ReferencedImage {
  readonly text: string
  readonly parsed: ParsedImageReference
  readonly at: Location
  readonly elsewhere: readonly { readonly at: Location; readonly note: string }[]
  /** All locations, for the exclusions in the configuration. */
  readonly locations: readonly { readonly package: string; readonly file: string }[]
  readonly isBundle: boolean
  /** True if a composite file lists it: a catalog or bundle, which contains only files and runs on no platform. */
  readonly isListed: boolean
}

// Limits the locations per finding. The data has the total.
const maxLocationsPerImage = 20

/** Groups equal references, in order of first appearance. */
export function collectReferencedImages(
  references: Iterable<AddedImageReference>,
): readonly ReferencedImage[] {
  const byText = Map.groupBy(references, ({ reference }) => reference)
  return [...byText].flatMap(([text, [first, ...others]]) =>
    first === undefined
      ? []
      : [
          {
            text,
            parsed: parseImageReference(text),
            at: first.at,
            elsewhere: others
              .slice(0, maxLocationsPerImage)
              .map(({ at, bundle }) => ({ at, note: `also referenced by ${bundle}` })),
            locations: [first, ...others].map((one) => ({ package: one.package, file: one.at.file })),
            isBundle: [first, ...others].some(({ role }) => role === 'bundle'),
            isListed: [first, ...others].some(({ role }) => role === 'listed'),
          },
        ],
  )
}

/**
 * True if the reference's name equals an allowed entry or is below one. Compares exact hosts and whole path segments.
 */
export function isAllowedRegistry(reference: ImageReference, allowed: readonly string[]): boolean {
  if (allowed.length === 0) return true
  const name = `${reference.host}/${reference.repository}`
  return allowed.some((entry) => {
    const [host = '', ...path] = entry.replace(/\/+$/, '').split('/')
    const allowedName = [host.toLowerCase(), ...path].join('/')
    return name === allowedName || name.startsWith(`${allowedName}/`)
  })
}

/**
 * Checks an image reference without a registry: syntax and allowed registry. Returns the finding that makes a registry
 * request pointless; undefined otherwise.
 */
export function validateImageReference(image: ReferencedImage, allowed: readonly string[]) {
  const { text: reference, at, elsewhere, parsed } = image
  if (!parsed.reference)
    return createFinding(malformedReferenceRule, at, { reference, reason: parsed.reason }, elsewhere)
  if (!isAllowedRegistry(parsed.reference, allowed))
    return createFinding(registryNotAllowedRule, at, { reference, allowed }, elsewhere)
  return undefined
}

/** `digest`: what the tag points to now, if known. */
export function createUnpinnedImageFindings(
  { text: reference, at, elsewhere, parsed }: ReferencedImage,
  digest: string | undefined,
): readonly Finding[] {
  if (parsed.reference?.digest !== undefined) return []
  return [
    createFinding(imageByTagRule, at, { reference, ...(digest !== undefined && { digest }) }, elsewhere),
  ]
}

/**
 * Checks a whole catalog's references. Reports references without a digest once per package. An empty `allowed` allows
 * every registry. Skips references that opm's rules already reject.
 */
export function findImageReferenceProblems(
  catalog: Catalog,
  { allowed, rejects, ignores }: ImageReferenceCheckOptions,
): ImageReferenceFindings {
  const list = new FindingList()
  // Weak, because most of a million findings are not stored.
  const locations = new WeakMap<Finding, ReferencedImage['locations']>()
  const tagged = new Map<string, TaggedImageGroup>()
  for (const image of collectReferencedImages(collectCatalogImageReferences(catalog))) {
    if (rejects(image.text)) continue
    const written = validateImageReference(image, allowed)
    if (written) {
      locations.set(written, image.locations)
      list.addAll([written])
    } else if (image.parsed.reference?.digest === undefined) {
      // One finding per package, because some packages reference all images by tag.
      const location = image.locations.find((candidate) => !ignores(imageByTagRule.id, candidate))
      if (location === undefined) continue
      const same = tagged.get(location.package)
      if (same) same.more++
      else tagged.set(location.package, { first: image, more: 0 })
    }
  }
  for (const [name, { first, more }] of tagged) {
    const { text: reference, at, elsewhere, locations: its } = first
    const data = more === 0 ? { reference } : { reference, package: name, more }
    const found = {
      ...createFinding(imageByTagRule, at, data, more === 0 ? elsewhere : []),
      subject: formatFindingSubject([name]),
    }
    locations.set(found, its)
    list.addAll([found])
  }
  return { findings: list.sorted(), locationsOf: (found) => locations.get(found) }
}

/** The images and related images of a catalog's bundles, once per bundle, in catalog order. */
export function* collectCatalogImageReferences({
  bundles,
}: Pick<Catalog, 'bundles'>): Generator<AddedImageReference> {
  for (const { package: name, name: bundle, place, image, imageMark, relatedImages } of bundles) {
    const about = { package: name, bundle }
    const at = ({ line, column }: { line: number; column: number }) => ({ file: place.file, line, column })
    const named = new Set([''])
    if (image !== '') yield { reference: image, at: at(imageMark ?? place), ...about, role: 'bundle' }
    named.add(image)
    for (const related of relatedImages) {
      if (named.has(related.image)) continue
      named.add(related.image)
      yield { reference: related.image, at: at(related.mark), ...about, role: 'related' }
    }
  }
}
