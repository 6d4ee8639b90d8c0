import type { Value } from '../tree.ts'

export interface Fields {
  get(field: string): DecodedValue
  has(field: string): boolean
}

export interface Sources {
  get(field: string): Value | undefined
}

export interface Decoded {
  readonly fields: Fields
  readonly sources: Sources
  readonly at: Value
}

export type DecodedValue = string | boolean | number | Uint8Array | Value | Decoded | DecodedList | undefined
export type DecodedList = DecodedValue[]
