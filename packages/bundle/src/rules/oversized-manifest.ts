import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import type { ParsedValue } from '@catalog-bot/fbc/go/tree'
import { formatUntypedGoJson } from '../manifest-document.ts'

// etcd's default request limit.
const maxManifestBytes = 1_572_864

export const oversizedManifest = defineRule<
  { file: string; bytes: number; limit: number },
  BundleRuleSignature
>({
  id: 'oversized-manifest',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  title: 'Every manifest fits in a single request to the API server',
  format: ({ file, bytes, limit }) => ({
    what: `${file} is ${bytes} bytes when converted to JSON, but the limit is ${limit}`,
    why: 'The API server rejects requests of that size, even if the packed bundle is small.',
    fix: 'Remove descriptions from schemas, or split the object.',
  }),
  *find({ objects }) {
    for (const { file, tree } of objects) {
      if (computeMaxJsonBytes(tree, maxManifestBytes) <= maxManifestBytes) continue
      const bytes = computeUtf8ByteLength(formatUntypedGoJson(tree))
      if (bytes > maxManifestBytes) yield { file, data: { file, bytes, limit: maxManifestBytes } }
    }
  },
})

function computeUtf8ByteLength(text: string): number {
  return new TextEncoder().encode(text).length
}

/** Upper bounds in JSON: bytes per UTF-16 code unit, and per number or boolean including its comma. */
const maxJsonBytesByScalarType = { unit: 6, number: 32, switch: 6 }

/** Deeper than any manifest. Deeper values are measured by writing them out. */
const maxManifestDepth = 100

/** An upper bound for the size of the value's JSON; stops counting at `enough`. Much faster than writing it out. */
function computeMaxJsonBytes(value: ParsedValue, enough: number, depth = 0): number {
  if (depth > maxManifestDepth) return Infinity
  switch (value.kind) {
    case 'string':
      return maxJsonBytesByScalarType.unit * value.value.length + 3
    case 'number':
      return Math.max(maxJsonBytesByScalarType.number, value.text.length + 1)
    case 'list': {
      let bytes = 3
      for (const item of value.items)
        if (bytes <= enough) bytes += computeMaxJsonBytes(item, enough - bytes, depth + 1)
      return bytes
    }
    case 'map': {
      let bytes = 3
      for (const { key, value: inner } of value.entries)
        if (bytes <= enough)
          bytes +=
            maxJsonBytesByScalarType.unit * key.length +
            4 +
            computeMaxJsonBytes(inner, enough - bytes, depth + 1)
      return bytes
    }
    case 'bool':
    case 'null':
      return maxJsonBytesByScalarType.switch
  }
}
