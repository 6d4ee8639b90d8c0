// An olm.bundle.object's data, from base64 to the facts kept of it, without a copy of the manifest that outlives this.
import { decodePlain } from '../../go/base64.ts'
import type { BundleObject } from '../facts/catalog.ts'
import { skimManifest } from '../../go/fast/manifest-skim.ts'

/**
 * The summary of a manifest given as base64, or undefined where the exact reader must be asked: for base64 that is
 * not strictly plain (line ends, bad padding), and for manifests that are not plain JSON.
 */
export function skimBundleObject(base64: string): BundleObject | undefined {
  // The first letter of an encoded opening brace.
  const json = base64.startsWith('e') ? decodePlain(base64) : undefined
  const identity = json === undefined ? undefined : skimManifest(json)
  return json !== undefined && identity ? { ...identity, bytes: json.length } : undefined
}
