import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import type { Value } from '../../go/tree.ts'
import { goJson } from '../manifest-document.ts'

// What etcd takes in one request by default.
const limit = 1_572_864

export const oversizedManifest = defineRule<{ file: string; bytes: number; limit: number }, OfBundle>({
  id: 'oversized-manifest',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'No manifest is larger than a cluster stores',
  say: ({ file, bytes, limit }) => ({
    what: `${file} is ${bytes} bytes as an object; a cluster stores up to ${limit}`,
    why: 'The API server refuses a request of that size, whatever the bundle weighs when it is packed.',
    fix: 'Strip descriptions of schemas, or split the object.',
  }),
  *find({ objects }) {
    for (const { file, tree } of objects) {
      if (mostBytes(tree, limit) <= limit) continue
      const bytes = byteLength(goJson(tree))
      if (bytes > limit) yield { file, data: { file, bytes, limit } }
    }
  },
})

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

/** JSON writes no unit of UTF-16 with more bytes, and no number or switch with more together with the comma. */
const widest = { unit: 6, number: 32, switch: 6 }

/** Deeper than any manifest: such a one is written out. */
const deepest = 100

/** More bytes than the value's JSON has; counted up to `enough` of them. Writing it out takes many times as long. */
function mostBytes(value: Value, enough: number, depth = 0): number {
  if (depth > deepest) return Infinity
  switch (value.kind) {
    case 'string':
      return widest.unit * value.value.length + 3
    case 'number':
      return Math.max(widest.number, value.text.length + 1)
    case 'list': {
      let bytes = 3
      for (const item of value.items) if (bytes <= enough) bytes += mostBytes(item, enough - bytes, depth + 1)
      return bytes
    }
    case 'map': {
      let bytes = 3
      for (const { key, value: inner } of value.entries)
        if (bytes <= enough)
          bytes += widest.unit * key.length + 4 + mostBytes(inner, enough - bytes, depth + 1)
      return bytes
    }
    case 'bool':
    case 'null':
      return widest.switch
  }
}
