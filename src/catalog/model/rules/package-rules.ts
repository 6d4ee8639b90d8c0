import { defineRule } from '../../../findings/rule.ts'
import { quote } from '../../../go/text.ts'

export const namelessPackage = defineRule<object>({
  id: 'nameless-package',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every package has a name',
  format: () => ({
    what: 'this olm.package blob has no name',
    why: 'Channels and bundles find their package by its name.',
    fix: 'Add `name:` with the package name.',
  }),
})

export const duplicatePackage = defineRule<{ package: string }>({
  id: 'duplicate-package',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A package is declared once in a catalog',
  format: (data) => ({
    what: `package ${quote(data.package)} is declared again`,
    why: 'A catalog has one olm.package blob for each package; opm refuses a second one, even an identical one.',
    fix: 'Keep one of the olm.package blobs and remove the other.',
  }),
})

export const invalidPackageName = defineRule<{ package: string }>({
  id: 'invalid-package-name',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A package name is a DNS label',
  format: (data) => ({
    what: `package name ${quote(data.package)} is not a DNS label`,
    why: 'Package names become parts of Kubernetes object names.',
    fix: 'Use at most 63 lower-case letters, digits and `-`, beginning and ending with a letter or digit.',
  }),
})

export const noDefaultChannel = defineRule<{ package: string }>({
  id: 'no-default-channel',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A package names its default channel',
  format: (data) => ({
    what: `package ${quote(data.package)} has no default channel`,
    why: 'Who installs the Operator without choosing a channel gets the default one.',
    fix: "Set `defaultChannel:` in the olm.package blob to one of the package's channels.",
  }),
})

export const unknownDefaultChannel = defineRule<{ package: string; channel: string }>({
  id: 'unknown-default-channel',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'The default channel exists',
  format: (data) => ({
    what: `package ${quote(data.package)} has the default channel ${quote(data.channel)}, which does not exist`,
    why: 'Installations that choose no channel would find nothing. (opm reports it as a channel without bundles.)',
    fix: "Name one of the package's channels in `defaultChannel:`, or add the channel.",
  }),
})

export const packageWithoutChannel = defineRule<{ package: string }>({
  id: 'package-without-channel',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A package has a channel',
  format: (data) => ({
    what: `package ${quote(data.package)} has no channel`,
    why: 'Bundles can be installed only through a channel.',
    fix: 'Add an olm.channel blob for the package.',
  }),
})

export const duplicateVersion = defineRule<{ package: string; version: string; bundles: readonly string[] }>({
  id: 'duplicate-version',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Each version of a package is one bundle',
  format: (data) => ({
    what: `bundles ${data.bundles.map(quote).join(', ')} of package ${quote(data.package)} all have version ${data.version}`,
    why: 'Two bundles of one version cannot be told apart when upgrades are chosen.',
    fix: 'Give each bundle its own version, or (opm v1.62 and later) its own release.',
  }),
})

/** For packages, channels and bundles. */
export const deprecationWithoutMessage = defineRule<{ package: string; object: string }>({
  id: 'deprecation-without-message',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A deprecation says why',
  format: (data) => ({
    what: `the deprecation of ${data.object} in package ${quote(data.package)} has no message`,
    why: 'The message is all that users of the deprecated Operator get to see.',
    fix: 'Add `message:` that says what is deprecated and what to use instead.',
  }),
})
