// The fields that opm decodes in the four OLM schemas. opm silently ignores all others.

/**
 * `any`: opm does not decode the value. `typed`: opm decodes many more fields than are listed and rejects invalid
 * values. A list has the shape of its items.
 */
export type KnownFieldShape = 'any' | 'typed' | { readonly [field: string]: KnownFieldShape }

const stringFieldShape: KnownFieldShape = {}
const propertyFieldShape: KnownFieldShape = { type: stringFieldShape, value: 'any' }

export const fieldShapesByBlobSchema: Readonly<Record<string, KnownFieldShape>> = {
  'olm.package': {
    schema: stringFieldShape,
    name: stringFieldShape,
    defaultChannel: stringFieldShape,
    description: stringFieldShape,
    icon: { base64data: stringFieldShape, mediatype: stringFieldShape },
    properties: propertyFieldShape,
  },
  'olm.channel': {
    schema: stringFieldShape,
    package: stringFieldShape,
    name: stringFieldShape,
    entries: {
      name: stringFieldShape,
      replaces: stringFieldShape,
      skips: stringFieldShape,
      skipRange: stringFieldShape,
    },
    properties: propertyFieldShape,
  },
  'olm.bundle': {
    schema: stringFieldShape,
    package: stringFieldShape,
    name: stringFieldShape,
    image: stringFieldShape,
    properties: propertyFieldShape,
    relatedImages: { name: stringFieldShape, image: stringFieldShape },
  },
  'olm.deprecations': {
    schema: stringFieldShape,
    package: stringFieldShape,
    entries: { reference: { schema: stringFieldShape, name: stringFieldShape }, message: stringFieldShape },
  },
}

/** Property types whose `value` has a closed structure. */
export const valueShapesByPropertyType: Readonly<Record<string, KnownFieldShape>> = {
  'olm.package': { packageName: stringFieldShape, version: stringFieldShape, release: stringFieldShape },
  'olm.package.required': { packageName: stringFieldShape, versionRange: stringFieldShape },
  'olm.gvk': { group: stringFieldShape, version: stringFieldShape, kind: stringFieldShape },
  'olm.gvk.required': { group: stringFieldShape, version: stringFieldShape, kind: stringFieldShape },
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
