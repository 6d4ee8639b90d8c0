// Converts a document's meta to the facts of its blob, with opm's error messages.
import type {
  BlobLocation,
  BundleBlob,
  ChannelBlob,
  DeprecationBlob,
  PackageBlob,
  Property,
  CsvMetadata,
} from '../facts/catalog.ts'
import { LazyString } from '../go/fast/lazy-string.ts'
import { getMapValue, type ParsedValue } from '../go/tree.ts'
import { detachStringFromParent } from '../go/utf8.ts'
import { structTypeByPropertyType, formatBundleObjectError, parseBundleObject } from './property-types.ts'
import {
  bundleStructType,
  channelStructType,
  deprecationStructType,
  packageStructType,
} from './blob-types.ts'
import {
  type DecodeProblem,
  decodeGoStruct,
  getDecodedStructField,
  getDecodedStructList,
  getDecodedStringField,
  getDecodedStringList,
} from '../go/decode/decode.ts'
import { findStructFieldName, type StructType, type DecodedStruct } from '../go/decode/go-type.ts'
import type { PositionLookup } from '../go/position-lookup.ts'
import { toPlainJson } from '../go/json/json.ts'
import { sortMapEntriesByKey } from '../go/json/json-text.ts'

/** In bytes. An SVG can start with a declaration, comments, and a document type. */
const maxMediaTypeSniffBytes = 4096

const iconMagicBytes: readonly (readonly [mediatype: string, at: number, bytes: readonly number[]])[] = [
  ['image/png', 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', 0, [0xff, 0xd8, 0xff]],
  ['image/gif', 0, [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', 8, [0x57, 0x45, 0x42, 0x50]],
  ['image/bmp', 0, [0x42, 0x4d]],
  ['image/x-icon', 0, [0x00, 0x00, 0x01, 0x00]],
  ['image/tiff', 0, [0x49, 0x49, 0x2a, 0x00]],
  ['image/tiff', 0, [0x4d, 0x4d, 0x00, 0x2a]],
]

const mediaTypeByRootElement: Readonly<Record<string, string>> = {
  svg: 'image/svg+xml',
  html: 'text/html',
  head: 'text/html',
  body: 'text/html',
}

/** Annotations that rules, drawings, or change descriptions use. The others can be megabytes in size. */
const retainedCsvAnnotationNames = new Set([
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

export interface BundleObjectProblem {
  readonly message: string
  readonly detail: string
  readonly at: ParsedValue
}

export interface BlobParseResult<Blob> {
  readonly blob: Blob
  /** Fields with the wrong type, in Go's order, up to a limit. opm reports the first. */
  readonly problems: readonly DecodeProblem[]
  /** Undecodable olm.bundle.object properties, which opm reports right after the blob. */
  readonly objectProblems: readonly BundleObjectProblem[]
  /** The number of problems of both kinds that aren't listed. */
  readonly moreProblems: number
}

/** Per file. */
const maxBundleObjectProblems = 100

interface BlobParseInput {
  readonly value: ParsedValue
  readonly place: BlobLocation
  readonly positions: PositionLookup
  /** Allows omitting data that doesn't affect opm's verdict. */
  readonly forVerdict: boolean
}

export function parsePackageBlob(input: BlobParseInput): BlobParseResult<PackageBlob> {
  const { value, place, positions, forVerdict } = input
  const { decoded, problems, moreProblems } = decodeGoStruct(packageStructType, value)
  const icon = forVerdict ? undefined : getDecodedStructField(decoded, 'icon')
  const iconFacts = icon && parsePackageIcon(icon, positions)
  const blob: PackageBlob = {
    place,
    name: copyDecodedStringField(decoded, 'name'),
    defaultChannel: copyDecodedStringField(decoded, 'defaultChannel'),
    description: copyDecodedStringField(decoded, 'description'),
    ...(iconFacts && { icon: iconFacts }),
  }
  return { blob, problems, objectProblems: [], moreProblems }
}

function parsePackageIcon(icon: DecodedStruct, positions: PositionLookup): PackageBlob['icon'] {
  const data = icon.fields.get('base64data')
  const bytes = data instanceof Uint8Array ? data.length : 0
  const mediatype = copyDecodedStringField(icon, 'mediatype')
  if (bytes === 0 && mediatype === '') return undefined
  const looksLike = data instanceof Uint8Array ? sniffMediaType(data) : undefined
  return {
    mediatype,
    bytes,
    mark: positions.positionAt(icon.at.start),
    ...(looksLike !== undefined && { looksLike }),
  }
}

export function parseChannelBlob({ value, place, positions }: BlobParseInput): BlobParseResult<ChannelBlob> {
  const { decoded, problems, moreProblems } = decodeGoStruct(channelStructType, value)
  const blob: ChannelBlob = {
    place,
    name: copyDecodedStringField(decoded, 'name'),
    package: copyDecodedStringField(decoded, 'package'),
    entries: getDecodedStructList(decoded, 'entries').map((entry) => ({
      mark: positions.positionAt(entry.at.start),
      name: copyDecodedStringField(entry, 'name'),
      replaces: copyDecodedStringField(entry, 'replaces'),
      skips: getDecodedStringList(entry, 'skips').map(detachStringFromParent),
      skipRange: copyDecodedStringField(entry, 'skipRange'),
    })),
  }
  return { blob, problems, objectProblems: [], moreProblems }
}

export function parseBundleBlob({
  value,
  place,
  positions,
  forVerdict,
}: BlobParseInput): BlobParseResult<BundleBlob> {
  const { decoded, problems, ...more } = decodeGoStruct(bundleStructType, value)
  let { moreProblems } = more
  const names = {
    name: copyDecodedStringField(decoded, 'name'),
    package: copyDecodedStringField(decoded, 'package'),
  }
  const objectProblems: BundleObjectProblem[] = []
  let lastObject: (() => Uint8Array) | undefined
  const properties = getDecodedStructList(decoded, 'properties').map((property, index): Property => {
    const memo = property.at.kind === 'map' ? property.at.memo : undefined
    const known = memo?.property as Property | undefined
    const type = known?.type ?? copyDecodedStringField(property, 'type')
    const inner = known ? undefined : property.sources.get('value')
    if (type !== 'olm.bundle.object') {
      const read = known ?? { mark: omittedPosition, type, ...extractProperty(type, inner, forVerdict) }
      if (memo) memo.property = read
      const isOmitted = forVerdict && read.error === undefined && !opmValidatedPropertyTypes.has(type)
      return isOmitted ? read : { ...read, mark: positions.positionAt(property.at.start) }
    }
    const mark = positions.positionAt(property.at.start)
    const reading = parseBundleObject(inner, lastObject, forVerdict)
    lastObject = reading.data
    if (reading.problem !== undefined && objectProblems.length >= maxBundleObjectProblems) moreProblems++
    else if (reading.problem !== undefined) {
      const message = formatBundleObjectError(names, index, reading.problem)
      objectProblems.push({ message, detail: reading.problem, at: inner ?? property.at })
    }
    return { mark, type, value: forVerdict ? null : reading.summary }
  })
  const image = decoded.sources.get('image')
  const blob: BundleBlob = {
    place,
    ...names,
    image: copyDecodedStringField(decoded, 'image'),
    ...(image && { imageMark: positions.positionAt(image.start) }),
    properties,
    relatedImages: getDecodedStructList(decoded, 'relatedImages').map((related) => ({
      mark: positions.positionAt(related.at.start),
      name: forVerdict ? '' : copyDecodedStringField(related, 'name'),
      image: copyDecodedStringField(related, 'image'),
    })),
  }
  return { blob, problems, objectProblems, moreProblems }
}

/** The position of a property that no finding can be about. */
const omittedPosition = { line: 1, column: 1 }

/** opm's verdict depends on the values of these types. */
const opmValidatedPropertyTypes: ReadonlySet<string> = new Set(['olm.package', 'olm.channel'])

function extractProperty(type: string, value: ParsedValue | undefined, forVerdict: boolean) {
  if (!value) return { value: null, error: 'unexpected end of JSON input' }
  const isOmitted = forVerdict && !opmValidatedPropertyTypes.has(type)
  const known: StructType | undefined = structTypeByPropertyType.get(type)
  if (!known) return { value: isOmitted ? null : toPlainJson(value) }
  const { decoded, problems } = decodeGoStruct(known, value)
  const first = problems[0]
  const isKnownField = (key: string): boolean => findStructFieldName(known, key) !== undefined
  const data = isOmitted
    ? null
    : type === 'olm.csv.metadata'
      ? summarizeCsvMetadata(decoded)
      : toPlainJson(value, isKnownField)
  return first ? { value: data, error: first.message } : { value: data }
}

export function parseDeprecationBlob({
  value,
  place,
  positions,
}: BlobParseInput): BlobParseResult<DeprecationBlob> {
  const { decoded, problems, moreProblems } = decodeGoStruct(deprecationStructType, value)
  const blob: DeprecationBlob = {
    place,
    package: copyDecodedStringField(decoded, 'package'),
    entries: getDecodedStructList(decoded, 'entries').map((entry) => {
      const reference = getDecodedStructField(entry, 'reference')
      return {
        mark: positions.positionAt(entry.at.start),
        schema: reference ? copyDecodedStringField(reference, 'schema') : '',
        name: reference ? copyDecodedStringField(reference, 'name') : '',
        message: copyDecodedStringField(entry, 'message'),
      }
    }),
  }
  return { blob, problems, objectProblems: [], moreProblems }
}

function copyDecodedStringField(decoded: DecodedStruct, field: string): string {
  const text = getDecodedStringField(decoded, field)
  // A lazy string has no parent, because it is decoded alone.
  return getMapValue(decoded.at, field) instanceof LazyString ? text : detachStringFromParent(text)
}

function summarizeCsvMetadata(decoded: DecodedStruct): CsvMetadata {
  const provider = getDecodedStructField(decoded, 'provider')
  return {
    displayName: copyDecodedStringField(decoded, 'displayName'),
    description: getDecodedStringField(decoded, 'description').length,
    provider: provider ? copyDecodedStringField(provider, 'name') : '',
    minKubeVersion: copyDecodedStringField(decoded, 'minKubeVersion'),
    installModes: getDecodedStructList(decoded, 'installModes').map((mode) => ({
      type: copyDecodedStringField(mode, 'type'),
      supported: mode.fields.get('supported') === true,
    })),
    annotations: Object.fromEntries(pickRetainedCsvAnnotations(decoded)),
  }
}

function pickRetainedCsvAnnotations(decoded: DecodedStruct): [string, string][] {
  const annotations = decoded.sources.get('annotations')
  if (annotations?.kind !== 'map') return []
  return sortMapEntriesByKey(annotations.entries).flatMap(({ key, value }) =>
    value.kind === 'string' &&
    retainedCsvAnnotationNames.has(key) &&
    value.value.length <= maxAnnotationLength
      ? [[key, detachStringFromParent(value.value)]]
      : [],
  )
}

// Detects an image's media type from its first bytes, as browsers do.

/** Can also return `text/html` and `application/gzip`, because catalogs contain both. */
export function sniffMediaType(bytes: Uint8Array): string | undefined {
  for (const [mediatype, at, magicBytes] of iconMagicBytes) {
    if (magicBytes.every((byte, index) => bytes[at + index] === byte)) return mediatype
  }
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'application/gzip'
  const text = new TextDecoder().decode(bytes.subarray(0, maxMediaTypeSniffBytes)).trimStart()
  if (!text.startsWith('<')) return undefined
  const root = /<(?![!?])(?:[\w-]+:)?([a-z]+)/i.exec(text.replace(/<!--[\s\S]*?(?:-->|$)/g, ''))
  return mediaTypeByRootElement[root?.[1]?.toLowerCase() ?? '']
}
