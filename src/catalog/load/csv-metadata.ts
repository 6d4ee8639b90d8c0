import type { CsvMetadata } from '../facts/catalog.ts'
import { sortedEntries } from '../../go/json/json-text.ts'
import { ownCopy } from '../../go/utf8.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { structsOf, textOf } from '../../go/decode/decode.ts'

/** Annotations that rules, pictures or change descriptions use; the rest can be megabytes. */
const keptAnnotations = new Set([
  'alm-examples-metadata',
  'capabilities',
  'categories',
  'containerImage',
  'createdAt',
  'features.operators.openshift.io/disconnected',
  'olm.maxOpenShiftVersion',
  'olm.properties',
  'olm.skipRange',
  'olm.substitutesFor',
  'operatorframework.io/suggested-namespace',
  'repository',
  'support',
])
const maxAnnotation = 4096

export function csvMetadata(decoded: Decoded): CsvMetadata {
  const provider = decoded.fields.get('provider')
  return {
    displayName: ownCopy(textOf(decoded, 'displayName')),
    description: textOf(decoded, 'description').length,
    provider: typeof provider === 'object' && 'fields' in provider ? ownCopy(textOf(provider, 'name')) : '',
    minKubeVersion: ownCopy(textOf(decoded, 'minKubeVersion')),
    installModes: structsOf(decoded, 'installModes').map((mode) => ({
      type: ownCopy(textOf(mode, 'type')),
      supported: mode.fields.get('supported') === true,
    })),
    annotations: Object.fromEntries(keptTexts(decoded)),
  }
}

function keptTexts(decoded: Decoded): [string, string][] {
  const annotations = decoded.sources.get('annotations')
  if (annotations?.kind !== 'map') return []
  return sortedEntries(annotations.entries).flatMap(({ key, value }): [string, string][] =>
    value.kind === 'string' && keptAnnotations.has(key) && value.value.length <= maxAnnotation
      ? [[key, ownCopy(value.value)]]
      : [],
  )
}
