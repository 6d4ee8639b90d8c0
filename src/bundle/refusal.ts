// Why opm refuses a bundle, in opm's words. Thrown only below `readRegistryBundle`.
import { decode } from '../go/decode/decode.ts'
import type { Decoded } from '../go/decode/decoded.ts'
import type { StructType } from '../go/decode/go-type.ts'
import type { Value } from '../go/tree.ts'
import type { Path } from './bundle-places.ts'

export interface RefusedPlace {
  readonly file: string
  readonly path: Path
}

export class Refusal extends Error {
  /** Absent if the refusal isn't about a single place. */
  readonly at: RefusedPlace | undefined

  constructor(message: string, at?: RefusedPlace) {
    super(message)
    this.at = at
  }
}

/** Throws a Refusal with encoding/json's first error after `before`. `at` is the value's place. */
export function decodeOrRefuse(type: StructType, value: Value, before = '', at?: RefusedPlace): Decoded {
  const { decoded, problems } = decode(type, value)
  const [first] = problems
  if (!first) return decoded
  const below = first.field === '' ? [] : first.field.split('.')
  throw new Refusal(before + first.message, at && { ...at, path: [...at.path, ...below] })
}
