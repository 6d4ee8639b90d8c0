// Names that OLM generates from a base and a suffix, and truncates to the length of a label. The suffix is usually a
// hash of the object.
import { sha224 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { escapeHtmlInJson } from '@catalog-bot/fbc/go/json/json-text'
import { decodeUtf8LikeGo } from '@catalog-bot/fbc/go/utf8'

const maxObjectNameBytes = 63

/** Truncates the base if both exceed 63 bytes. As in OLM, the dash doesn't count, so the result can have 64 bytes. */
export function formatObjectNameWithSuffix(base: string, suffix: string): string {
  const bytes = new TextEncoder().encode(base)
  const isLong = bytes.length + suffix.length > maxObjectNameBytes
  return `${isLong ? decodeUtf8LikeGo(bytes.subarray(0, maxObjectNameBytes - suffix.length - 1)) : base}-${suffix}`
}

/** The base with the hash of a value: base 36 of the SHA-224 of Go's JSON and a line feed. */
export function formatObjectNameWithHash(base: string, value: Json): string {
  // Keeps the order of the fields, because a Go struct is written in the order of its type.
  const hash = sha224(new TextEncoder().encode(`${escapeHtmlInJson(JSON.stringify(value))}\n`))
  return formatObjectNameWithSuffix(base, BigInt(`0x${bytesToHex(hash)}`).toString(36))
}
