import type { Value } from '../tree.ts'

export interface DecodedFields {
  get(field: string): DecodedValue
  has(field: string): boolean
}

export interface DecodedSources {
  get(field: string): Value | undefined
}

export interface DecodedStruct {
  readonly fields: DecodedFields
  readonly sources: DecodedSources
  readonly at: Value
}

export type DecodedValue =
  string | boolean | number | Uint8Array | Value | DecodedStruct | DecodedList | undefined
export type DecodedList = DecodedValue[]
