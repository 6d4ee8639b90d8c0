// The parts of a ClusterServiceVersion that catalog templates use. The semver template derives a package's description
// and icon from them, and the substitutes template checks whether a bundle substitutes for another one.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { getJsonFieldAtPath, asListOrEmpty } from '../fields.ts'

/** The document reduced to these parts, with the same structure. */
export function reduceCsvToTemplateFields(csv: Json): Json {
  const substitutes = getJsonFieldAtPath(csv, 'metadata', 'annotations', 'olm.substitutesFor')
  const description = getJsonFieldAtPath(csv, 'spec', 'description')
  return {
    metadata: { annotations: substitutes === undefined ? {} : { 'olm.substitutesFor': substitutes } },
    spec: {
      ...(description !== undefined && { description }),
      // Only the first icon is shown.
      icon: asListOrEmpty(getJsonFieldAtPath(csv, 'spec', 'icon')).slice(0, 1),
    },
  }
}
