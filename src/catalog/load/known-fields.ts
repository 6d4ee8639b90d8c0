// The fields that opm decodes in the four OLM schemas. opm silently ignores all others.

/**
 * `any`: opaque to opm. `typed`: opm decodes many more fields than are listed and refuses what doesn't fit. A list has
 * the shape of its elements.
 */
export type Shape = 'any' | 'typed' | { readonly [field: string]: Shape }

const text: Shape = {}
const property: Shape = { type: text, value: 'any' }

export const blobShapes: Readonly<Record<string, Shape>> = {
  'olm.package': {
    schema: text,
    name: text,
    defaultChannel: text,
    description: text,
    icon: { base64data: text, mediatype: text },
    properties: property,
  },
  'olm.channel': {
    schema: text,
    package: text,
    name: text,
    entries: { name: text, replaces: text, skips: text, skipRange: text },
    properties: property,
  },
  'olm.bundle': {
    schema: text,
    package: text,
    name: text,
    image: text,
    properties: property,
    relatedImages: { name: text, image: text },
  },
  'olm.deprecations': {
    schema: text,
    package: text,
    entries: { reference: { schema: text, name: text }, message: text },
  },
}

/** Property types whose `value` has a closed structure. */
export const propertyShapes: Readonly<Record<string, Shape>> = {
  'olm.package': { packageName: text, version: text, release: text },
  'olm.package.required': { packageName: text, versionRange: text },
  'olm.gvk': { group: text, version: text, kind: text },
  'olm.gvk.required': { group: text, version: text, kind: text },
  'olm.csv.metadata': 'typed',
  'olm.bundle.object': 'typed',
}

/** Matches names case-insensitively, as Go does. */
export function shapeOf(shape: Exclude<Shape, string>, field: string): Shape | undefined {
  if (Object.hasOwn(shape, field)) return shape[field]
  const folded = field.toLowerCase().replaceAll('ſ', 's')
  for (const [name, below] of Object.entries(shape)) if (name.toLowerCase() === folded) return below
  return undefined
}
