import { parsePrereleaseIdentifier, parseVersionTolerantly } from '@catalog-bot/fbc/versions/version'
import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath } from '../fields.ts'

export const unparsableCsvVersion = defineRule<{ field: string; text: string }, BundleRuleSignature>({
  id: 'unparsable-csv-version',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: "A bundle's version can be parsed",
  format: ({ field, text }) => ({
    what: `spec.${field} is "${text}", which is not a valid ${field}`,
    why: "OLM can't read the ClusterServiceVersion, so it doesn't install the bundle.",
    fix: 'Write the version as defined by https://semver.org, for example 1.2.3. A release follows the same rules as a pre-release (the part after the dash).',
  }),
  *find({ csv }) {
    const version = getJsonFieldAtPath(csv.data, 'spec', 'version')
    if (typeof version === 'string' && !parseVersionTolerantly(version).ok)
      yield { path: ['spec', 'version'], data: { field: 'version', text: version } }
    const release = getJsonFieldAtPath(csv.data, 'spec', 'release')
    if (typeof release === 'string' && release.split('.').some((part) => !parsePrereleaseIdentifier(part).ok))
      yield { path: ['spec', 'release'], data: { field: 'release', text: release } }
  },
})
