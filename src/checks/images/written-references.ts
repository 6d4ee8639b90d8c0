// What the text of an image reference shows without asking anybody: whether it is one, whether its registry is allowed,
// whether it names a digest. The images check says it of what a change names for the first time, `validate` of all.
import type { Catalog } from '../../catalog/facts/catalog.ts'
import { referencesOfCatalog } from '../../change/references/catalog-references.ts'
import type { Finding } from '../../findings/finding.ts'
import { FindingList } from '../../findings/finding-list.ts'
import { finding, subjectOf } from '../../findings/rule.ts'
import { isAllowedRegistry, namedImages, type NamedImage } from './named-image.ts'
import { imageByTag } from './rules/image-by-tag.ts'
import { malformedReference } from './rules/malformed-reference.ts'
import { registryNotAllowed } from './rules/registry-not-allowed.ts'

/** What is wrong with a reference so that there is nothing to ask a registry; undefined for one that is worth asking. */
export function judgeWritten(image: NamedImage, allowed: readonly string[]): Finding | undefined {
  const { text: reference, at, elsewhere, parsed } = image
  if (!parsed.reference)
    return finding(malformedReference, at, { reference, reason: parsed.reason }, elsewhere)
  if (!isAllowedRegistry(parsed.reference, allowed))
    return finding(registryNotAllowed, at, { reference, allowed }, elsewhere)
  return undefined
}

/** That a reference has no digest; `digest` is what its tag stands for, if that is known. */
export function judgeTagged(
  { text: reference, at, elsewhere, parsed }: NamedImage,
  digest: string | undefined,
): readonly Finding[] {
  if (parsed.reference?.digest !== undefined) return []
  return [finding(imageByTag, at, { reference, ...(digest !== undefined && { digest }) }, elsewhere)]
}

/** What the references of a catalog show: findings, and the places that name the image of each. */
export interface WrittenReferences {
  readonly findings: readonly Finding[]
  placesOf(found: Finding): NamedImage['places'] | undefined
}

/**
 * What the references of a whole catalog show, each told once, and those without a digest once for each package. `allowed` are the registries that its repository allows;
 * none means all. References that opm's rules `refuse` are left out: they have told.
 */
export function findWrittenReferences(
  catalog: Catalog,
  { allowed, refuses, ignores }: WrittenOptions,
): WrittenReferences {
  const list = new FindingList()
  // Weak: most of a million findings are not kept.
  const places = new WeakMap<Finding, NamedImage['places']>()
  const tagged = new Map<string, TaggedImages>()
  for (const image of namedImages(referencesOfCatalog(catalog))) {
    if (refuses(image.text)) continue
    const written = judgeWritten(image, allowed)
    if (written) {
      places.set(written, image.places)
      list.take([written])
    } else if (image.parsed.reference?.digest === undefined) {
      // Of a package whose images are all named by tag that is one thing to say, not thousands.
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
  /** Whether the configuration silences a rule at a place. */
  readonly ignores: (rule: string, place: NamedImage['places'][number]) => boolean
}

/** The images of one package that have no digest. */
interface TaggedImages {
  readonly first: NamedImage
  more: number
}
