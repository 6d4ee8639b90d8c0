// The Go types of any Kubernetes object's head, as opm decodes it.
import { mapOf, string, struct } from './go-type.ts'

export const objectMeta = struct('v1.ObjectMeta', {
  name: string,
  generateName: string,
  namespace: string,
  annotations: mapOf(string),
  labels: mapOf(string),
})

/** Any object, as far as opm reads a CSV before it looks at its spec. */
export const objectType = struct('v1.TypeMeta', { apiVersion: string, kind: string, metadata: objectMeta })
