// The JSON in opm's cache, byte for byte.
import {
  marshalList,
  marshalMap,
  marshalObject,
  marshalString,
  marshalNonEmptyString,
  marshalNonEmptyList,
  type JsonChunkTree,
  type JsonChunk,
} from '../go/json/json.ts'
import { buildBundleManifests, type BundleManifests } from './api-bundle.ts'
import type { ApiDeprecation, GroupVersionKind, ApiPropertyOrDependency } from './api-types.ts'
import type { ByteChunkTree } from '../go/tar/tar-tree.ts'
import type { ApiBundleFields } from './bundle-content.ts'
import type { IndexedBundle, IndexedChannel, IndexedPackage, PackageIndex } from './package-index.ts'
import { getOrCreate } from '@catalog-bot/findings/memoize'

/** A large piece is the same object in every place where it occurs. */
export type JsonByteChunks = readonly ByteChunkTree[]

const utf8Encoder = new TextEncoder()
const doubleQuoteBytes = utf8Encoder.encode('"')

// JSON as text in other JSON. opm's cache repeats each CSV per channel, so long parts are escaped once and shared.
export class EscapedJsonCache {
  private readonly ofJson = new Map<string, Uint8Array>()
  private readonly ofTexts = new Map<string, Uint8Array>()

  /** JSON as a JSON string. */
  quoted(parts: JsonChunkTree): JsonByteChunks {
    return [doubleQuoteBytes, ...parts.map((part) => this.piece(part)), doubleQuoteBytes]
  }

  private piece(part: JsonChunk): Uint8Array {
    if (typeof part === 'string') return escapeJsonForEmbedding(part)
    return 'json' in part
      ? getOrCreate(this.ofJson, part.json, () => escapeJsonForEmbedding(part.json))
      : getOrCreate(this.ofTexts, part.text, () => escapeJsonForEmbedding(marshalString(part.text)))
  }
}

/** `packages.json`. */
export function formatPackageIndex(index: PackageIndex): string {
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
                ['base64data', one.icon.base64data === null ? 'null' : marshalString(one.icon.base64data)],
                ['mediatype', marshalString(one.icon.mediatype)],
              ])
            : 'null',
        ],
        ['defaultChannel', marshalString(one.defaultChannel)],
        [
          'Channels',
          marshalMap(
            [...one.channels.values()].map((channel) => [channel.name, formatIndexedChannel(channel)]),
          ),
        ],
        ['deprecation', formatApiDeprecation(one.deprecation)],
      ]),
    ]),
  )
}

function formatIndexedChannel(channel: IndexedChannel): string {
  return marshalObject([
    ['Name', marshalString(channel.name)],
    ['Head', marshalString(channel.head)],
    [
      'Bundles',
      marshalMap([...channel.bundles.values()].map((bundle) => [bundle.name, formatIndexedBundle(bundle)])),
    ],
    ['deprecation', formatApiDeprecation(channel.deprecation)],
  ])
}

function formatIndexedBundle(bundle: IndexedBundle): string {
  return marshalObject([
    ['package', marshalString(bundle.package)],
    ['channel', marshalString(bundle.channel)],
    ['name', marshalString(bundle.name)],
    ['replaces', marshalString(bundle.replaces)],
    ['skips', bundle.hasSkips ? marshalList(bundle.skips.map(marshalString)) : 'null'],
  ])
}

function formatApiDeprecation(deprecation: ApiDeprecation | undefined): string | undefined {
  return deprecation && marshalObject([['message', marshalString(deprecation.message)]])
}

/** An undefined value is a field that `omitempty` drops. */
type CacheJsonField = readonly [name: string, json: string | ByteChunkTree | undefined]

/** `PACKAGE_CHANNEL_BUNDLE.json`. The parts that are the same in all channels are formatted only once. */
export function createBundleCacheEncoder(
  content: ApiBundleFields,
  of: IndexedPackage,
  shared: EscapedJsonCache,
): (line: IndexedBundle) => JsonByteChunks {
  const identity: readonly CacheJsonField[] = [
    ['csvName', marshalNonEmptyString(content.name)],
    ['packageName', marshalNonEmptyString(of.name)],
  ]
  const manifests = createManifestJsonFields(buildBundleManifests(content, of), shared)
  const apis: readonly CacheJsonField[] = [
    ['bundlePath', marshalNonEmptyString(content.image)],
    ['providedApis', marshalNonEmptyList(content.providedApis.map(formatGroupVersionKind))],
    ['requiredApis', marshalNonEmptyList(content.requiredApis.map(formatGroupVersionKind))],
    ['version', marshalNonEmptyString(content.version)],
  ]
  const dependencies = marshalNonEmptyList(content.dependencies.map(formatPropertyOrDependency))
  const properties = content.properties.map(formatPropertyOrDependency)
  // A separate piece, because it is the same in all channels and longer than the other parts.
  const propertiesPiece = properties.length === 0 ? undefined : utf8Encoder.encode(marshalList(properties))
  return ({ channel, replaces, skips, skipRange, deprecation }) =>
    encodeJsonObject([
      ...identity,
      ['channelName', marshalNonEmptyString(channel)],
      ...manifests,
      ...apis,
      ['skipRange', marshalNonEmptyString(skipRange)],
      ['dependencies', dependencies],
      ['properties', propertiesPiece],
      ['replaces', marshalNonEmptyString(replaces)],
      ['skips', marshalNonEmptyList(skips.map(marshalString))],
      [
        'deprecation',
        deprecation && marshalObject([['message', marshalNonEmptyString(deprecation.message)]]),
      ],
    ])
}

/** A CSV that is one of the objects uses the same pieces in both places. */
function createManifestJsonFields(
  { csv, objects }: BundleManifests,
  shared: EscapedJsonCache,
): readonly CacheJsonField[] {
  const quoted = new Map<JsonChunkTree, JsonByteChunks>()
  const quotedOf = (json: JsonChunkTree) => getOrCreate(quoted, json, () => shared.quoted(json))
  const items = objects.flatMap((json, at) => [at === 0 ? openList : comma, quotedOf(json)])
  return [
    ['csvJson', csv && quotedOf(csv)],
    ['object', items.length === 0 ? undefined : [...items, closeList]],
  ]
}

const [openList, comma, closeList] = ['[', ',', ']'].map((text) => utf8Encoder.encode(text)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
]

function encodeJsonObject(fields: readonly CacheJsonField[]): JsonByteChunks {
  const pieces: ByteChunkTree[] = []
  let pending = ''
  let separator = '{'
  for (const [name, json] of fields) {
    if (json === undefined) continue
    pending += `${separator}"${name}":`
    separator = ','
    if (typeof json === 'string') pending += json
    else {
      pieces.push(utf8Encoder.encode(pending), json)
      pending = ''
    }
  }
  return [...pieces, utf8Encoder.encode(`${pending}}`)]
}

function formatGroupVersionKind({ group, version, kind }: GroupVersionKind): string {
  return marshalObject([
    ['group', marshalNonEmptyString(group)],
    ['version', marshalNonEmptyString(version)],
    ['kind', marshalNonEmptyString(kind)],
  ])
}

function formatPropertyOrDependency({ type, value }: ApiPropertyOrDependency): string {
  return marshalObject([
    ['type', marshalNonEmptyString(type)],
    ['value', marshalNonEmptyString(value)],
  ])
}

/** The content of a JSON string, without its quotes. */
function escapeJsonForEmbedding(json: string): Uint8Array {
  return utf8Encoder.encode(marshalString(json)).subarray(1, -1)
}
