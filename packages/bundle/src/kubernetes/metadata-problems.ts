// `ValidateObjectMeta` of k8s.io/apimachinery for objects without a namespace, as `opm alpha bundle validate` calls it.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import type { FieldPath } from '../bundle-locator.ts'
import { getJsonFieldAtPath, asListOrEmpty, asObjectOrEmpty, asStringOrEmpty } from '../fields.ts'
import { isLabelValue, isQualifiedName } from './names.ts'

/** Bytes of all keys and values. */
const maxAnnotationBytes = 256 * 1024

export function* findMetadataProblems(object: Json): Generator<readonly [FieldPath, string]> {
  const metadata = getJsonFieldAtPath(object, 'metadata')
  if (asStringOrEmpty(getJsonFieldAtPath(metadata, 'name')) === '') yield [['metadata'], 'it has no name']
  const namespace = asStringOrEmpty(getJsonFieldAtPath(metadata, 'namespace'))
  if (namespace !== '')
    yield [
      ['metadata', 'namespace'],
      `it sets the namespace "${namespace}", but a bundle can't choose namespaces`,
    ]
  for (const [key, value] of Object.entries(asObjectOrEmpty(getJsonFieldAtPath(metadata, 'labels')))) {
    const path = ['metadata', 'labels', key]
    if (!isQualifiedName(key)) yield [path, `"${key}" is not a valid label key`]
    if (typeof value === 'string' ? !isLabelValue(value) : value !== null)
      yield [path, `the label "${key}" has an invalid value`]
  }
  let size = 0
  for (const [key, value] of Object.entries(asObjectOrEmpty(getJsonFieldAtPath(metadata, 'annotations')))) {
    const path = ['metadata', 'annotations', key]
    size += new TextEncoder().encode(key + asStringOrEmpty(value)).length
    if (!isQualifiedName(key.toLowerCase())) yield [path, `"${key}" is not a valid annotation key`]
    if (typeof value !== 'string' && value !== null) yield [path, `the annotation "${key}" is not a string`]
  }
  if (size > maxAnnotationBytes)
    yield [
      ['metadata', 'annotations'],
      `its annotations total ${size} bytes, but the limit is ${maxAnnotationBytes}`,
    ]
  for (const [index, finalizer] of asListOrEmpty(getJsonFieldAtPath(metadata, 'finalizers')).entries())
    if (!isQualifiedName(asStringOrEmpty(finalizer)))
      yield [['metadata', 'finalizers', index], `"${asStringOrEmpty(finalizer)}" is not a valid finalizer`]
}
