// What catalog templates look at in a ClusterServiceVersion: the semver template makes a package's description and icon
// of it, the substitutes template asks whether a bundle says that it substitutes another.
import type { Json } from '../../go/json/json.ts'
import { getField, asList } from '../fields.ts'

/** The document without everything else, in its own shape. */
export function trimCsvForTemplates(csv: Json): Json {
  const substitutes = getField(csv, 'metadata', 'annotations', 'olm.substitutesFor')
  const description = getField(csv, 'spec', 'description')
  return {
    metadata: { annotations: substitutes === undefined ? {} : { 'olm.substitutesFor': substitutes } },
    spec: {
      ...(description !== undefined && { description }),
      // Only the first one is shown.
      icon: asList(getField(csv, 'spec', 'icon')).slice(0, 1),
    },
  }
}
