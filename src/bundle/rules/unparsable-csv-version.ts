import { parsePrereleaseIdentifier, parseVersionTolerantly } from '../../catalog/versions/version.ts'
import { defineRule } from '../../findings/rule.ts'
import type { BundleRuleSearch } from '../bundle-rule.ts'
import { getField } from '../fields.ts'

export const unparsableCsvVersion = defineRule<{ field: string; text: string }, BundleRuleSearch>({
  id: 'unparsable-csv-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The version of a bundle is a version',
  format: ({ field, text }) => ({
    what: `spec.${field} is "${text}", which is no ${field}`,
    why: 'OLM cannot read the ClusterServiceVersion: the bundle is not installed.',
    fix: 'Write a version as https://semver.org has it: 1.2.3. A release is like what follows the dash of one.',
  }),
  *find({ csv }) {
    const version = getField(csv.data, 'spec', 'version')
    if (typeof version === 'string' && !parseVersionTolerantly(version).ok)
      yield { path: ['spec', 'version'], data: { field: 'version', text: version } }
    const release = getField(csv.data, 'spec', 'release')
    if (typeof release === 'string' && release.split('.').some((part) => !parsePrereleaseIdentifier(part).ok))
      yield { path: ['spec', 'release'], data: { field: 'release', text: release } }
  },
})
