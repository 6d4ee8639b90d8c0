// Names that OLM makes up: a base and a suffix, cut to what a label may hold, the suffix mostly a hash of what is named.
import type { Json } from '../../go/json/json.ts'
import { decodeLikeGo } from '../../go/utf8.ts'
import { sha224 } from './sha224.ts'

const maxNameLength = 63

/** The base is cut where both are longer than 63 bytes; the dash is not counted, so 64 are possible, as in OLM. */
export function formatObjectName(base: string, suffix: string): string {
  const bytes = new TextEncoder().encode(base)
  const isLong = bytes.length + suffix.length > maxNameLength
  return `${isLong ? decodeLikeGo(bytes.subarray(0, maxNameLength - suffix.length - 1)) : base}-${suffix}`
}

/** The base with the hash of a value: base 36 of SHA-224 of the JSON that Go writes, a line feed behind it. */
export function formatHashedName(base: string, value: Json): string {
  const text = `${formatGoStructJson(value)}\n`
  return formatObjectName(base, BigInt(`0x${sha224(new TextEncoder().encode(text))}`).toString(36))
}

/** The fields in the order in which they stand: a Go struct's is the order of its type. */
function formatGoStructJson(value: Json): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
