// The images that a change references, without duplicates, each with all its locations.
import {
  parseImageReference,
  type ImageReference,
  type ParsedImageReference,
} from '@catalog-bot/fbc/go/reference/image-reference'
import type { NewImageReference } from '../../pull-request/change.ts'
import type { Location } from '@catalog-bot/findings/finding'

export interface ReferencedImage {
  readonly text: string
  readonly parsed: ParsedImageReference
  readonly at: Location
  readonly elsewhere: readonly { readonly at: Location; readonly note: string }[]
  /** All locations, for the exclusions in the configuration. */
  readonly locations: readonly { readonly package: string; readonly file: string }[]
  /** True if it is the image of a bundle. */
  readonly isBundle: boolean
  /** True if a composite file lists it: a catalog or bundle, which contains only files and runs on no platform. */
  readonly isListed: boolean
}

// Limits the locations per finding. The data has the total.
const maxLocationsPerImage = 20

/** Groups equal references, in order of first appearance. */
export function collectReferencedImages(references: Iterable<NewImageReference>): readonly ReferencedImage[] {
  const byText = new Map<string, NewImageReference[]>()
  for (const reference of references) {
    const same = byText.get(reference.reference)
    if (same) same.push(reference)
    else byText.set(reference.reference, [reference])
  }
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
    const wanted = [host.toLowerCase(), ...path].join('/')
    return name === wanted || name.startsWith(`${wanted}/`)
  })
}
