// UTF-8 as Go decodes it, and a builder for long strings.

const textChunkSizeCodeUnits = 8192

/** Longer pieces are stored by reference, and shorter ones are copied. */
const maxCopiedStringLength = 256

/** Joins pieces after this many. */
const maxPendingStringChunks = 1024

/** Avoids spreading the typed array, which is ten times slower. */
const decodeUtf16CodeUnits = (units: Uint16Array) =>
  Reflect.apply(String.fromCharCode, undefined, units) as string

const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true })

// Builds a text in chunks, so that a hundred megabytes of one-letter pieces need no object per piece.
export class TextBuilder {
  private readonly chunk = new Uint16Array(textChunkSizeCodeUnits)
  private used = 0
  /** All code units of the chunk combined by OR, to detect ASCII. */
  private bits = 0
  private pieces: string[] = []
  private joined: string[] = []

  get isEmpty(): boolean {
    return this.used === 0 && this.pieces.length === 0 && this.joined.length === 0
  }

  clear(): void {
    this.used = 0
    this.bits = 0
    if (this.pieces.length > 0) this.pieces = []
    if (this.joined.length > 0) this.joined = []
  }

  addUnit(unit: number): void {
    if (this.used === textChunkSizeCodeUnits) this.flush()
    this.chunk[this.used++] = unit
    this.bits |= unit
  }

  add(text: string, start = 0, end = text.length): void {
    const length = end - start
    if (length > maxCopiedStringLength) {
      this.flush()
      this.push(text.slice(start, end))
      return
    }
    if (this.used + length > textChunkSizeCodeUnits) this.flush()
    const { chunk } = this
    let { used, bits } = this
    for (let at = start; at < end; at++) {
      const unit = text.charCodeAt(at)
      chunk[used++] = unit
      bits |= unit
    }
    this.used = used
    this.bits = bits
  }

  /** Returns the text and empties the builder. */
  take(): string {
    this.flush()
    if (this.joined.length > 0) this.join()
    const { pieces, joined } = this
    const text =
      joined.length > 0 ? joined.join('') : pieces.length === 1 ? (pieces[0] as string) : pieces.join('')
    this.clear()
    return text
  }

  private flush(): void {
    const { chunk, used, bits } = this
    if (used === 0) return
    this.used = 0
    this.bits = 0
    // For ASCII, the platform's decoder creates a one-byte string, which is many times faster.
    if (used > 64 && bits < 0x80) this.push(utf8Decoder.decode(Uint8Array.from(chunk.subarray(0, used))))
    else this.push(decodeUtf16CodeUnits(chunk.subarray(0, used)))
  }

  private push(piece: string): void {
    if (this.pieces.push(piece) >= maxPendingStringChunks) this.join()
  }

  private join(): void {
    this.joined.push(this.pieces.join(''))
    this.pieces = []
  }
}

// Decodes UTF-8 like Go: every invalid byte becomes one U+FFFD, without errors.

const strictUtf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Returns undefined for invalid UTF-8. Keeps a BOM as text. */
export function decodeUtf8Strictly(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8Decoder.decode(bytes)
  } catch {
    return undefined
  }
}

/** A lone surrogate, which valid text cannot contain: marks an invalid byte that Go keeps. */
export const invalidUtf8ByteMarker = '\udfff'

/** The text as Go's string and JSON packages see it. `broken` replaces invalid bytes. */
export function decodeUtf8LikeGo(bytes: Uint8Array, broken = '\ufffd'): string {
  const whole = decodeUtf8Strictly(bytes)
  if (whole !== undefined) return whole
  let text = ''
  let runStart = 0
  for (let at = 0; at < bytes.length;) {
    const width = getUtf8CharacterLength(bytes, at)
    if (width > 0) {
      at += width
      continue
    }
    if (at > runStart) text += strictUtf8Decoder.decode(bytes.subarray(runStart, at))
    text += broken
    at++
    runStart = at
  }
  return text + strictUtf8Decoder.decode(bytes.subarray(runStart))
}

/** In bytes; 0 if no character begins at `at`. */
export function getUtf8CharacterLength(bytes: Uint8Array, at: number): number {
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

/** Maps positions in decodeUtf8LikeGo(bytes) to byte offsets. Fast in ascending order; going back restarts. */
export class ByteOffsetLookup {
  private readonly bytes: Uint8Array
  private readonly isIdentity: boolean
  private unit = 0
  private byte = 0

  constructor(bytes: Uint8Array, text: string) {
    this.bytes = bytes
    this.isIdentity = bytes.length === text.length
  }

  at(unit: number): number {
    // One byte per code unit: all ASCII, or single invalid bytes.
    if (this.isIdentity) return unit
    if (unit < this.unit) this.restart()
    while (this.unit < unit && this.byte < this.bytes.length) {
      const width = getUtf8CharacterLength(this.bytes, this.byte)
      this.byte += Math.max(width, 1)
      this.unit += width === 4 ? 2 : 1
    }
    return this.byte
  }

  unitAt(byte: number): number {
    if (this.isIdentity) return byte
    if (byte < this.byte) this.restart()
    while (this.byte < byte) this.at(this.unit + 1)
    return this.unit
  }

  private restart(): void {
    this.unit = 0
    this.byte = 0
  }
}

/** Copies a text so that it does not keep its parent in memory. */
export function detachStringFromParent(text: string): string {
  // V8 copies short slices; from 13 units on a slice refers to its parent. Slicing a new string refers to that one,
  // which is far cheaper than encoding and decoding.
  return text.length < 13 ? text : ` ${text}`.slice(1)
}

export function computeUtf8ByteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
