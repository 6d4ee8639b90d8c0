import { quoteLikeGo } from '../../go/text.ts'
import { defineOpmRule } from '../../load/load-rules.ts'

export const severalDeprecationsRule = defineOpmRule<{ package: string }>({
  id: 'several-deprecations',
  title: 'A package has at most one olm.deprecations blob',
  what: (data) => `package ${quoteLikeGo(data.package)} has a second olm.deprecations blob`,
  why: 'A single blob must contain all deprecations in a package. opm does not merge multiple blobs.',
  fix: 'Combine the entries in one olm.deprecations blob.',
})

export const deprecationWithoutSchemaRule = defineOpmRule<{ package: string; index: number }>({
  id: 'deprecation-without-schema',
  title: 'A deprecation specifies the schema of the deprecated object',
  what: (data) => `deprecation ${data.index} of package ${quoteLikeGo(data.package)} has no reference schema`,
  why: 'The schema specifies whether a package, a channel, or a bundle is deprecated.',
  fix: 'Set `reference.schema:` to olm.package, olm.channel, or olm.bundle.',
})

export const duplicateDeprecationRule = defineOpmRule<{ package: string; schema: string; name: string }>({
  id: 'duplicate-deprecation',
  title: 'Each object is deprecated only once',
  what: (data) =>
    `package ${quoteLikeGo(data.package)} deprecates ${data.schema} ${quoteLikeGo(data.name)} more than once`,
  why: 'OLM can show only one message for an object.',
  fix: 'Keep only one of the entries.',
})

export const unknownDeprecatedObjectRule = defineOpmRule<{ package: string; schema: string; name: string }>({
  id: 'unknown-deprecated-object',
  title: 'Every deprecated object exists',
  what: (data) =>
    `package ${quoteLikeGo(data.package)} deprecates ${data.schema} ${quoteLikeGo(data.name)}, which does not exist`,
  why: 'Users never see the message of a deprecation that does not match an object.',
  fix: 'Correct `reference.name:`, or remove the entry.',
})

export const namedPackageDeprecationRule = defineOpmRule<{ package: string; name: string }>({
  id: 'named-package-deprecation',
  title: 'The deprecation of a package does not set a reference name',
  what: (data) =>
    `the deprecation of package ${quoteLikeGo(data.package)} must not set a reference name, but sets ${quoteLikeGo(data.name)}`,
  why: "A reference with the schema olm.package always refers to the blob's package, so opm rejects a reference that also has a name.",
  fix: 'Remove `reference.name:`, or correct `reference.schema:`.',
})

export const unknownDeprecationSchemaRule = defineOpmRule<{ package: string; schema: string }>({
  id: 'unknown-deprecation-schema',
  title: 'Deprecations refer only to packages, channels, or bundles',
  what: (data) =>
    `package ${quoteLikeGo(data.package)} deprecates an object with the schema ${quoteLikeGo(data.schema)}`,
  why: 'opm supports deprecations only for packages, channels, and bundles.',
  fix: 'Set `reference.schema:` to olm.package, olm.channel, or olm.bundle.',
})
