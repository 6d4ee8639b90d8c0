// UTF-8 as Go reads it: every byte that is not part of a character is one U+FFFD, and nothing throws.

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of well-formed UTF-8 (a BOM is text), or undefined. */
export function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

/** Half a surrogate pair, which no text in UTF-8 has: marks a byte that Go keeps although it is part of no character. */
export const brokenByte = '\udfff'

/** The text as Go's string and JSON packages see it. `broken` stands where a byte is part of no character. */
export function decodeLikeGo(bytes: Uint8Array, broken = '\ufffd'): string {
  const whole = decodeStrictly(bytes)
  if (whole !== undefined) return whole
  let text = ''
  let runStart = 0
  for (let at = 0; at < bytes.length;) {
    const width = characterWidth(bytes, at)
    if (width > 0) {
      at += width
      continue
    }
    if (at > runStart) text += strict.decode(bytes.subarray(runStart, at))
    text += broken
    at++
    runStart = at
  }
  return text + strict.decode(bytes.subarray(runStart))
}

/** The number of bytes of the character at `at`, or 0 where none begins there. */
export function characterWidth(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  if (first < 0x80) return 1
  const width = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  if (width === 0 || at + width > bytes.length) return 0
  const second = bytes[at + 1] as number
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  if (second < low || second > high) return 0
  for (let more = 2; more < width; more++) if (((bytes[at + more] as number) & 0xc0) !== 0x80) return 0
  return width
}

/** Byte offsets of positions in decodeLikeGo(bytes). Made for asking in ascending order: going back begins anew. */
export class ByteOffsets {
  private readonly bytes: Uint8Array
  private readonly isIdentity: boolean
  private unit = 0
  private byte = 0

  constructor(bytes: Uint8Array, text: string) {
    this.bytes = bytes
    this.isIdentity = bytes.length === text.length
  }

  at(unit: number): number {
    // As many bytes as code units: all of it is ASCII (or single bad bytes, which are one unit each).
    if (this.isIdentity) return unit
    if (unit < this.unit) this.beginAnew()
    while (this.unit < unit && this.byte < this.bytes.length) {
      const width = characterWidth(this.bytes, this.byte)
      this.byte += Math.max(width, 1)
      this.unit += width === 4 ? 2 : 1
    }
    return this.byte
  }

  /** The reverse: the position of a byte offset at which a character begins. */
  unitAt(byte: number): number {
    if (this.isIdentity) return byte
    if (byte < this.byte) this.beginAnew()
    while (this.byte < byte) this.at(this.unit + 1)
    return this.unit
  }

  private beginAnew(): void {
    this.unit = 0
    this.byte = 0
  }
}

/** A copy that does not keep the text it was cut from in memory. */
export function ownCopy(text: string): string {
  // Short strings are copied when they are cut; V8 makes a reference into the parent only from 13 units on. Cutting
  // a string that was just put together refers to the new one: far cheaper than encoding and decoding.
  return text.length < 13 ? text : ` ${text}`.slice(1)
}
