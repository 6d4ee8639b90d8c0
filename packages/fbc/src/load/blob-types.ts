// The types of the four OLM blobs, as opm v1.73 declares them.
import {
  bytesType,
  rawMessageType,
  createSliceType,
  stringType,
  createStructType,
} from '../go/decode/go-type.ts'
import { formatGoJson, sortMapEntriesByKey } from '../go/json/json-text.ts'
import { splitDocuments } from './split-documents.ts'

/** By field name. A list is stored as the JSON of its items. */
export type BlobFields = ReadonlyMap<string, string | readonly string[]>

/** In characters. Longer values aren't compared, because aliases can expand without limit. */
const maxCanonicalBlobChars = 60_000_000
const propertyStructType = createStructType('property.Property', { type: stringType, value: rawMessageType })

export const packageStructType = createStructType('declcfg.Package', {
  schema: stringType,
  name: stringType,
  defaultChannel: stringType,
  icon: createStructType('declcfg.Icon', { base64data: bytesType, mediatype: stringType }),
  description: stringType,
  properties: createSliceType(propertyStructType),
})

export const channelStructType = createStructType('declcfg.Channel', {
  schema: stringType,
  name: stringType,
  package: stringType,
  entries: createSliceType(
    createStructType('declcfg.ChannelEntry', {
      name: stringType,
      replaces: stringType,
      skips: createSliceType(stringType),
      skipRange: stringType,
    }),
  ),
  properties: createSliceType(propertyStructType),
})

export const bundleStructType = createStructType('declcfg.Bundle', {
  schema: stringType,
  name: stringType,
  package: stringType,
  image: stringType,
  properties: createSliceType(propertyStructType),
  relatedImages: createSliceType(
    createStructType('declcfg.RelatedImage', { name: stringType, image: stringType }),
  ),
})

export const deprecationStructType = createStructType('declcfg.Deprecation', {
  schema: stringType,
  package: stringType,
  entries: createSliceType(
    createStructType('declcfg.DeprecationEntry', {
      reference: createStructType('declcfg.PackageScopedReference', { schema: stringType, name: stringType }),
      message: stringType,
    }),
  ),
})

// A document's fields as canonical JSON (sorted keys, 64-bit floats). Equal for blobs that opm treats as identical.

/** `document`: the bytes between a location's `start` and `end`. Returns undefined unless they are exactly one blob. */
export function parseBlobFields(document: Uint8Array): BlobFields | undefined {
  const [found, ...more] = [...splitDocuments(document)]
  if (!found?.meta || more.length > 0) return undefined
  const fields = new Map<string, string | readonly string[]>()
  let length = 0
  const text = (value: Parameters<typeof formatGoJson>[0]): string => {
    // One character more than the limit, so that truncated text counts as too long.
    const left = maxCanonicalBlobChars + 1 - length
    const written = formatGoJson(value, { escapeHtml: false, exactNumbers: false, maxLength: left })
    length += written.length
    return written
  }
  for (const { key, value } of sortMapEntriesByKey(found.meta.value.entries))
    fields.set(key, value.kind === 'list' ? value.items.map(text) : text(value))
  return length > maxCanonicalBlobChars ? undefined : fields
}
