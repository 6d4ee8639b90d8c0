// The fields that opm decodes in the four OLM schemas. opm silently ignores all others.

/**
 * `any`: opm does not decode the value. `typed`: opm decodes many more fields than are listed and rejects invalid
 * values. A list has the shape of its items.
 */
export type KnownFieldShape = 'any' | 'typed' | { readonly [field: string]: KnownFieldShape }

const textShape: KnownFieldShape = {}
const propertyShape: KnownFieldShape = { type: textShape, value: 'any' }

export const blobShapes: Readonly<Record<string, KnownFieldShape>> = {
  'olm.package': {
    schema: textShape,
    name: textShape,
    defaultChannel: textShape,
    description: textShape,
    icon: { base64data: textShape, mediatype: textShape },
    properties: propertyShape,
  },
  'olm.channel': {
    schema: textShape,
    package: textShape,
    name: textShape,
    entries: { name: textShape, replaces: textShape, skips: textShape, skipRange: textShape },
    properties: propertyShape,
  },
  'olm.bundle': {
    schema: textShape,
    package: textShape,
    name: textShape,
    image: textShape,
    properties: propertyShape,
    relatedImages: { name: textShape, image: textShape },
  },
  'olm.deprecations': {
    schema: textShape,
    package: textShape,
    entries: { reference: { schema: textShape, name: textShape }, message: textShape },
  },
}

/** Property types whose `value` has a closed structure. */
export const propertyValueShapes: Readonly<Record<string, KnownFieldShape>> = {
  'olm.package': { packageName: textShape, version: textShape, release: textShape },
  'olm.package.required': { packageName: textShape, versionRange: textShape },
  'olm.gvk': { group: textShape, version: textShape, kind: textShape },
  'olm.gvk.required': { group: textShape, version: textShape, kind: textShape },
  'olm.csv.metadata': 'typed',
  'olm.bundle.object': 'typed',
}

/** Matches names case-insensitively, as Go does. */
export function getFieldShape(
  shape: Exclude<KnownFieldShape, string>,
  field: string,
): KnownFieldShape | undefined {
  if (Object.hasOwn(shape, field)) return shape[field]
  const folded = field.toLowerCase().replaceAll('ſ', 's')
  for (const [name, below] of Object.entries(shape)) if (name.toLowerCase() === folded) return below
  return undefined
}
