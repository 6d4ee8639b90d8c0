// Why opm rejects a bundle, in opm's words. Thrown only within `readRegistryBundle`.
import { decodeGoStruct } from '@catalog-bot/fbc/go/decode/decode'
import type { DecodedStruct } from '@catalog-bot/fbc/go/decode/decoded'
import type { StructType } from '@catalog-bot/fbc/go/decode/go-type'
import type { ParsedValue } from '@catalog-bot/fbc/go/tree'
import type { FieldPath } from './bundle-locator.ts'

export interface RejectionLocation {
  readonly file: string
  readonly path: FieldPath
}

export class BundleRejectedError extends Error {
  /** Absent if the rejection doesn't concern a single location. */
  readonly at: RejectionLocation | undefined

  constructor(message: string, at?: RejectionLocation) {
    super(message)
    this.at = at
  }
}

/** Throws a BundleRejectedError with encoding/json's first error after `before`. `at` is the value's location. */
export function decodeStructOrThrow(
  type: StructType,
  value: ParsedValue,
  before = '',
  at?: RejectionLocation,
): DecodedStruct {
  const { decoded, problems } = decodeGoStruct(type, value)
  const [first] = problems
  if (!first) return decoded
  const below = first.field === '' ? [] : first.field.split('.')
  throw new BundleRejectedError(before + first.message, at && { ...at, path: [...at.path, ...below] })
}
