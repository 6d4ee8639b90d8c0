// Values whose text occurred earlier in the file (recurring-blocks.ts). They are read lazily, and rarely needed.
import type { TextBlockCache, ListValue, MapEntry, MapValue, ParsedValue } from '../tree.ts'
import type { RecurringBlock } from './recurring-blocks.ts'

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
    return this.block.memo
  }

  protected tree(): ParsedValue {
    return (this.value ??= this.read(this.bytes, this.start, this.block))
  }
}

export class LazyRecurringMap extends LazyRecurringValue implements MapValue {
  declare readonly kind: 'map'

  get entries(): readonly MapEntry[] {
    return (this.tree() as MapValue).entries
  }
}

export class LazyRecurringList extends LazyRecurringValue implements ListValue {
  declare readonly kind: 'list'

  get items(): readonly ParsedValue[] {
    return (this.tree() as ListValue).items
  }
}

// On the prototypes, so that they cost nothing in each value.
Object.defineProperty(LazyRecurringMap.prototype, 'kind', { value: 'map' })
Object.defineProperty(LazyRecurringList.prototype, 'kind', { value: 'list' })
