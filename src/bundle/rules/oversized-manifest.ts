import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
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
      const bytes = byteLength(goJson(tree))
      if (bytes > limit) yield { file, data: { file, bytes, limit } }
    }
  },
})

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length
}
