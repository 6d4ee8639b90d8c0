// Builds a text in chunks, so that a hundred megabytes of one-letter pieces need no object per piece.

/** In code units. */
const textChunkCodeUnits = 8192

/** Longer pieces are kept by reference; shorter ones are copied. */
const maxCopiedTextLength = 256

/** Joins pieces after this many. */
const maxTextPieces = 1024

/** Avoids spreading the typed array, which is ten times slower. */
const decodeUtf16CodeUnits = (units: Uint16Array): string =>
  Reflect.apply(String.fromCharCode, undefined, units) as string

const utf8Decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export class TextBuilder {
  private readonly chunk = new Uint16Array(textChunkCodeUnits)
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
    if (this.used === textChunkCodeUnits) this.flush()
    this.chunk[this.used++] = unit
    this.bits |= unit
  }

  add(text: string, start = 0, end = text.length): void {
    const length = end - start
    if (length > maxCopiedTextLength) {
      this.flush()
      this.push(text.slice(start, end))
      return
    }
    if (this.used + length > textChunkCodeUnits) this.flush()
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
    if (this.pieces.push(piece) >= maxTextPieces) this.join()
  }

  private join(): void {
    this.joined.push(this.pieces.join(''))
    this.pieces = []
  }
}
