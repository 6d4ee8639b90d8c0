// Map keys as strings, each made once: catalogs repeat a few hundred keys a hundred thousand times.

const slots = 4096
const longest = 64

export class KeyTable {
  private readonly keys: (string | undefined)[] = Array.from({ length: slots }, () => undefined)

  /** The text of ASCII bytes `[start, end)`. */
  text(bytes: Uint8Array, start: number, end: number): string {
    if (end - start > longest) return ascii(bytes, start, end)
    let hash = end - start
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0
    const slot = (hash ^ (hash >>> 13)) & (slots - 1)
    const known = this.keys[slot]
    if (known?.length === end - start && matches(known, bytes, start)) return known
    const text = ascii(bytes, start, end)
    this.keys[slot] = text
    return text
  }
}

function matches(key: string, bytes: Uint8Array, start: number): boolean {
  for (let index = 0; index < key.length; index++) {
    if (key.charCodeAt(index) !== bytes[start + index]) return false
  }
  return true
}

/** The text of bytes known to be ASCII. Short ones are faster without a decoder. */
export function ascii(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > 24) return decoder.decode(bytes.subarray(start, end))
  let text = ''
  for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] as number)
  return text
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
