// Why opm refuses a bundle, in opm's words. Thrown only below `readRegistryBundle`.
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
  /** Absent if the refusal isn't about a single place. */
  readonly at: RejectionLocation | undefined

  constructor(message: string, at?: RejectionLocation) {
    super(message)
    this.at = at
  }
}

/** Throws a Refusal with encoding/json's first error after `before`. `at` is the value's place. */
export function decodeOrThrow(
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
