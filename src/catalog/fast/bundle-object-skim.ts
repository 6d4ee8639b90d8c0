// An olm.bundle.object's data, from base64 to the facts kept of it, without a copy of the manifest that outlives this.
import type { BundleObject } from '../catalog.ts'
import { skimManifest } from './manifest-skim.ts'

/**
 * The summary of a manifest given as base64, or undefined where the exact reader must be asked: for base64 that is
 * not strictly plain (line ends, bad padding), and for manifests that are not plain JSON.
 */
export function skimBundleObject(base64: string): BundleObject | undefined {
  // An encoded opening brace; what follows decides the rest of the first letters.
  if (!base64.startsWith('e') || base64.length % 4 !== 0) return undefined
  let json: string
  try {
    json = atob(base64)
  } catch {
    return undefined
  }
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  // atob passes over blanks and line ends, Go over line ends only; then there would be fewer bytes.
  if (json.length !== (base64.length / 4) * 3 - padding) return undefined
  const identity = skimManifest(json)
  return identity && { ...identity, bytes: json.length }
}
