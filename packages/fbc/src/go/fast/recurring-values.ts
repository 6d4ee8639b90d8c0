// Values whose text occurred earlier in the file (recurring-blocks.ts). They are read lazily, and rarely needed.
import type { BlockMemo, ListValue, MapEntry, MapValue, Value } from '../tree.ts'
import type { KnownBlock } from './recurring-blocks.ts'

export type BlockReader = (bytes: Uint8Array, start: number, block: KnownBlock) => Value

class RecurringValue {
  readonly start: number
  readonly end: number
  private readonly bytes: Uint8Array
  private readonly block: KnownBlock
  private readonly read: BlockReader
  private value: Value | undefined

  constructor(bytes: Uint8Array, start: number, end: number, block: KnownBlock, read: BlockReader) {
    this.bytes = bytes
    this.start = start
    this.end = end
    this.block = block
    this.read = read
    this.value = undefined
  }

  get memo(): BlockMemo {
    return this.block.memo
  }

  protected tree(): Value {
    return (this.value ??= this.read(this.bytes, this.start, this.block))
  }
}

export class RecurringMap extends RecurringValue implements MapValue {
  declare readonly kind: 'map'

  get entries(): readonly MapEntry[] {
    return (this.tree() as MapValue).entries
  }
}

export class RecurringList extends RecurringValue implements ListValue {
  declare readonly kind: 'list'

  get items(): readonly Value[] {
    return (this.tree() as ListValue).items
  }
}

// On the prototypes, so that they cost nothing in each value.
Object.defineProperty(RecurringMap.prototype, 'kind', { value: 'map' })
Object.defineProperty(RecurringList.prototype, 'kind', { value: 'list' })
