// What decoding gives: fields by their Go names, whether they were decoded one by one or fit their type as they are.
import type { Value } from '../tree.ts'

export interface Fields {
  get(field: string): DecodedValue
  has(field: string): boolean
}

export interface Sources {
  get(field: string): Value | undefined
}

/** A decoded struct: the values of its fields, and where they came from. */
export interface Decoded {
  readonly fields: Fields
  readonly sources: Sources
  readonly at: Value
}

export type DecodedValue = string | boolean | number | Uint8Array | Value | Decoded | DecodedList | undefined
export type DecodedList = DecodedValue[]
