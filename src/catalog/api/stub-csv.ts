// The ClusterServiceVersion that opm makes up for a bundle that has only `olm.csv.metadata`, byte for byte. OLM only
// displays it: its install strategy is a stub.
import { structsOf, textOf, textsOf } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { fitsAsItStands } from '../../go/decode/fitting.ts'
import { JsonPartsWriter, type JsonParts } from '../../go/json/json-parts.ts'
import { sortedEntries } from '../../go/json/json-text.ts'
import { marshalObject, marshalString, unlessEmpty, unlessNone } from '../../go/json/marshal.ts'
import type { Value } from '../../go/tree.ts'
import type { RelatedImage } from './api-types.ts'
import { wholeRawText, type BundleContent } from './bundle-content.ts'
import type { IndexedPackage } from './package-index.ts'

type Field = readonly [string, string | undefined]

/** Returns undefined if the bundle has no olm.csv.metadata. */
export function stubCsv(content: BundleContent, of: IndexedPackage): JsonParts | undefined {
  const metadata = content.csvMetadata
  if (!metadata) return undefined
  const out = new JsonPartsWriter()
  out.open('{')
  out.field('kind', '"ClusterServiceVersion"')
  out.field('apiVersion', '"operators.coreos.com/v1alpha1"')
  out.key('metadata')
  out.open('{')
  out.field('name', unlessEmpty(content.name))
  writeMap(out, metadata, 'labels')
  writeMap(out, metadata, 'annotations')
  out.close('}')
  out.key('spec')
  out.open('{')
  writeSpec(out, metadata, content, of)
  out.close('}')
  out.field('status', '{"cleanup":{}}')
  out.close('}')
  return out.done()
}

function writeSpec(
  out: JsonPartsWriter,
  metadata: Decoded,
  content: BundleContent,
  of: IndexedPackage,
): void {
  const text = (field: string): void => out.field(field, unlessEmpty(textOf(metadata, field)))
  // Without a strategy OLM's package server panics on a nil map.
  out.field('install', '{"strategy":"deployment","spec":{"deployments":null}}')
  out.field('version', marshalString(content.version))
  text('maturity')
  out.field('customresourcedefinitions', definitions(metadata, 'crdDescriptions', crd))
  out.field('apiservicedefinitions', definitions(metadata, 'apiServiceDefinitions', apiService))
  out.field(...structs(metadata, 'nativeAPIs', gvk))
  text('minKubeVersion')
  out.field('displayName', marshalString(textOf(metadata, 'displayName')))
  writeText(out, 'description', textOf(metadata, 'description') || of.description)
  out.field('keywords', texts(metadata, 'keywords'))
  out.field(...structs(metadata, 'maintainers', maintainer))
  out.field('provider', provider(metadata))
  out.field(...structs(metadata, 'links', link))
  writeIcon(out, of)
  out.field(...structs(metadata, 'installModes', installMode))
  out.field('cleanup', '{"enabled":false}')
  out.field('relatedImages', unlessNone(content.relatedImages.map(relatedImage)))
}

function writeText(out: JsonPartsWriter, name: string, text: string): void {
  if (text === '') return
  out.key(name)
  out.string(text)
}

function writeIcon(out: JsonPartsWriter, { icon }: IndexedPackage): void {
  if (!icon) return
  out.key('icon')
  out.open('[')
  out.open('{')
  out.key('base64data')
  out.string(icon.data ?? '')
  out.field('mediatype', marshalString(icon.mediaType))
  out.close('}')
  out.close(']')
}

/** Go reads null as an empty text here. */
function writeMap(out: JsonPartsWriter, metadata: Decoded, name: string): void {
  const found = metadata.fields.get(name)
  if (typeof found !== 'object' || !('kind' in found) || found.kind !== 'map' || found.entries.length === 0)
    return
  out.key(name)
  out.open('{')
  for (const { key, value } of sortedEntries(found.entries)) {
    out.key(key)
    out.string(value.kind === 'string' ? value.value : '')
  }
  out.close('}')
}

function relatedImage({ name, image }: RelatedImage): string {
  return marshalObject([
    ['name', marshalString(name)],
    ['image', marshalString(image)],
  ])
}

function definitions(metadata: Decoded, field: string, each: (item: Decoded) => string): string {
  const found = metadata.fields.get(field)
  if (typeof found !== 'object' || !('fields' in found)) return '{}'
  return remembered(found, found.at, each, () =>
    marshalObject([structs(found, 'owned', each), structs(found, 'required', each)]),
  )
}

/** Caches each struct and the whole list. */
function structs(of: Decoded, field: string, each: (item: Decoded) => string): Field {
  const source = of.sources.get(field)
  if (!source) return [field, undefined]
  const list = remembered(of, source, each, () => {
    const items = structsOf(of, field).map((item) => remembered(item, item.at, each, () => each(item)))
    return unlessNone(items) ?? ''
  })
  return [field, list === '' ? undefined : list]
}

/** Reuses the output for repeated text: versions of an Operator have nearly the same metadata. */
function remembered(owner: Decoded, value: Value, by: object, write: () => string): string {
  const memo = value.kind === 'map' || value.kind === 'list' ? value.memo : undefined
  if (!fitsAsItStands(owner)) return write()
  if (memo?.marshalled?.by === by) return memo.marshalled.text
  const text = write()
  if (memo) memo.marshalled = { by, text }
  return text
}

function gvk(item: Decoded): string {
  return always(item, 'group', 'version', 'kind')
}

function maintainer(item: Decoded): string {
  return present(item, 'name', 'email')
}

function link(item: Decoded): string {
  return present(item, 'name', 'url')
}

function installMode(item: Decoded): string {
  return marshalObject([
    ['type', marshalString(textOf(item, 'type'))],
    ['supported', String(item.fields.get('supported') === true)],
  ])
}

function resource(item: Decoded): string {
  return always(item, 'name', 'kind', 'version')
}

function crd(item: Decoded): string {
  return marshalObject([...fields(item, 'name', 'version', 'kind'), ...described(item)])
}

function apiService(item: Decoded): string {
  const port = item.fields.get('containerPort')
  return marshalObject([
    ...fields(item, 'name', 'group', 'version', 'kind'),
    ['deploymentName', unlessEmpty(textOf(item, 'deploymentName'))],
    ['containerPort', typeof port === 'number' && port !== 0 ? String(port) : undefined],
    ...described(item),
  ])
}

function described(item: Decoded): Field[] {
  const descriptors = (field: string): Field => structs(item, field, descriptor)
  return [
    ['displayName', unlessEmpty(textOf(item, 'displayName'))],
    ['description', unlessEmpty(textOf(item, 'description'))],
    structs(item, 'resources', resource),
    descriptors('statusDescriptors'),
    descriptors('specDescriptors'),
    descriptors('actionDescriptors'),
  ]
}

function descriptor(item: Decoded): string {
  const value = item.sources.get('value')
  return marshalObject([
    ['path', marshalString(textOf(item, 'path'))],
    ['displayName', unlessEmpty(textOf(item, 'displayName'))],
    ['description', unlessEmpty(textOf(item, 'description'))],
    ['x-descriptors', texts(item, 'x-descriptors')],
    ['value', value && wholeRawText(value)],
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
  return marshalObject(names.map((name) => [name, unlessEmpty(textOf(item, name))]))
}

function texts(item: Decoded, field: string): string | undefined {
  const source = item.sources.get(field)
  const list =
    source && remembered(item, source, texts, () => unlessNone(textsOf(item, field).map(marshalString)) ?? '')
  return list === '' ? undefined : list
}
