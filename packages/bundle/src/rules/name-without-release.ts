import { defineRule } from '@catalog-bot/findings/rule'
import type { BundleRuleSignature } from '../bundle-rule.ts'
import { getJsonFieldAtPath, asStringOrEmpty } from '../fields.ts'

export const nameWithoutRelease = defineRule<{ name: string; wanted: string }, BundleRuleSignature>({
  id: 'name-without-release',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle with a release includes it in the bundle name',
  format: ({ name, wanted }) => ({
    what: `the bundle is named "${name}", but its release requires the name "${wanted}"`,
    why: 'opm rejects a catalog that contains the bundle under another name.',
    fix: 'Name the ClusterServiceVersion PACKAGE-vVERSION-RELEASE.',
  }),
  *find({ csv, package: its }) {
    const release = asStringOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'release'))
    const wanted = `${its}-v${asStringOrEmpty(getJsonFieldAtPath(csv.data, 'spec', 'version'))}-${release}`
    if (release !== '' && csv.name !== wanted)
      yield { path: ['metadata', 'name'], data: { name: csv.name, wanted } }
  },
})
