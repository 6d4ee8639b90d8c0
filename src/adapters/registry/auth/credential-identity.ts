// Identifies a credential in cache keys without revealing it, because credentials differ in what they can access.
import { createHash } from 'node:crypto'
import type { RegistryCredential } from './credentials.ts'

/** `anonymous`, or 32 hex digits of a digest over the credential. */
export function computeCredentialIdentity(credential: RegistryCredential): string {
  if (credential.kind === 'anonymous') return 'anonymous'
  return createHash('sha256').update(JSON.stringify(credential)).digest('hex').slice(0, 32)
}
