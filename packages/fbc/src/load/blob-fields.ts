// The fields of one document as canonical JSON (sorted keys, 64-bit floats). opm treats two blobs as identical if and
// only if these are equal.
import { formatGoJson, sortMapEntriesByKey } from '../go/json/json-text.ts'
import { splitDocuments } from './split-documents.ts'

/** By field name. A list is stored as the JSON of its items. */
export type BlobFields = ReadonlyMap<string, string | readonly string[]>

/** In characters. Longer values aren't compared, because aliases can expand without limit. */
const maxCanonicalBlobChars = 60_000_000

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
