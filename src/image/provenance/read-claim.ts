// What somebody put beside an image, read strictly: what two readers could understand otherwise claims nothing.
import { RegistryError } from '../../registry/registry-error.ts'
import { parseStrictJson, type Shape } from '../../registry/strict-json.ts'

/** The document, or why it is refused; `what` begins the sentence. */
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
