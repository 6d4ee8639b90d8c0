// Converts a document's meta to the facts of its blob, with opm's error texts.
import type {
  BlobPlace,
  BundleBlob,
  ChannelBlob,
  DeprecationBlob,
  PackageBlob,
  Property,
} from '../facts/catalog.ts'
import { sniffImage } from './sniff-image.ts'
import type { Value } from '../../go/tree.ts'
import { ownCopy } from '../../go/utf8.ts'
import { bundleObjectError, readBundleObject } from './bundle-object.ts'
import { bundleType, channelType, deprecationType, packageType } from './blob-types.ts'
import { csvMetadata } from './csv-metadata.ts'
import type { DecodeProblem } from '../../go/decode/decode.ts'
import type { Decoded } from '../../go/decode/decoded.ts'
import { decode, fieldName, structsOf, textOf, textsOf } from '../../go/decode/decode.ts'
import type { StructType } from '../../go/decode/go-type.ts'
import type { Places } from '../../go/places.ts'
import { plainJson } from '../../go/json/plain-json.ts'
import { propertyTypes } from './property-types.ts'

export interface ObjectProblem {
  readonly message: string
  readonly detail: string
  readonly at: Value
}

export interface BlobReading<Blob> {
  readonly blob: Blob
  /** Fields of a wrong type in Go's order, capped; opm names the first. */
  readonly problems: readonly DecodeProblem[]
  /** Undecodable olm.bundle.object properties, which opm reports right after the blob. */
  readonly objectProblems: readonly ObjectProblem[]
  /** The number of problems of either kind that aren't listed. */
  readonly moreProblems: number
}

/** Per file. */
const mostObjectProblems = 100

interface Source {
  readonly value: Value
  readonly place: BlobPlace
  readonly places: Places
  /** Allows leaving out what opm's verdict doesn't depend on. */
  readonly forVerdict: boolean
}

export function readPackage({ value, place, places }: Source): BlobReading<PackageBlob> {
  const { decoded, problems, moreProblems } = decode(packageType, value)
  const icon = decoded.fields.get('icon')
  const iconFacts = typeof icon === 'object' && 'fields' in icon ? iconOf(icon, places) : undefined
  const blob: PackageBlob = {
    place,
    name: text(decoded, 'name'),
    defaultChannel: text(decoded, 'defaultChannel'),
    description: text(decoded, 'description'),
    ...(iconFacts && { icon: iconFacts }),
  }
  return { blob, problems, objectProblems: [], moreProblems }
}

function iconOf(icon: Decoded, places: Places): PackageBlob['icon'] {
  const data = icon.fields.get('base64data')
  const bytes = data instanceof Uint8Array ? data.length : 0
  const mediatype = text(icon, 'mediatype')
  if (bytes === 0 && mediatype === '') return undefined
  const looksLike = data instanceof Uint8Array ? sniffImage(data) : undefined
  return { mediatype, bytes, mark: places.mark(icon.at.start), ...(looksLike !== undefined && { looksLike }) }
}

export function readChannel({ value, place, places }: Source): BlobReading<ChannelBlob> {
  const { decoded, problems, moreProblems } = decode(channelType, value)
  const blob: ChannelBlob = {
    place,
    name: text(decoded, 'name'),
    package: text(decoded, 'package'),
    entries: structsOf(decoded, 'entries').map((entry) => ({
      mark: places.mark(entry.at.start),
      name: text(entry, 'name'),
      replaces: text(entry, 'replaces'),
      skips: textsOf(entry, 'skips').map(ownCopy),
      skipRange: text(entry, 'skipRange'),
    })),
  }
  return { blob, problems, objectProblems: [], moreProblems }
}

export function readBundle({ value, place, places, forVerdict }: Source): BlobReading<BundleBlob> {
  const { decoded, problems, ...more } = decode(bundleType, value)
  let { moreProblems } = more
  const names = { name: text(decoded, 'name'), package: text(decoded, 'package') }
  const objectProblems: ObjectProblem[] = []
  let lastObject: (() => Uint8Array) | undefined
  const properties = structsOf(decoded, 'properties').map((property, index): Property => {
    const mark = places.mark(property.at.start)
    const memo = property.at.kind === 'map' ? property.at.memo : undefined
    if (memo?.property) return { mark, ...(memo.property as Bare) }
    const type = text(property, 'type')
    const inner = property.sources.get('value')
    if (type !== 'olm.bundle.object') {
      const bare: Bare = { type, ...readProperty(type, inner, forVerdict) }
      if (memo) memo.property = bare
      return { mark, ...bare }
    }
    const reading = readBundleObject(inner, lastObject)
    lastObject = reading.data
    if (reading.problem !== undefined && objectProblems.length >= mostObjectProblems) moreProblems++
    else if (reading.problem !== undefined) {
      const message = bundleObjectError(names, index, reading.problem)
      objectProblems.push({ message, detail: reading.problem, at: inner ?? property.at })
    }
    return { mark, type, value: reading.summary }
  })
  const image = decoded.sources.get('image')
  const blob: BundleBlob = {
    place,
    ...names,
    image: text(decoded, 'image'),
    ...(image && { imageMark: places.mark(image.start) }),
    properties,
    relatedImages: structsOf(decoded, 'relatedImages').map((related) => ({
      mark: places.mark(related.at.start),
      name: text(related, 'name'),
      image: text(related, 'image'),
    })),
  }
  return { blob, problems, objectProblems, moreProblems }
}

type Bare = Omit<Property, 'mark'>

/** opm's verdict depends on the values of these types. */
const judgedTypes: ReadonlySet<string> = new Set(['olm.package', 'olm.channel'])

function readProperty(
  type: string,
  value: Value | undefined,
  forVerdict: boolean,
): Pick<Property, 'value' | 'error'> {
  if (!value) return { value: null, error: 'unexpected end of JSON input' }
  const isLeftOut = forVerdict && !judgedTypes.has(type)
  const known: StructType | undefined = propertyTypes.get(type)
  if (!known) return { value: isLeftOut ? null : plainJson(value) }
  const { decoded, problems } = decode(known, value)
  const first = problems[0]
  const isRead = (key: string): boolean => fieldName(known, key) !== undefined
  const data = isLeftOut
    ? null
    : type === 'olm.csv.metadata'
      ? csvMetadata(decoded)
      : plainJson(value, isRead)
  return first ? { value: data, error: first.message } : { value: data }
}

export function readDeprecation({ value, place, places }: Source): BlobReading<DeprecationBlob> {
  const { decoded, problems, moreProblems } = decode(deprecationType, value)
  const blob: DeprecationBlob = {
    place,
    package: text(decoded, 'package'),
    entries: structsOf(decoded, 'entries').map((entry) => {
      const reference = entry.fields.get('reference')
      const isStruct = typeof reference === 'object' && 'fields' in reference
      return {
        mark: places.mark(entry.at.start),
        schema: isStruct ? text(reference, 'schema') : '',
        name: isStruct ? text(reference, 'name') : '',
        message: text(entry, 'message'),
      }
    }),
  }
  return { blob, problems, objectProblems: [], moreProblems }
}

function text(decoded: Decoded, field: string): string {
  return ownCopy(textOf(decoded, field))
}
