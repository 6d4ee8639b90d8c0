// Shares repeated short texts: catalogs repeat a few hundred keys, names and types a hundred thousand times.

const internTableSlotCount = 4096
const maxInternedBytes = 64
const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true })

class StringInternTable {
  private readonly texts: (string | undefined)[] = Array.from(
    { length: internTableSlotCount },
    () => undefined,
  )

  intern(bytes: Uint8Array, start: number, end: number): string {
    const length = end - start
    if (length > maxInternedBytes) return utf8Decoder.decode(bytes.subarray(start, end))
    let hash = length
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
    const slot = (hash ^ (hash >>> 13)) & (internTableSlotCount - 1)
    const known = this.texts[slot]
    if (known?.length === length && isAsciiTextEqualToBytes(known, bytes, start)) return known
    const text = utf8Decoder.decode(bytes.subarray(start, end))
    // Only ASCII has as many bytes as characters, and only ASCII can be compared as above.
    if (text.length === length) this.texts[slot] = text
    return text
  }
}

function isAsciiTextEqualToBytes(text: string, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < text.length; index++) {
    if (text.charCodeAt(index) !== bytes[start + index]) return false
  }
  return true
}

/** All readers share one table, because files repeat each other's texts. It never grows. */
export const sharedInternTable = new StringInternTable()
