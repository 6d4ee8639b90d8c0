// Finds duplicate keys in the mappings of a YAML document in linear time. The library finds them too, but compares each key with
// all keys before it, so a file with many keys takes quadratic time.
import { isScalar, visit, type Document } from 'yaml'

/** The first duplicate key in the document. Ignores keys that are not scalars. */
export function findDuplicateYamlKey(document: Document.Parsed): unknown {
  let repeated: unknown
  visit(document, {
    Map: (_, { items }) => {
      const known = new Set<unknown>()
      for (const { key } of items) {
        if (!isScalar(key)) continue
        if (known.has(key.value)) {
          repeated = key
          return visit.BREAK
        }
        known.add(key.value)
      }
      return undefined
    },
  })
  return repeated
}
