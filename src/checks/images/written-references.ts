// Judges an image reference by its text alone: syntax, allowed registry, digest.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import { referencesOfCatalog } from '../../change/references/catalog-references.ts'
import type { Finding } from '../../findings/finding.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { finding, subjectOf } from '../../findings/rule.ts'
import { isAllowedRegistry, namedImages, type NamedImage } from './named-image.ts'
import { imageByTag } from './rules/image-by-tag.ts'
import { malformedReference } from './rules/malformed-reference.ts'
import { registryNotAllowed } from './rules/registry-not-allowed.ts'

/** Why there is no point in asking a registry; undefined if there is. */
export function judgeWritten(image: NamedImage, allowed: readonly string[]): Finding | undefined {
  const { text: reference, at, elsewhere, parsed } = image
  if (!parsed.reference)
    return finding(malformedReference, at, { reference, reason: parsed.reason }, elsewhere)
  if (!isAllowedRegistry(parsed.reference, allowed))
    return finding(registryNotAllowed, at, { reference, allowed }, elsewhere)
  return undefined
}

/** `digest`: what the tag points to now, if known. */
export function judgeTagged(
  { text: reference, at, elsewhere, parsed }: NamedImage,
  digest: string | undefined,
): readonly Finding[] {
  if (parsed.reference?.digest !== undefined) return []
  return [finding(imageByTag, at, { reference, ...(digest !== undefined && { digest }) }, elsewhere)]
}

/** Findings, and the places that name each finding's image. */
export interface WrittenReferences {
  readonly findings: readonly Finding[]
  placesOf(found: Finding): NamedImage['places'] | undefined
}

/**
 * Judges a whole catalog's references; those without a digest once per package. An empty `allowed` allows every
 * registry. Skips references that opm's rules already `refuse`.
 */
export function findWrittenReferences(
  catalog: Catalog,
  { allowed, refuses, ignores }: WrittenOptions,
): WrittenReferences {
  const list = new FindingList()
  // Weak, because most of a million findings are not kept.
  const places = new WeakMap<Finding, NamedImage['places']>()
  const tagged = new Map<string, TaggedImages>()
  for (const image of namedImages(referencesOfCatalog(catalog))) {
    if (refuses(image.text)) continue
    const written = judgeWritten(image, allowed)
    if (written) {
      places.set(written, image.places)
      list.take([written])
    } else if (image.parsed.reference?.digest === undefined) {
      // One finding per package, because some packages name all images by tag.
      const told = image.places.find((place) => !ignores(imageByTag.id, place))
      if (told === undefined) continue
      const same = tagged.get(told.package)
      if (same) same.more++
      else tagged.set(told.package, { first: image, more: 0 })
    }
  }
  for (const [name, { first, more }] of tagged) {
    const { text: reference, at, elsewhere, places: its } = first
    const data = more === 0 ? { reference } : { reference, package: name, more }
    const found = {
      ...finding(imageByTag, at, data, more === 0 ? elsewhere : []),
      subject: subjectOf([name]),
    }
    places.set(found, its)
    list.take([found])
  }
  return { findings: list.sorted(), placesOf: (found) => places.get(found) }
}

interface WrittenOptions {
  readonly allowed: readonly string[]
  readonly refuses: (reference: string) => boolean
  readonly ignores: (rule: string, place: NamedImage['places'][number]) => boolean
}

interface TaggedImages {
  readonly first: NamedImage
  more: number
}
