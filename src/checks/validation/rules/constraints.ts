import type { Json } from '@catalog-bot/fbc/go/json/json'
import { parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import { defineRule, defineBundleBlobRule, definePackageRule } from '../catalog-rule.ts'
import { parseConstraint, type OlmConstraint } from '../view/constraint.ts'
import {
  listApiRequirements,
  isExternalApi,
  listPackageRequirements,
  isExternalPackage,
} from '../requirements.ts'
import { formatTruncatedNames } from '../names.ts'
import { getStringField, type CatalogView } from '../view/catalog-view.ts'

export const brokenConstraintRule = defineBundleBlobRule<{ bundle: string; path: string; problem: string }>({
  id: 'broken-constraint',
  severity: 'error',
  title: 'Every constraint has a structure that OLM can decode',
  what: ({ bundle, path, problem }) =>
    `the constraint of ${bundle}${path === '' ? '' : `, at ${shortenConstraintPath(path)},`} ${problem}`,
  why: 'opm accepts any value as a constraint, but OLM fails to decode this constraint when a user installs the Operator.',
  fix: 'Use exactly one of gvk, package, cel, all, any, and not. failureMessage is optional.',
  *find(bundle) {
    for (const { value, mark } of bundle.properties('olm.constraint'))
      for (const { path, problem } of parseConstraint(value).problems)
        yield { mark, about: [path, problem], data: { path, problem } }
  },
})

/** The start and end of a long path: constraints may be nested sixty levels deep. */
function shortenConstraintPath(path: string): string {
  return path.length <= 120 ? path : `${path.slice(0, 50)}…${path.slice(-50)}`
}

export const impossibleConstraintRule = defineBundleBlobRule<{ bundle: string; packages: readonly string[] }>(
  {
    id: 'impossible-constraint',
    severity: 'warning',
    title: 'Each constraint can be satisfied by a single bundle',
    what: ({ bundle, packages }) =>
      `the constraint of ${bundle} requires one bundle to belong to several packages: ${formatTruncatedNames(packages)}`,
    why: '"all" applies every part to the same bundle, but a bundle belongs to only one package, so OLM can never satisfy the constraint.',
    fix: 'Use a separate property for each package, because different bundles can satisfy different properties.',
    *find(bundle) {
      for (const { value, mark } of bundle.properties('olm.constraint')) {
        const { constraint } = parseConstraint(value)
        const packages = constraint ? [...listPackagesRequiredTogether(constraint)] : []
        if (packages.length > 1) yield { mark, about: packages, data: { packages } }
      }
    },
  },
)

/** The packages to which one bundle would have to belong. `any` and `not` can be satisfied in other ways. */
export function listPackagesRequiredTogether(constraint: OlmConstraint): ReadonlySet<string> {
  if (constraint.kind === 'package') return new Set([constraint.packageName])
  if (constraint.kind !== 'all') return new Set()
  return new Set(constraint.constraints.flatMap((part) => [...listPackagesRequiredTogether(part)]))
}

/** The API server's patterns: a DNS name, a DNS label that starts with a letter, a Go-like name. */
const gvkPatterns = {
  group: /^(?=.{1,253}$)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/,
  version: /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/,
  kind: /^[A-Za-z][A-Za-z0-9]{0,62}$/,
} as const

export const malformedGvkRule = defineBundleBlobRule<{
  bundle: string
  type: string
  part: keyof typeof gvkPatterns
  value: string
}>({
  id: 'malformed-gvk',
  severity: 'warning',
  title: 'Groups, versions, and kinds are valid for a Kubernetes API',
  what: ({ bundle, type, part, value }) =>
    value === ''
      ? `${type} of ${bundle} has no ${part}`
      : `${type} of ${bundle} has the ${part} "${value}", which is not valid for a Kubernetes API`,
  why: 'To find the bundle that provides an API, OLM looks for the exact group, version, and kind, so an invalid value never matches.',
  fix: 'Copy the group, version, and kind from the CustomResourceDefinition, such as example.com, v1alpha1, and Example.',
  *find({ blob }) {
    for (const { type, value, mark } of blob.properties) {
      if (type !== 'olm.gvk' && type !== 'olm.gvk.required') continue
      for (const part of ['group', 'version', 'kind'] as const) {
        const text = getStringField(value, part)
        if (!gvkPatterns[part].test(text))
          yield { mark, about: [type, part, text], data: { type, part, value: text } }
      }
    }
  },
})

/** A group, version or kind that no Kubernetes API can have. */
function isValidGvk(gvk: Readonly<Record<keyof typeof gvkPatterns, string>>): boolean {
  return (['group', 'version', 'kind'] as const).every((part) => gvkPatterns[part].test(gvk[part]))
}

export const missingRequiredApiRule = defineRule<{
  bundle: string
  group: string
  version: string
  kind: string
}>({
  id: 'missing-required-api',
  severity: 'warning',
  ofNewBundles: true,
  title: 'The catalog provides the APIs that its bundles require',
  what: ({ bundle, group, version, kind }) =>
    `${bundle} requires ${kind}.${version}.${group}, which no bundle in the catalog provides`,
  why: 'The bundle can be installed only on clusters where another catalog offers an Operator that provides this API.',
  fix: 'Correct the group, version, and kind; add an Operator that provides the API; or document which catalog contains one.',
  *find(catalog) {
    let provided: ReadonlySet<string> | undefined
    for (const { by, at, group, version, kind } of catalog.packages.flatMap((its) => [
      ...listApiRequirements(its),
    ])) {
      // malformed-gvk reports these.
      if (!isValidGvk({ group, version, kind })) continue
      if (isExternalApi(group, kind)) continue
      // Built lazily, because few catalogs need it.
      provided ??= collectProvidedGvks(catalog)
      if (provided.has(`${group}/${version}/${kind}`)) continue
      yield {
        at,
        about: [by.blob.package, by.blob.name, group, version, kind],
        data: { bundle: by.blob.name, group, version, kind },
      }
    }
  },
})

function collectProvidedGvks(catalog: CatalogView): ReadonlySet<string> {
  const provided = new Set<string>()
  for (const { bundles } of catalog.packages)
    for (const bundle of bundles)
      for (const { value } of bundle.properties('olm.gvk')) provided.add(formatGvk(value))
  return provided
}

function formatGvk(value: Json): string {
  return `${getStringField(value, 'group')}/${getStringField(value, 'version')}/${getStringField(value, 'kind')}`
}

export const missingRequiredPackageRule = defineRule<{
  bundle: string
  required: string
  versionRange: string
  isPresent: boolean
}>({
  id: 'missing-required-package',
  severity: 'warning',
  ofNewBundles: true,
  title: 'The catalog contains the packages that its bundles require',
  what: ({ bundle, required, versionRange, isPresent }) =>
    isPresent
      ? `${bundle} requires package "${required}" in the version range ${versionRange}, but the catalog has no version in that range`
      : `${bundle} requires package "${required}", which is not in the catalog`,
  why: 'The bundle can be installed only on clusters where another catalog offers the required package.',
  fix: ({ required }) =>
    `Add a matching version of "${required}" to the catalog, correct the requirement, or document which catalog has it.`,
  *find(catalog) {
    for (const { by, at, packageName, versionRange, alone } of catalog.packages.flatMap((its) => [
      ...listPackageRequirements(its),
    ])) {
      // Inside a constraint it may be optional; another rule covers empty names.
      if (!alone || packageName === '') continue
      const required = catalog.package(packageName)
      const isPresent = required?.blob !== undefined
      if (isPresent) {
        const range = parseVersionRange(versionRange)
        if (!range.ok || required.ladder().find(range.value) !== undefined) continue
      } else if (isExternalPackage(packageName)) continue
      yield {
        at,
        about: [by.blob.package, by.blob.name, packageName],
        data: { bundle: by.blob.name, required: packageName, versionRange, isPresent },
      }
    }
  },
})

export const namelessRequirementRule = definePackageRule<{ bundle: string }>({
  id: 'nameless-requirement',
  severity: 'error',
  title: 'Every required package has a name',
  what: ({ bundle }) => `${bundle} requires a package but does not specify its name`,
  why: 'No package has an empty name, so OLM can never install this bundle.',
  fix: 'Set packageName, or remove the requirement.',
  *find(its) {
    for (const { by, at, packageName, alone } of listPackageRequirements(its))
      if (alone && packageName === '')
        yield { at, about: [its.name, by.blob.name], data: { bundle: by.blob.name } }
  },
})
