// The ClusterServiceVersion that opm makes of an olm.csv.metadata property for those who ask over gRPC, byte for byte.
// OLM shows what it says and installs nothing by it: its install strategy is a stub.
import { structsOf, textOf, textsOf } from '../../go/decode/decode.ts'
import { decode } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { goList, goMap, goStruct, goText, unlessEmpty, unlessNone } from '../../go/json/go-object.ts'
import { jsonText } from '../../go/json/json-text.ts'
import { propertyTypes } from '../load/property-types.ts'
import { longestJson, type ServedBundle } from './served-bundle.ts'
import type { ServedPackage } from './served-package.ts'

const noStruct: Decoded = {
  at: { kind: 'null', start: 0, end: 0 },
  fields: { get: () => undefined, has: () => false },
  sources: { get: () => undefined },
}

/** Undefined where the bundle has no olm.csv.metadata. `name` is the CSV's: that of the channel's entry. */
export function stubCsv(
  name: string,
  { manifests, version, relatedImages }: ServedBundle,
  ofPackage: ServedPackage | undefined,
): string | undefined {
  const type = propertyTypes.get('olm.csv.metadata')
  if (!manifests.csvMetadata || !type) return undefined
  const { decoded: metadata } = decode(type, manifests.csvMetadata)
  const icon = ofPackage?.icon
  return goStruct([
    ['kind', goText('ClusterServiceVersion')],
    ['apiVersion', goText('operators.coreos.com/v1alpha1')],
    [
      'metadata',
      goStruct([
        ['name', unlessEmpty(name)],
        ['labels', textMap(metadata, 'labels')],
        ['annotations', textMap(metadata, 'annotations')],
      ]),
    ],
    [
      'spec',
      goStruct([
        ['install', '{"strategy":"deployment","spec":{"deployments":null}}'],
        ['version', goText(version)],
        text(metadata, 'maturity'),
        ['customresourcedefinitions', definitions(metadata, 'crdDescriptions', crd)],
        ['apiservicedefinitions', definitions(metadata, 'apiServiceDefinitions', apiService)],
        ['nativeAPIs', structs(metadata, 'nativeAPIs', (api) => always(api, 'group', 'version', 'kind'))],
        text(metadata, 'minKubeVersion'),
        ...always(metadata, 'displayName'),
        ['description', unlessEmpty(textOf(metadata, 'description') || (ofPackage?.description ?? ''))],
        ['keywords', texts(metadata, 'keywords')],
        ['maintainers', structs(metadata, 'maintainers', (one) => [text(one, 'name'), text(one, 'email')])],
        ['provider', goStruct(link(structOf(metadata, 'provider')))],
        ['links', structs(metadata, 'links', link)],
        [
          'icon',
          icon &&
            goList([
              goStruct([
                ['base64data', goText(base64(icon.data ?? new Uint8Array()))],
                ['mediatype', goText(icon.mediaType)],
              ]),
            ]),
        ],
        [
          'installModes',
          structs(metadata, 'installModes', (mode) => [
            ...always(mode, 'type'),
            ['supported', String(mode.fields.get('supported') === true)],
          ]),
        ],
        ['cleanup', '{"enabled":false}'],
        [
          'relatedImages',
          unlessNone(
            relatedImages.map((image) =>
              goStruct([
                ['name', goText(image.name)],
                ['image', goText(image.image)],
              ]),
            ),
          ),
        ],
      ]),
    ],
    ['status', '{"cleanup":{}}'],
  ])
}

type Field = readonly [name: string, json: string | undefined]

function definitions(
  metadata: Decoded,
  field: string,
  describe: (definition: Decoded) => readonly Field[],
): string {
  const of = structOf(metadata, field)
  return goStruct([
    ['owned', structs(of, 'owned', describe)],
    ['required', structs(of, 'required', describe)],
  ])
}

function crd(definition: Decoded): readonly Field[] {
  return [...always(definition, 'name', 'version', 'kind'), ...described(definition)]
}

function apiService(definition: Decoded): readonly Field[] {
  const port = definition.fields.get('containerPort')
  return [
    ...always(definition, 'name', 'group', 'version', 'kind'),
    text(definition, 'deploymentName'),
    ['containerPort', typeof port === 'number' && port !== 0 ? String(port) : undefined],
    ...described(definition),
  ]
}

function described(definition: Decoded): readonly Field[] {
  return [
    text(definition, 'displayName'),
    text(definition, 'description'),
    ['resources', structs(definition, 'resources', (one) => always(one, 'name', 'kind', 'version'))],
    ['statusDescriptors', structs(definition, 'statusDescriptors', descriptor)],
    ['specDescriptors', structs(definition, 'specDescriptors', descriptor)],
    ['actionDescriptors', structs(definition, 'actionDescriptors', descriptor)],
  ]
}

function descriptor(one: Decoded): readonly Field[] {
  const value = one.sources.get('value')
  return [
    ...always(one, 'path'),
    text(one, 'displayName'),
    text(one, 'description'),
    ['x-descriptors', texts(one, 'x-descriptors')],
    ['value', value && jsonText(value, { escapeHtml: true, exactNumbers: false, maxLength: longestJson })],
  ]
}

function link(one: Decoded): readonly Field[] {
  return [text(one, 'name'), text(one, 'url')]
}

function always(one: Decoded, ...names: readonly string[]): readonly Field[] {
  return names.map((name) => [name, goText(textOf(one, name))])
}

function text(one: Decoded, name: string): Field {
  return [name, unlessEmpty(textOf(one, name))]
}

function texts(one: Decoded, name: string): string | undefined {
  return unlessNone(textsOf(one, name).map(goText))
}

function structs(
  one: Decoded,
  name: string,
  fields: (item: Decoded) => readonly Field[],
): string | undefined {
  return unlessNone(structsOf(one, name).map((item) => goStruct(fields(item))))
}

function structOf(one: Decoded, name: string): Decoded {
  const value = one.fields.get(name)
  return typeof value === 'object' && 'fields' in value ? value : noStruct
}

/** A map of texts, where null is the empty one. */
function textMap(one: Decoded, name: string): string | undefined {
  const value = one.fields.get(name)
  if (typeof value !== 'object' || !('kind' in value) || value.kind !== 'map') return undefined
  if (value.entries.length === 0) return undefined
  return goMap(
    value.entries.map(({ key, value: item }) => [key, goText(item.kind === 'string' ? item.value : '')]),
  )
}

/** Standard base64, padded. */
export function base64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(binary)
}
