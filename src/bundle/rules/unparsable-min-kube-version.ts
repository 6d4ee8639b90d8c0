import { parseVersion } from '../../catalog/version.ts'
import { bundleRule } from '../bundle-rule.ts'
import { at, textOf } from '../fields.ts'

export const unparsableMinKubeVersion = bundleRule<{ version: string }>({
  id: 'unparsable-min-kube-version',
  severity: 'warning',
  title: 'minKubeVersion of a bundle is a version',
  say: ({ version }) => ({
    what: `minKubeVersion is "${version}", which is no version`,
    why: 'OLM cannot compare it, and the requirement is never met.',
    fix: 'Write three numbers: 1.25.0.',
  }),
  *find({ csv }) {
    const version = textOf(at(csv.data, 'spec', 'minKubeVersion'))
    if (version.trim() !== '' && !parseVersion(version).ok)
      yield { path: ['spec', 'minKubeVersion'], data: { version } }
  },
})
