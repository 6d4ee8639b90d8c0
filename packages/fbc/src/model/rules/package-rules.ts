import { quoteLikeGo } from '../../go/text.ts'
import { defineOpmRule } from '../../load/load-rules.ts'

export const namelessPackageRule = defineOpmRule<object>({
  id: 'nameless-package',
  title: 'Every package has a name',
  what: 'this olm.package blob has no name',
  why: 'Channels and bundles refer to their package by name.',
  fix: 'Add `name:` with the package name.',
})

export const duplicatePackageRule = defineOpmRule<{ package: string }>({
  id: 'duplicate-package',
  title: 'Each package is declared only once in a catalog',
  what: (data) => `package ${quoteLikeGo(data.package)} is declared more than once`,
  why: 'opm accepts one olm.package blob for each package and rejects a second one, even if it is identical.',
  fix: 'Keep one of the olm.package blobs and remove the other.',
})

export const invalidPackageNameRule = defineOpmRule<{ package: string }>({
  id: 'invalid-package-name',
  title: 'A package name is a valid DNS label',
  what: (data) => `package name ${quoteLikeGo(data.package)} is not a valid DNS label`,
  why: 'Package names become part of Kubernetes object names.',
  fix: 'Use up to 63 lowercase letters, digits, and `-`. Start and end the name with a letter or digit.',
})

export const noDefaultChannelRule = defineOpmRule<{ package: string }>({
  id: 'no-default-channel',
  title: 'A package has a default channel',
  what: (data) => `package ${quoteLikeGo(data.package)} has no default channel`,
  why: 'Users who install the Operator without choosing a channel get the default channel.',
  fix: "Set `defaultChannel:` in the olm.package blob to one of the package's channels.",
})

export const unknownDefaultChannelRule = defineOpmRule<{ package: string; channel: string }>({
  id: 'unknown-default-channel',
  title: 'The default channel exists',
  what: (data) =>
    `package ${quoteLikeGo(data.package)} has the default channel ${quoteLikeGo(data.channel)}, which does not exist`,
  why: 'A subscription without a channel would find nothing to install. opm reports this problem as a channel without bundles.',
  fix: "Set `defaultChannel:` to one of the package's channels, or add the channel.",
})

export const packageWithoutChannelRule = defineOpmRule<{ package: string }>({
  id: 'package-without-channel',
  title: 'A package has at least one channel',
  what: (data) => `package ${quoteLikeGo(data.package)} has no channels`,
  why: 'Users can install bundles only through a channel.',
  fix: 'Add an olm.channel blob for the package.',
})

export const duplicateVersionRule = defineOpmRule<{
  package: string
  version: string
  bundles: readonly string[]
}>({
  id: 'duplicate-version',
  title: 'Each version of a package has only one bundle',
  what: (data) =>
    `bundles ${data.bundles.map(quoteLikeGo).join(', ')} of package ${quoteLikeGo(data.package)} all have version ${data.version}`,
  why: 'OLM cannot distinguish two bundles of the same version when it chooses an upgrade.',
  fix: 'Give each bundle a unique version. With opm v1.62 or later, you can give each bundle a unique release instead.',
})

/** For packages, channels and bundles. */
export const deprecationWithoutMessageRule = defineOpmRule<{ package: string; object: string }>({
  id: 'deprecation-without-message',
  title: 'Every deprecation has a message',
  what: (data) => `the deprecation of ${data.object} in package ${quoteLikeGo(data.package)} has no message`,
  why: 'The message is the only information that users of the deprecated Operator see.',
  fix: 'Add a `message:` that explains what is deprecated and what to use instead.',
})
