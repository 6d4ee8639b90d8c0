// Puts a text together from pieces of others, in chunks: a text of a hundred megabytes made of pieces of one letter
// costs its own size, not an object for each piece.

/** Code units in a chunk. */
const chunkSize = 8192

/** Longer pieces are taken as they are; shorter ones are copied. */
const longestCopied = 256

/** So many pieces are made one at a time. */
const mostPieces = 1024

/** Spreading a typed array goes through its iterator, which takes ten times as long. */
const fromUnits = (units: Uint16Array): string =>
  Reflect.apply(String.fromCharCode, undefined, units) as string

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export class TextBuilder {
  private readonly chunk = new Uint16Array(chunkSize)
  private used = 0
  /** All code units of the chunk, or'ed: tells whether they are ASCII. */
  private bits = 0
  private pieces: string[] = []
  private joined: string[] = []

  get isEmpty(): boolean {
    return this.used === 0 && this.pieces.length === 0 && this.joined.length === 0
  }

  /** Forgets what was added. */
  clear(): void {
    this.used = 0
    this.bits = 0
    if (this.pieces.length > 0) this.pieces = []
    if (this.joined.length > 0) this.joined = []
  }

  /** Adds a UTF-16 code unit. */
  addUnit(unit: number): void {
    if (this.used === chunkSize) this.flush()
    this.chunk[this.used++] = unit
    this.bits |= unit
  }

  /** Adds `[start, end)` of a text. */
  add(text: string, start = 0, end = text.length): void {
    const length = end - start
    if (length > longestCopied) {
      this.flush()
      this.push(text.slice(start, end))
      return
    }
    if (this.used + length > chunkSize) this.flush()
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

  /** The text; the builder is empty then. */
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
    // Of ASCII the platform's decoder makes a text of one byte a letter, many times as fast.
    if (used > 64 && bits < 0x80) this.push(decoder.decode(Uint8Array.from(chunk.subarray(0, used))))
    else this.push(fromUnits(chunk.subarray(0, used)))
  }

  private push(piece: string): void {
    if (this.pieces.push(piece) >= mostPieces) this.join()
  }

  private join(): void {
    this.joined.push(this.pieces.join(''))
    this.pieces = []
  }
}
