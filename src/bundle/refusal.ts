// What makes opm give up on a bundle, in its words. Thrown only below `readRegistryBundle`, which makes it a value.
import { decode, type Decoded } from '../catalog/load/decode.ts'
import type { StructType } from '../catalog/load/go-type.ts'
import type { Value } from '../catalog/tree.ts'

export class Refusal extends Error {}

/** Decodes a value; throws a Refusal with encoding/json's first complaint behind `before`. */
export function decodeOrRefuse(type: StructType, value: Value, before = ''): Decoded {
  const { decoded, problems } = decode(type, value)
  const [first] = problems
  if (first) throw new Refusal(before + first.message)
  return decoded
}
