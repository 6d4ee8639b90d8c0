import { defineRule } from '../../findings/rule.ts'
import type { OfBundle } from '../bundle-rule.ts'
import { at, textOf } from '../fields.ts'

export const nameWithoutRelease = defineRule<{ name: string; wanted: string }, OfBundle>({
  id: 'name-without-release',
  check: 'images',
  overridable: true,
  judges: 'bundle',
  severity: 'error',
  since: '0.1.0',
  network: true,
  title: 'A bundle with a release is named for it',
  say: ({ name, wanted }) => ({
    what: `the bundle is named "${name}", and with its release has to be "${wanted}"`,
    why: 'opm refuses a catalog in which it is named otherwise.',
    fix: 'Name the ClusterServiceVersion PACKAGE-vVERSION-RELEASE.',
  }),
  *find({ csv, package: its }) {
    const release = textOf(at(csv.data, 'spec', 'release'))
    const wanted = `${its}-v${textOf(at(csv.data, 'spec', 'version'))}-${release}`
    if (release !== '' && csv.name !== wanted)
      yield { path: ['metadata', 'name'], data: { name: csv.name, wanted } }
  },
})
