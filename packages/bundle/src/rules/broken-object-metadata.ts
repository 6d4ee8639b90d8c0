import { defineRule } from '@catalog-bot/findings/rule'
import { getMapValue } from '@catalog-bot/fbc/go/tree'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { findMetadataProblems } from '../kubernetes/metadata-problems.ts'
import { convertParsedValueToJson } from '../manifest-document.ts'

export const brokenObjectMetadata = defineRule<
  { file: string; kind: string; name: string; problem: string; isNamespace: boolean },
  BundleRuleSignature
>({
  id: 'broken-object-metadata',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'Manifests have valid metadata',
  format: ({ kind, name, problem, isNamespace }) => ({
    // OLM replaces the namespace.
    ...(isNamespace && { severity: 'warning' as const }),
    what: `the ${`${kind} ${name}`.trimEnd()} can't be created: ${problem}`,
    why: '`opm alpha bundle validate` rejects the bundle. OLM sets the namespace of the objects that it creates.',
    fix: 'Correct the metadata, or remove the field.',
  }),
  *find({ objects }) {
    for (const { file, kind, name, tree } of objects) {
      if (kind === 'ClusterServiceVersion') continue
      const metadata = convertParsedValueToJson(getMapValue(tree, 'metadata'))
      for (const [path, problem] of findMetadataProblems(metadata === undefined ? {} : { metadata }))
        yield {
          file,
          path,
          data: { file, kind, name, problem, isNamespace: path.at(-1) === 'namespace' },
        }
    }
  },
})
