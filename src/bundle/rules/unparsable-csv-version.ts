import { parsePrereleaseIdentifier, parseVersionTolerantly } from '../../catalog/versions/version.ts'
import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at } from '../fields.ts'

export const unparsableCsvVersion = defineRule<{ field: string; text: string }, OfBundle>({
  id: 'unparsable-csv-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'The version of a bundle is a version',
  say: ({ field, text }) => ({
    what: `spec.${field} is "${text}", which is no ${field}`,
    why: 'OLM cannot read the ClusterServiceVersion: the bundle is not installed.',
    fix: 'Write a version as https://semver.org has it: 1.2.3. A release is like what follows the dash of one.',
  }),
  *find({ csv }) {
    const version = at(csv.data, 'spec', 'version')
    if (typeof version === 'string' && !parseVersionTolerantly(version).ok)
      yield { path: ['spec', 'version'], data: { field: 'version', text: version } }
    const release = at(csv.data, 'spec', 'release')
    if (typeof release === 'string' && release.split('.').some((part) => !parsePrereleaseIdentifier(part).ok))
      yield { path: ['spec', 'release'], data: { field: 'release', text: release } }
  },
})
