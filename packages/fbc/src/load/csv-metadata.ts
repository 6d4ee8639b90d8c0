import type { CsvMetadata } from '../facts/catalog.ts'
import { sortEntries } from '../go/json/json-text.ts'
import { copyString } from '../go/utf8.ts'
import type { DecodedStruct } from '../go/decode/decoded.ts'
import { getStructList, getTextField } from '../go/decode/decode.ts'

/** Annotations that rules, drawings, or change descriptions use. The others can be megabytes in size. */
const retainedAnnotations = new Set([
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
const maxAnnotationLength = 4096

export function summarizeCsvMetadata(decoded: DecodedStruct): CsvMetadata {
  const provider = decoded.fields.get('provider')
  return {
    displayName: copyString(getTextField(decoded, 'displayName')),
    description: getTextField(decoded, 'description').length,
    provider:
      typeof provider === 'object' && 'fields' in provider ? copyString(getTextField(provider, 'name')) : '',
    minKubeVersion: copyString(getTextField(decoded, 'minKubeVersion')),
    installModes: getStructList(decoded, 'installModes').map((mode) => ({
      type: copyString(getTextField(mode, 'type')),
      supported: mode.fields.get('supported') === true,
    })),
    annotations: Object.fromEntries(pickAnnotations(decoded)),
  }
}

function pickAnnotations(decoded: DecodedStruct): [string, string][] {
  const annotations = decoded.sources.get('annotations')
  if (annotations?.kind !== 'map') return []
  return sortEntries(annotations.entries).flatMap(({ key, value }): [string, string][] =>
    value.kind === 'string' && retainedAnnotations.has(key) && value.value.length <= maxAnnotationLength
      ? [[key, copyString(value.value)]]
      : [],
  )
}
