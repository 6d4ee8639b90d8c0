// Extracts facts from base64 manifests without keeping a copy of the manifest.
import { decodeUnwrappedBase64 } from '../go/base64.ts'
import type { BundleObjectSummary } from '../facts/catalog.ts'
import { parseManifestIdentity } from '../go/fast/manifest-identity.ts'

/** Returns undefined for base64 with line ends or bad padding and for manifests that require the exact reader. */
export function skimBundleObject(base64: string): BundleObjectSummary | undefined {
  // 'e' is the first base64 letter of an opening brace.
  const json = base64.startsWith('e') ? decodeUnwrappedBase64(base64) : undefined
  const identity = json === undefined ? undefined : parseManifestIdentity(json)
  return json !== undefined && identity ? { ...identity, bytes: json.length } : undefined
}
