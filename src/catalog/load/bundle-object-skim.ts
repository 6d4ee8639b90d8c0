// Extracts facts from base64 manifests without keeping a copy of the manifest.
import { decodePlain } from '../../go/base64.ts'
import type { BundleObject } from '../facts/catalog.ts'
import { skimManifest } from '../../go/fast/manifest-skim.ts'

/** Returns undefined for base64 with line ends or bad padding and for manifests that need the exact reader. */
export function skimBundleObject(base64: string): BundleObject | undefined {
  // 'e' is the first base64 letter of an opening brace.
  const json = base64.startsWith('e') ? decodePlain(base64) : undefined
  const identity = json === undefined ? undefined : skimManifest(json)
  return json !== undefined && identity ? { ...identity, bytes: json.length } : undefined
}
