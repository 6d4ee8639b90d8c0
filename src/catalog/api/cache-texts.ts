// The JSON in opm's cache, byte for byte.
import type { JsonParts } from '../../go/json/json-parts.ts'
import {
  marshalList,
  marshalMap,
  marshalObject,
  marshalString,
  unlessEmpty,
  unlessNone,
} from '../../go/json/marshal.ts'
import { manifestsOf, type Manifests } from './api-bundle.ts'
import type { Deprecation, GroupVersionKind, TypedValue } from './api-types.ts'
import type { Piece } from '../../go/tar/pieces.ts'
import type { BundleContent } from './bundle-content.ts'
import type { Pieces, SharedPieces } from './shared-pieces.ts'
import type { IndexedBundle, IndexedChannel, IndexedPackage, PackageIndex } from './package-index.ts'

/** `packages.json`. */
export function packageIndexText(index: PackageIndex): string {
  return marshalMap(
    [...index.values()].map((one) => [
      one.name,
      marshalObject([
        ['name', marshalString(one.name)],
        ['description', marshalString(one.description)],
        [
          'icon',
          one.icon
            ? marshalObject([
                ['base64data', one.icon.data === null ? 'null' : marshalString(one.icon.data)],
                ['mediatype', marshalString(one.icon.mediaType)],
              ])
            : 'null',
        ],
        ['defaultChannel', marshalString(one.defaultChannel)],
        [
          'Channels',
          marshalMap([...one.channels.values()].map((channel) => [channel.name, channelText(channel)])),
        ],
        ['deprecation', inIndex(one.deprecation)],
      ]),
    ]),
  )
}

function channelText(channel: IndexedChannel): string {
  return marshalObject([
    ['Name', marshalString(channel.name)],
    ['Head', marshalString(channel.head)],
    ['Bundles', marshalMap([...channel.bundles.values()].map((bundle) => [bundle.name, entryText(bundle)]))],
    ['deprecation', inIndex(channel.deprecation)],
  ])
}

function entryText(bundle: IndexedBundle): string {
  return marshalObject([
    ['package', marshalString(bundle.package)],
    ['channel', marshalString(bundle.channel)],
    ['name', marshalString(bundle.name)],
    ['replaces', marshalString(bundle.replaces)],
    ['skips', bundle.hasSkips ? marshalList(bundle.skips.map(marshalString)) : 'null'],
  ])
}

function inIndex(deprecation: Deprecation | undefined): string | undefined {
  return deprecation && marshalObject([['message', marshalString(deprecation.message)]])
}

/** An undefined value is a field that `omitempty` drops. */
type Field = readonly [name: string, json: string | Piece | undefined]

/** `PACKAGE_CHANNEL_BUNDLE.json`. Everything that is the same in all channels is written once. */
export function bundlePieces(
  content: BundleContent,
  of: IndexedPackage,
  shared: SharedPieces,
): (line: IndexedBundle) => Pieces {
  const identity: readonly Field[] = [
    ['csvName', unlessEmpty(content.name)],
    ['packageName', unlessEmpty(of.name)],
  ]
  const manifests = manifestFields(manifestsOf(content, of), shared)
  const apis: readonly Field[] = [
    ['bundlePath', unlessEmpty(content.image)],
    ['providedApis', unlessNone(content.providedApis.map(groupVersionKind))],
    ['requiredApis', unlessNone(content.requiredApis.map(groupVersionKind))],
    ['version', unlessEmpty(content.version)],
  ]
  const dependencies = unlessNone(content.dependencies.map(typedValue))
  const properties = content.properties.map(typedValue)
  // A separate piece, because it is the same in all channels and longer than the rest.
  const propertiesPiece = properties.length === 0 ? undefined : encoder.encode(marshalList(properties))
  return ({ channel, replaces, skips, skipRange, deprecation }) =>
    objectPieces([
      ...identity,
      ['channelName', unlessEmpty(channel)],
      ...manifests,
      ...apis,
      ['skipRange', unlessEmpty(skipRange)],
      ['dependencies', dependencies],
      ['properties', propertiesPiece],
      ['replaces', unlessEmpty(replaces)],
      ['skips', unlessNone(skips.map(marshalString))],
      ['deprecation', deprecation && marshalObject([['message', unlessEmpty(deprecation.message)]])],
    ])
}

/** A CSV that is one of the objects uses the same pieces in both places. */
function manifestFields({ csv, objects }: Manifests, shared: SharedPieces): readonly Field[] {
  const quoted = new Map<JsonParts, Pieces>()
  const quotedOf = (json: JsonParts): Pieces => {
    const pieces = quoted.get(json) ?? shared.quoted(json)
    quoted.set(json, pieces)
    return pieces
  }
  const items = objects.flatMap((json, at) => [at === 0 ? openList : comma, quotedOf(json)])
  return [
    ['csvJson', csv && quotedOf(csv)],
    ['object', items.length === 0 ? undefined : [...items, closeList]],
  ]
}

const encoder = new TextEncoder()
const [openList, comma, closeList] = ['[', ',', ']'].map((text) => encoder.encode(text)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
]

function objectPieces(fields: readonly Field[]): Pieces {
  const pieces: Piece[] = []
  let pending = ''
  let separator = '{'
  for (const [name, json] of fields) {
    if (json === undefined) continue
    pending += `${separator}"${name}":`
    separator = ','
    if (typeof json === 'string') pending += json
    else {
      pieces.push(encoder.encode(pending), json)
      pending = ''
    }
  }
  return [...pieces, encoder.encode(`${pending}}`)]
}

function groupVersionKind({ group, version, kind }: GroupVersionKind): string {
  return marshalObject([
    ['group', unlessEmpty(group)],
    ['version', unlessEmpty(version)],
    ['kind', unlessEmpty(kind)],
  ])
}

function typedValue({ type, value }: TypedValue): string {
  return marshalObject([
    ['type', unlessEmpty(type)],
    ['value', unlessEmpty(value)],
  ])
}
