// Strictly parses untrusted attachments and rejects anything ambiguous.
import { RegistryError } from '../../registry/registry-error.ts'
import { parseStrictJson, type JsonShape } from '../../registry/strict-json.ts'

export function parseJsonClaim<Claim extends object>(
  bytes: Uint8Array,
  shape: JsonShape,
  label: string,
): { readonly claim: Claim } | { readonly problem: string } {
  try {
    return { claim: parseStrictJson(bytes, shape) as Claim }
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    return { problem: `${label} is invalid: ${error.message}` }
  }
}
