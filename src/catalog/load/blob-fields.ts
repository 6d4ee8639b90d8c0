// One document's bytes to its fields as comparable texts: two blobs say the same to opm exactly when these are equal.
// For comparing alone: the texts are canonical JSON (sorted keys, numbers as 64-bit floats), whatever the source was.
import { jsonText, sortedEntries } from '../../go/json/json-text.ts'
import { documentsOf } from './documents.ts'

/** Field name -> its value as canonical JSON; a list as the texts of its items. */
export type BlobFields = ReadonlyMap<string, string | readonly string[]>

/** What is longer is not compared by its fields: aliases can make a short text into an endless one. */
const longest = 60_000_000

/** Reads one document (the bytes between a place's `start` and `end`); undefined where it is not exactly one blob. */
export function readBlobFields(document: Uint8Array): BlobFields | undefined {
  const [found, ...more] = [...documentsOf(document)]
  if (!found?.meta || more.length > 0) return undefined
  const fields = new Map<string, string | readonly string[]>()
  let length = 0
  const text = (value: Parameters<typeof jsonText>[0]): string => {
    // Up to one more than may be: a text that was cut proves nothing, and must be seen to be too long.
    const left = longest + 1 - length
    const written = jsonText(value, { escapeHtml: false, exactNumbers: false, maxLength: left })
    length += written.length
    return written
  }
  for (const { key, value } of sortedEntries(found.meta.value.entries))
    fields.set(key, value.kind === 'list' ? value.items.map(text) : text(value))
  return length > longest ? undefined : fields
}
