import { mapOf, string, struct } from './go-type.ts'

export const objectMetaType = struct('v1.ObjectMeta', {
  name: string,
  generateName: string,
  namespace: string,
  annotations: mapOf(string),
  labels: mapOf(string),
})

/** The part of an object that opm reads before it reads a CSV's spec. */
export const objectType = struct('v1.TypeMeta', {
  apiVersion: string,
  kind: string,
  metadata: objectMetaType,
})
