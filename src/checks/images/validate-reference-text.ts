// Checks an image reference without a registry: syntax, allowed registry, digest.
import type { Catalog } from '@catalog-bot/fbc/facts/catalog'
import { collectCatalogImageReferences } from '../../pull-request/references/catalog-references.ts'
import type { Finding } from '@catalog-bot/findings/finding'
import { FindingList } from '@catalog-bot/findings/finding-list'
import { createFinding, formatFindingSubject } from '@catalog-bot/findings/rule'
import { isAllowedRegistry, collectReferencedImages, type ReferencedImage } from './named-image.ts'
import { imageByTag, malformedReference, registryNotAllowed } from './rules.ts'

/** The finding that makes a registry request pointless; undefined otherwise. */
export function validateImageReferenceText(
  image: ReferencedImage,
  allowed: readonly string[],
): Finding | undefined {
  const { text: reference, at, elsewhere, parsed } = image
  if (!parsed.reference)
    return createFinding(malformedReference, at, { reference, reason: parsed.reason }, elsewhere)
  if (!isAllowedRegistry(parsed.reference, allowed))
    return createFinding(registryNotAllowed, at, { reference, allowed }, elsewhere)
  return undefined
}

/** `digest`: what the tag points to now, if known. */
export function findUnpinnedImage(
  { text: reference, at, elsewhere, parsed }: ReferencedImage,
  digest: string | undefined,
): readonly Finding[] {
  if (parsed.reference?.digest !== undefined) return []
  return [createFinding(imageByTag, at, { reference, ...(digest !== undefined && { digest }) }, elsewhere)]
}

/** Findings, and the locations that reference each finding's image. */
export interface ImageReferenceTextFindings {
  readonly findings: readonly Finding[]
  locationsOf(found: Finding): ReferencedImage['locations'] | undefined
}

/**
 * Checks a whole catalog's references. Reports references without a digest once per package. An empty `allowed` allows
 * every registry. Skips references that opm's rules already reject.
 */
export function findImageReferenceProblems(
  catalog: Catalog,
  { allowed, rejects, ignores }: ImageReferenceCheckOptions,
): ImageReferenceTextFindings {
  const list = new FindingList()
  // Weak, because most of a million findings are not kept.
  const locations = new WeakMap<Finding, ReferencedImage['locations']>()
  const tagged = new Map<string, TaggedImageGroup>()
  for (const image of collectReferencedImages(collectCatalogImageReferences(catalog))) {
    if (rejects(image.text)) continue
    const written = validateImageReferenceText(image, allowed)
    if (written) {
      locations.set(written, image.locations)
      list.addAll([written])
    } else if (image.parsed.reference?.digest === undefined) {
      // One finding per package, because some packages reference all images by tag.
      const location = image.locations.find((candidate) => !ignores(imageByTag.id, candidate))
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
      ...createFinding(imageByTag, at, data, more === 0 ? elsewhere : []),
      subject: formatFindingSubject([name]),
    }
    locations.set(found, its)
    list.addAll([found])
  }
  return { findings: list.sorted(), locationsOf: (found) => locations.get(found) }
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
