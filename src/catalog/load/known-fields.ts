// The fields that opm's decoder knows, level by level, for the four schemas it decodes. What stands here is the
// format; what does not is passed over in silence by opm.

/**
 * `any`: whatever stands below is opaque to opm. `typed`: opm decodes it with many more fields than stand here, and
 * refuses what does not fit. Otherwise the known fields; a list is described by its element.
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

/** Fields below `value` of the property types whose structure is closed. Others are opaque. */
export const propertyShapes: Readonly<Record<string, Shape>> = {
  'olm.package': { packageName: text, version: text, release: text },
  'olm.package.required': { packageName: text, versionRange: text },
  'olm.gvk': { group: text, version: text, kind: text },
  'olm.gvk.required': { group: text, version: text, kind: text },
  'olm.csv.metadata': 'typed',
  'olm.bundle.object': 'typed',
}

/** The shape below a field, whose name is matched as Go does: without regard to case. Undefined: not known. */
export function shapeOf(shape: Exclude<Shape, string>, field: string): Shape | undefined {
  if (Object.hasOwn(shape, field)) return shape[field]
  const folded = field.toLowerCase().replaceAll('ſ', 's')
  for (const [name, below] of Object.entries(shape)) if (name.toLowerCase() === folded) return below
  return undefined
}
