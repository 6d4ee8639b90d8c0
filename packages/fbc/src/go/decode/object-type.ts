import { createMapType, stringType, createStructType } from './go-type.ts'

export const objectMetaStructType = createStructType('v1.ObjectMeta', {
  name: stringType,
  generateName: stringType,
  namespace: stringType,
  annotations: createMapType(stringType),
  labels: createMapType(stringType),
})

/** The part of an object that opm reads before it reads a CSV's spec. */
export const kubernetesObjectStructType = createStructType('v1.TypeMeta', {
  apiVersion: stringType,
  kind: stringType,
  metadata: objectMetaStructType,
})
