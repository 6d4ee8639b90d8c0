// The ClusterServiceVersion that opm makes up for clients of its API where a bundle has only `olm.csv.metadata`: what the
// property says, in the fields and the order of the operator API's Go types, and a stub where it says nothing.
import { structsOf, textOf, textsOf } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { jsonText, sortedEntries } from '../../go/json/json-text.ts'
import { marshalList, marshalObject, marshalString, marshalText } from '../../go/json/marshal.ts'
import type { WritableBundle } from '../write/writable.ts'

/** What of the package and of the blob goes into it. */
export interface CsvSurroundings {
  readonly name: string
  readonly version: string
  readonly relatedImages: WritableBundle['relatedImages']
  /** The package's icon as JSON; undefined where it has none. */
  readonly icon: string | undefined
  readonly packageDescription: string
}

type Field = readonly [string, string | undefined]

export function csvOfMetadata(metadata: Decoded, around: CsvSurroundings): string {
  const text = (field: string): Field => [field, marshalText(textOf(metadata, field))]
  const list = (field: string, each: (item: Decoded) => string): Field => [
    field,
    marshalList(structsOf(metadata, field).map(each)),
  ]
  const description = textOf(metadata, 'description')
  return marshalObject([
    ['kind', '"ClusterServiceVersion"'],
    ['apiVersion', '"operators.coreos.com/v1alpha1"'],
    [
      'metadata',
      marshalObject([
        ['name', marshalText(around.name)],
        ['labels', textMap(metadata, 'labels')],
        ['annotations', textMap(metadata, 'annotations')],
      ]),
    ],
    [
      'spec',
      marshalObject([
        // Without a strategy OLM's package server writes into a map that is not there.
        ['install', '{"strategy":"deployment","spec":{"deployments":null}}'],
        ['version', marshalString(around.version)],
        text('maturity'),
        ['customresourcedefinitions', definitions(metadata, 'crdDescriptions', crd)],
        ['apiservicedefinitions', definitions(metadata, 'apiServiceDefinitions', apiService)],
        list('nativeAPIs', (api) => always(api, 'group', 'version', 'kind')),
        text('minKubeVersion'),
        ['displayName', marshalString(textOf(metadata, 'displayName'))],
        ['description', marshalText(description === '' ? around.packageDescription : description)],
        ['keywords', texts(metadata, 'keywords')],
        list('maintainers', (person) => present(person, 'name', 'email')),
        ['provider', provider(metadata)],
        list('links', (link) => present(link, 'name', 'url')),
        ['icon', around.icon === undefined ? undefined : `[${around.icon}]`],
        list('installModes', (mode) =>
          marshalObject([
            ['type', marshalString(textOf(mode, 'type'))],
            ['supported', String(mode.fields.get('supported') === true)],
          ]),
        ),
        ['cleanup', '{"enabled":false}'],
        ['relatedImages', marshalList((around.relatedImages ?? []).map(relatedImage))],
      ]),
    ],
    ['status', '{"cleanup":{}}'],
  ])
}

function relatedImage({ name, image }: { readonly name: string; readonly image: string }): string {
  return marshalObject([
    ['name', marshalString(name)],
    ['image', marshalString(image)],
  ])
}

function definitions(metadata: Decoded, field: string, each: (item: Decoded) => string): string {
  const found = metadata.fields.get(field)
  if (typeof found !== 'object' || !('fields' in found)) return '{}'
  return marshalObject([
    ['owned', marshalList(structsOf(found, 'owned').map(each))],
    ['required', marshalList(structsOf(found, 'required').map(each))],
  ])
}

function crd(item: Decoded): string {
  return marshalObject([...fields(item, 'name', 'version', 'kind'), ...described(item)])
}

function apiService(item: Decoded): string {
  const port = item.fields.get('containerPort')
  return marshalObject([
    ...fields(item, 'name', 'group', 'version', 'kind'),
    ['deploymentName', marshalText(textOf(item, 'deploymentName'))],
    ['containerPort', typeof port === 'number' && port !== 0 ? String(port) : undefined],
    ...described(item),
  ])
}

function described(item: Decoded): Field[] {
  const descriptors = (field: string): Field => [field, marshalList(structsOf(item, field).map(descriptor))]
  return [
    ['displayName', marshalText(textOf(item, 'displayName'))],
    ['description', marshalText(textOf(item, 'description'))],
    [
      'resources',
      marshalList(structsOf(item, 'resources').map((resource) => always(resource, 'name', 'kind', 'version'))),
    ],
    descriptors('statusDescriptors'),
    descriptors('specDescriptors'),
    descriptors('actionDescriptors'),
  ]
}

function descriptor(item: Decoded): string {
  const value = item.sources.get('value')
  return marshalObject([
    ['path', marshalString(textOf(item, 'path'))],
    ['displayName', marshalText(textOf(item, 'displayName'))],
    ['description', marshalText(textOf(item, 'description'))],
    ['x-descriptors', texts(item, 'x-descriptors')],
    ['value', value && jsonText(value, { escapeHtml: true, exactNumbers: false })],
  ])
}

function provider(metadata: Decoded): string {
  const found = metadata.fields.get('provider')
  return typeof found === 'object' && 'fields' in found ? present(found, 'name', 'url') : '{}'
}

function fields(item: Decoded, ...names: readonly string[]): Field[] {
  return names.map((name) => [name, marshalString(textOf(item, name))])
}

function always(item: Decoded, ...names: readonly string[]): string {
  return marshalObject(fields(item, ...names))
}

function present(item: Decoded, ...names: readonly string[]): string {
  return marshalObject(names.map((name) => [name, marshalText(textOf(item, name))]))
}

function texts(item: Decoded, field: string): string | undefined {
  return marshalList(textsOf(item, field).map(marshalString))
}

/** null is an empty text, as Go reads it into a map of texts. */
function textMap(metadata: Decoded, field: string): string | undefined {
  const found = metadata.sources.get(field)
  if (found?.kind !== 'map' || found.entries.length === 0) return undefined
  const pairs = sortedEntries(found.entries).map(
    ({ key, value }) => `${marshalString(key)}:${value.kind === 'string' ? marshalString(value.value) : '""'}`,
  )
  return `{${pairs.join(',')}}`
}
