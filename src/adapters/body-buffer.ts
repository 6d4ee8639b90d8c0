// Collects the body of a request or a response in one buffer.

/**
 * Copies each piece, because the sender chooses the size of the pieces. A piece of one byte takes 300 bytes of memory, and
 * all bytes that arrived with it stay in memory, too.
 */
export class BodyBuffer {
  #bytes = Buffer.alloc(0)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#length))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#bytes.set(piece, this.#length)
    this.#length = length
  }

  /** All pieces. Its memory isn't larger than the body. */
  toBuffer(): Buffer {
    return this.#length === this.#bytes.length
      ? this.#bytes
      : Buffer.from(this.#bytes.subarray(0, this.#length))
  }
}
