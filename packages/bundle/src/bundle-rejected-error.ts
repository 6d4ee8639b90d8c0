// Why opm rejects a bundle, in opm's words. Thrown only within `readRegistryBundle`.
import { decodeGoStruct } from '../go/decode/decode.ts'
import type { DecodedStruct } from '../go/decode/decoded.ts'
import type { StructType } from '../go/decode/go-type.ts'
import type { Value } from '../go/tree.ts'
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
  value: Value,
  before = '',
  at?: RejectionLocation,
): DecodedStruct {
  const { decoded, problems } = decodeGoStruct(type, value)
  const [first] = problems
  if (!first) return decoded
  const below = first.field === '' ? [] : first.field.split('.')
  throw new BundleRejectedError(before + first.message, at && { ...at, path: [...at.path, ...below] })
}
