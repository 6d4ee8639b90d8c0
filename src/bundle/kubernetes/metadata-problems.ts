// `ValidateObjectMeta` of k8s.io/apimachinery for objects without a namespace, as `opm alpha bundle validate` calls it.
import type { Json } from '../../go/json/json.ts'
import type { Path } from '../bundle-places.ts'
import { at, listOf, objectOf, textOf } from '../fields.ts'
import { isLabelValue, isQualifiedName } from './names.ts'

/** Bytes of all keys and values. */
const mostAnnotations = 256 * 1024

export function* metadataProblems(object: Json): Generator<readonly [Path, string]> {
  const metadata = at(object, 'metadata')
  if (textOf(at(metadata, 'name')) === '') yield [['metadata'], 'it has no name']
  const namespace = textOf(at(metadata, 'namespace'))
  if (namespace !== '')
    yield [
      ['metadata', 'namespace'],
      `it names the namespace "${namespace}", which is not the bundle's to choose`,
    ]
  for (const [key, value] of Object.entries(objectOf(at(metadata, 'labels')))) {
    const path = ['metadata', 'labels', key]
    if (!isQualifiedName(key)) yield [path, `"${key}" cannot be the key of a label`]
    if (typeof value === 'string' ? !isLabelValue(value) : value !== null)
      yield [path, `the label "${key}" has a value that no label can have`]
  }
  let size = 0
  for (const [key, value] of Object.entries(objectOf(at(metadata, 'annotations')))) {
    const path = ['metadata', 'annotations', key]
    size += new TextEncoder().encode(key + textOf(value)).length
    if (!isQualifiedName(key.toLowerCase())) yield [path, `"${key}" cannot be the key of an annotation`]
    if (typeof value !== 'string' && value !== null) yield [path, `the annotation "${key}" is not a text`]
  }
  if (size > mostAnnotations)
    yield [['metadata', 'annotations'], `its annotations have ${size} bytes; ${mostAnnotations} are allowed`]
  for (const [index, finalizer] of listOf(at(metadata, 'finalizers')).entries())
    if (!isQualifiedName(textOf(finalizer)))
      yield [['metadata', 'finalizers', index], `"${textOf(finalizer)}" cannot be a finalizer`]
}
