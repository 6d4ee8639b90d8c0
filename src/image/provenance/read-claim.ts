// Strictly parses untrusted attachments and rejects anything ambiguous.
import { RegistryError } from '../../registry/registry-error.ts'
import { parseStrictJson, type Shape } from '../../registry/strict-json.ts'

export function readClaim<Claim extends object>(
  bytes: Uint8Array,
  shape: Shape,
  what: string,
): { readonly claim: Claim } | { readonly problem: string } {
  try {
    return { claim: parseStrictJson(bytes, shape) as Claim }
  } catch (error) {
    if (!(error instanceof RegistryError)) throw error
    return { problem: `${what} is refused: ${error.message}` }
  }
}
