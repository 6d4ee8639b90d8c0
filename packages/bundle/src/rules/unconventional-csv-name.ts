import { defineRule } from '@catalog-bot/findings/rule'
import { parseVersion } from '@catalog-bot/fbc/versions/version'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asStringOrEmpty } from '../fields.ts'

/** Matches a trailing version after any prefix, like the good-practices validator. */
const trailingVersionPattern = /\d+\.\d+\.\d+(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+)?$/

export const unconventionalCsvName = defineRule<{ name: string }, BundleRuleSignature>({
  id: 'unconventional-csv-name',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'warning',
  since: '0.1.0',
  network: true,
  suite: 'good-practices',
  title: 'A bundle is named NAME.vVERSION',
  format: ({ name }) => ({
    what: `the bundle is named "${name}", not NAME.vVERSION`,
    why: 'Users and tools derive the version from the name.',
    fix: 'Use the form NAME.vVERSION, for example foo-operator.v1.2.3.',
  }),
  *find({ csv }) {
    // Another rule covers names with a release.
    if (asStringOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'release')) !== '') return
    const [version = ''] = trailingVersionPattern.exec(csv.name) ?? []
    if (csv.name.split('.v').length !== 2 || !parseVersion(version).ok)
      yield { path: ['metadata', 'name'], data: { name: csv.name } }
  },
})
