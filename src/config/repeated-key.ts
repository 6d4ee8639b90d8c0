// Finds a key that a mapping of a YAML document has twice, in linear time. The library finds it too, but holds each key
// against all before it: a file of many keys then takes the square of its length.
import { isScalar, visit, type Document } from 'yaml'

/** The first key, anywhere in the document, that its mapping has already. Keys that are no scalars are not looked at. */
export function findRepeatedKey(document: Document.Parsed): unknown {
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
