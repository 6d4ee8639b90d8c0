// The CRDs of one bundle after those of another: what OLM v1 refuses to upgrade (its preflight crdupgradesafety).
import type { Finding } from '../../findings/finding.ts'
import type { BundleFiles } from '../bundle-files.ts'

/** What an upgrade from one bundle to the other would break; places are in `after`. */
export function checkCrdUpgrade(_before: BundleFiles, _after: BundleFiles): readonly Finding[] {
  return []
}
