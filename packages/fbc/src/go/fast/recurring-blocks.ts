// Text blocks that occur more than once in a file, because versions of an Operator differ in only a few lines. The
// reader compares a known block instead of reading it.
import type { TextBlockCache, ListValue, MapEntry, MapValue, ParsedValue } from '../tree.ts'

export type RecurringBlockReader = (bytes: Uint8Array, start: number, block: RecurringBlock) => ParsedValue

class LazyRecurringValue {
  readonly start: number
  readonly end: number
  private readonly bytes: Uint8Array
  private readonly block: RecurringBlock
  private readonly read: RecurringBlockReader
  private value: ParsedValue | undefined

  constructor(
    bytes: Uint8Array,
    start: number,
    end: number,
    block: RecurringBlock,
    read: RecurringBlockReader,
  ) {
    this.bytes = bytes
    this.start = start
    this.end = end
    this.block = block
    this.read = read
    this.value = undefined
  }

  get memo(): TextBlockCache {
    return this.block
  }

  protected tree(): ParsedValue {
    return (this.value ??= this.read(this.bytes, this.start, this.block))
  }
}

// Values whose text occurred earlier in the file. They are read lazily, and rarely needed.
export class LazyRecurringMap extends LazyRecurringValue implements MapValue {
  readonly kind = 'map'

  get entries(): readonly MapEntry[] {
    return (this.tree() as MapValue).entries
  }
}

export class LazyRecurringList extends LazyRecurringValue implements ListValue {
  readonly kind = 'list'

  get items(): readonly ParsedValue[] {
    return (this.tree() as ListValue).items
  }
}

/** Comparing a shorter block takes as long as reading it. */
const minRecurringBlockBytes = 48
/** A power of two. */
const maxRecurringBlockSlots = 8192
/** Real catalogs have fewer blocks, and garbage collection copies the slots of a small file, too. */
const bytesPerRecurringBlockSlot = 512
/**
 * The number of leading bytes that identify a block: long enough to get past registry names and common manifest heads.
 * A shorter block is only recognized if the text after it is also equal.
 */
const recurringBlockPrefixBytes = 128

export interface RecurringBlock extends TextBlockCache {
  readonly start: number
  length: number
  /** From its first byte to the end of its last value. */
  span: number
  /** Indentation of the block; the same text reads the same only in the same column. */
  readonly column: number
  readonly depth: number
  readonly kind: 'map' | 'list' | 'compact-list' | 'literal'
  literalIndent: number
  readonly firstLine: number
  lineCount: number
}

export function createRecurringBlock(
  kind: RecurringBlock['kind'],
  start: number,
  column: number,
  depth: number,
  firstLine: number,
): RecurringBlock {
  return {
    kind,
    start,
    length: 0,
    span: 0,
    column,
    depth,
    literalIndent: 0,
    firstLine,
    lineCount: 0,
    matchedType: undefined,
    plain: undefined,
    property: undefined,
    marshalled: undefined,
  }
}

/** Keeps only the latest of the blocks that share a slot, so the table never grows. */
export class RecurringBlockTable {
  private readonly bytes: Uint8Array
  private readonly view: DataView
  private readonly known: (RecurringBlock | undefined)[]

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const powerOfTwo = 1 << (32 - Math.clz32(bytes.length / bytesPerRecurringBlockSlot))
    this.known = new Array<RecurringBlock | undefined>(Math.min(powerOfTwo, maxRecurringBlockSlots))
  }

  /** Returns -1 near the end of the file, where no block can recur. */
  computeSlot(at: number, column: number): number {
    const { view } = this
    if (at + recurringBlockPrefixBytes > view.byteLength) return -1
    let hash = column
    // Half of the bytes are enough, because names and digests differ in more than four bytes.
    for (let offset = at; offset < at + recurringBlockPrefixBytes; offset += 8)
      hash = (hash << 5) ^ (hash >>> 27) ^ view.getInt32(offset, true)
    return (hash ^ (hash >>> 15)) & (this.known.length - 1)
  }

  find(
    slot: number,
    kind: RecurringBlock['kind'],
    at: number,
    column: number,
    depth: number,
  ): RecurringBlock | undefined {
    const block = slot < 0 ? undefined : this.known[slot]
    if (block?.kind !== kind || block.column !== column || block.depth !== depth) return undefined
    return this.isSame(block.start, at, block.length) ? block : undefined
  }

  record(slot: number, block: RecurringBlock): void {
    if (slot >= 0 && block.length >= minRecurringBlockBytes) this.known[slot] = block
  }

  private isSame(one: number, other: number, length: number): boolean {
    const { bytes, view } = this
    if (other + length > bytes.length) return false
    let at = 0
    for (; at + 4 <= length; at += 4)
      if (view.getInt32(one + at, true) !== view.getInt32(other + at, true)) return false
    for (; at < length; at++) if (bytes[one + at] !== bytes[other + at]) return false
    return true
  }
}

/** Texts that are read again contain nearly no known block. */
export const noRecurringBlocks = new RecurringBlockTable(new Uint8Array())
