// Blocks of text that stand in a file more than once: the versions of an Operator differ in a few lines, and the rest
// of what a catalog says about them is the same, byte for byte. A block that is known is compared, not read.
import type { BlockMemo } from '../tree.ts'

/** Shorter blocks are read as fast as they are compared. */
const shortest = 48
/** A power of two. */
const slots = 8192
/**
 * Blocks are told apart by so many first bytes: images differ behind their registry's name, manifests behind what all of
 * a kind begin with. A shorter block is known again only where what follows it is the same too, as it mostly is.
 */
const prefix = 128

/** A block that was read, from its first byte to the line behind it. */
export interface KnownBlock {
  readonly start: number
  /** Filled in, as the others, when the block was read. */
  length: number
  /** From its first byte to the end of its last value. */
  span: number
  /** Blanks in front of the block's lines; a block reads the same only at the same place in a line. */
  readonly column: number
  readonly depth: number
  readonly kind: 'map' | 'list' | 'compact-list' | 'literal'
  /** Blanks in front of a literal's lines. */
  literalIndent: number
  /** Where its lines are noted. */
  readonly firstLine: number
  lineCount: number
  readonly memo: BlockMemo
}

/** The blocks of one file; keeps the latest of those that begin alike, so it never grows. */
export class RecurringBlocks {
  private readonly bytes: Uint8Array
  private readonly known = new Map<number, KnownBlock>()
  private ownView: DataView | undefined

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  /** Made when a block is looked at: what is read again mostly holds none. */
  private get view(): DataView {
    const { buffer, byteOffset, byteLength } = this.bytes
    return (this.ownView ??= new DataView(buffer, byteOffset, byteLength))
  }

  /** Where a block that begins at `at` is remembered; -1 so close to the end of the file that none can recur. */
  slotOf(at: number, column: number): number {
    const { view } = this
    if (at + prefix > view.byteLength) return -1
    let hash = column
    // Half of the bytes tell as much: what differs are names and digests, longer than four.
    for (let offset = at; offset < at + prefix; offset += 8)
      hash = (Math.imul(hash, 0x9e3779b1) ^ view.getInt32(offset, true)) | 0
    return (hash ^ (hash >>> 15)) & (slots - 1)
  }

  /** A block known to stand in the slot, if its text is also the text at `at`. */
  find(
    slot: number,
    kind: KnownBlock['kind'],
    at: number,
    column: number,
    depth: number,
  ): KnownBlock | undefined {
    const block = this.known.get(slot)
    if (block?.kind !== kind || block.column !== column || block.depth !== depth) return undefined
    return this.isSame(block.start, at, block.length) ? block : undefined
  }

  remember(slot: number, block: KnownBlock): void {
    if (slot >= 0 && block.length >= shortest) this.known.set(slot, block)
  }

  private isSame(one: number, other: number, length: number): boolean {
    const { bytes, view } = this
    if (other + length > bytes.length) return false
    let at = 0
    // Four words at a time, since most of what begins alike is the same to its end.
    for (; at + 16 <= length; at += 16) {
      const from = one + at
      const to = other + at
      const differs =
        (view.getInt32(from, true) ^ view.getInt32(to, true)) |
        (view.getInt32(from + 4, true) ^ view.getInt32(to + 4, true)) |
        (view.getInt32(from + 8, true) ^ view.getInt32(to + 8, true)) |
        (view.getInt32(from + 12, true) ^ view.getInt32(to + 12, true))
      if (differs !== 0) return false
    }
    for (; at < length; at++) if (bytes[one + at] !== bytes[other + at]) return false
    return true
  }
}
