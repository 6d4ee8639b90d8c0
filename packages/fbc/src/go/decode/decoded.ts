import type { ParsedValue } from '../tree.ts'

export interface DecodedFieldValues {
  get(field: string): DecodedValue
  has(field: string): boolean
}

export interface DecodedFieldSources {
  get(field: string): ParsedValue | undefined
}

export interface DecodedStruct {
  readonly fields: DecodedFieldValues
  readonly sources: DecodedFieldSources
  readonly at: ParsedValue
}

export type DecodedValue =
  string | boolean | number | Uint8Array | ParsedValue | DecodedStruct | DecodedList | undefined
export type DecodedList = DecodedValue[]
