import { defineRule } from '../../../findings/rule.ts'
import { quote } from '../../../go/text.ts'

export const severalDeprecations = defineRule<{ package: string }>({
  id: 'several-deprecations',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A package has one olm.deprecations blob',
  format: (data) => ({
    what: `package ${quote(data.package)} has a second olm.deprecations blob`,
    why: 'All deprecations of a package belong in one blob; two are not merged.',
    fix: 'Join the entries in one olm.deprecations blob.',
  }),
})

export const deprecationWithoutSchema = defineRule<{ package: string; index: number }>({
  id: 'deprecation-without-schema',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A deprecation says what kind of thing it deprecates',
  format: (data) => ({
    what: `deprecation ${data.index} of package ${quote(data.package)} has no reference schema`,
    why: 'The schema tells whether a package, a channel or a bundle is deprecated.',
    fix: 'Set `reference.schema:` to olm.package, olm.channel or olm.bundle.',
  }),
})

export const duplicateDeprecation = defineRule<{ package: string; schema: string; name: string }>({
  id: 'duplicate-deprecation',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A thing is deprecated once',
  format: (data) => ({
    what: `package ${quote(data.package)} deprecates ${data.schema} ${quote(data.name)} again`,
    why: 'Only one message can be shown for it.',
    fix: 'Keep one of the entries.',
  }),
})

export const unknownDeprecatedObject = defineRule<{ package: string; schema: string; name: string }>({
  id: 'unknown-deprecated-object',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'What is deprecated exists',
  format: (data) => ({
    what: `package ${quote(data.package)} deprecates ${data.schema} ${quote(data.name)}, which it does not have`,
    why: 'A deprecation of nothing warns nobody.',
    fix: 'Correct `reference.name:`, or remove the entry.',
  }),
})

export const namedPackageDeprecation = defineRule<{ package: string; name: string }>({
  id: 'named-package-deprecation',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'The deprecation of a package names no other object',
  format: (data) => ({
    what: `the deprecation of package ${quote(data.package)} names ${quote(data.name)}`,
    why: 'A reference to olm.package always means the package of its blob; opm refuses any name there.',
    fix: 'Remove `reference.name:`, or correct `reference.schema:`.',
  }),
})

export const unknownDeprecationSchema = defineRule<{ package: string; schema: string }>({
  id: 'unknown-deprecation-schema',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Only packages, channels and bundles can be deprecated',
  format: (data) => ({
    what: `package ${quote(data.package)} deprecates an object of schema ${quote(data.schema)}`,
    why: 'opm knows no such object.',
    fix: 'Set `reference.schema:` to olm.package, olm.channel or olm.bundle.',
  }),
})
