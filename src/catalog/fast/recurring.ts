// Values of texts that stand in their file before (recurring-blocks.ts): read when somebody asks what is in them, which
// for most of a catalog nobody does.
import type { BlockMemo, ListValue, MapEntry, MapValue, Value } from '../tree.ts'

class Recurring {
  readonly start: number
  readonly end: number
  readonly memo: BlockMemo
  private readonly read: () => Value
  private value: Value | undefined

  constructor(start: number, end: number, memo: BlockMemo, read: () => Value) {
    this.start = start
    this.end = end
    this.memo = memo
    this.read = read
  }

  protected tree(): Value {
    return (this.value ??= this.read())
  }
}

export class RecurringMap extends Recurring implements MapValue {
  declare readonly kind: 'map'

  get entries(): readonly MapEntry[] {
    return (this.tree() as MapValue).entries
  }
}

export class RecurringList extends Recurring implements ListValue {
  declare readonly kind: 'list'

  get items(): readonly Value[] {
    return (this.tree() as ListValue).items
  }
}

// On the prototypes, so that they cost nothing in each value.
Object.defineProperty(RecurringMap.prototype, 'kind', { value: 'map' })
Object.defineProperty(RecurringList.prototype, 'kind', { value: 'list' })
