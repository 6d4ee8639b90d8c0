import { defineRule } from '../../findings/rule.ts'
import { valueAt } from '../../go/tree.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { metadataProblems } from '../kubernetes/metadata-problems.ts'
import { dataOf } from '../manifest-document.ts'

export const brokenObjectMetadata = defineRule<
  { file: string; kind: string; name: string; problem: string; isNamespace: boolean },
  OfBundle
>({
  id: 'broken-object-metadata',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The metadata of manifests is such that an API server takes them',
  say: ({ kind, name, problem, isNamespace }) => ({
    // OLM puts its own in its place.
    ...(isNamespace && { severity: 'warning' as const }),
    what: `the ${`${kind} ${name}`.trimEnd()} cannot be created: ${problem}`,
    why: '`opm alpha bundle validate` refuses the bundle. OLM chooses the namespace of what it creates; other objects have none.',
    fix: 'Correct the metadata, or take the field out.',
  }),
  *find({ objects }) {
    for (const { file, kind, name, tree } of objects) {
      if (kind === 'ClusterServiceVersion') continue
      const metadata = dataOf(valueAt(tree, 'metadata'))
      for (const [path, problem] of metadataProblems(metadata === undefined ? {} : { metadata }))
        yield {
          file,
          path,
          data: { file, kind, name, problem, isNamespace: path.at(-1) === 'namespace' },
        }
    }
  },
})
