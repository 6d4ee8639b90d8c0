import { defineRule } from '../../findings/rule.ts'
import { valueAt } from '../../go/tree.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { findMetadataProblems } from '../kubernetes/metadata-problems.ts'
import { toJsonData } from '../manifest-document.ts'

export const brokenObjectMetadata = defineRule<
  { file: string; kind: string; name: string; problem: string; isNamespace: boolean },
  BundleRuleSearch
>({
  id: 'broken-object-metadata',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The metadata of manifests is such that an API server takes them',
  format: ({ kind, name, problem, isNamespace }) => ({
    // OLM puts its own in its place.
    ...(isNamespace && { severity: 'warning' as const }),
    what: `the ${`${kind} ${name}`.trimEnd()} cannot be created: ${problem}`,
    why: '`opm alpha bundle validate` refuses the bundle. OLM chooses the namespace of what it creates; other objects have none.',
    fix: 'Correct the metadata, or take the field out.',
  }),
  *find({ objects }) {
    for (const { file, kind, name, tree } of objects) {
      if (kind === 'ClusterServiceVersion') continue
      const metadata = toJsonData(valueAt(tree, 'metadata'))
      for (const [path, problem] of findMetadataProblems(metadata === undefined ? {} : { metadata }))
        yield {
          file,
          path,
          data: { file, kind, name, problem, isNamespace: path.at(-1) === 'namespace' },
        }
    }
  },
})
