// A dependency of a bundle, in OLM's wording. Throws if OLM cannot parse it and fails (OLM: resolver.go and
// cache/predicates.go).
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { getJsonTextField } from '@catalog-bot/fbc/go/json/json-fields'
import { isInRange, parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import { compileCelRule } from './cel-rule.ts'
import { decodeConstraint, type DecodedConstraint } from './decode-constraint.ts'
import { toApiKey, ResolverError, type OperatorProperty, type BundleRequirement } from './operator-entry.ts'

/** Undefined if the property requires nothing. */
export function parseRequirement({ type, value }: OperatorProperty): BundleRequirement | undefined {
  switch (type) {
    case 'olm.gvk.required':
      return createApiRequirement(
        getJsonTextField(value, 'group'),
        getJsonTextField(value, 'version'),
        getJsonTextField(value, 'kind'),
      )
    case 'olm.package.required':
      return createPackageRequirement(
        getJsonTextField(value, 'packageName'),
        getJsonTextField(value, 'versionRange'),
      )
    case 'olm.label.required':
      return createLabelRequirement(getJsonTextField(value, 'label'))
    case 'olm.constraint':
      return parseConstraintRequirement(value)
    default:
      return undefined
  }
}

function createApiRequirement(group: string, version: string, kind: string): BundleRequirement {
  const api = toApiKey({ group, version, kind })
  return {
    text: `providing an API with group: ${group}, version: ${version}, kind: ${kind}`,
    label: `${group}/${version} ${kind}`,
    only: { api },
    isMetBy: ({ facts }) => facts.provided.includes(api),
  }
}

function createPackageRequirement(name: string, versionRange: string): BundleRequirement {
  const range = parseVersionRange(versionRange)
  if (!range.ok) throw new ResolverError(range.error)
  return {
    text: `with package: ${name} and with version in range: ${versionRange}`,
    label: `package ${name} ${versionRange}`,
    only: { package: name },
    isMetBy: ({ facts, version, package: own }) =>
      (own === name || facts.packages.some((its) => its.name === name)) &&
      (facts.packages.some((its) => its.version && isInRange(its.version, range.value)) ||
        (version !== undefined && isInRange(version, range.value))),
  }
}

function createLabelRequirement(label: string): BundleRequirement {
  return {
    text: `with label: ${label}`,
    label: `a bundle with the label ${label}`,
    isMetBy: ({ facts }) => facts.labels.includes(label),
  }
}

function parseConstraintRequirement(value: Json): BundleRequirement {
  const decoded = decodeConstraint(value)
  if (!decoded.ok) throw new ResolverError(`parse olm.constraint: ${decoded.error}`)
  try {
    return createConstraintRequirement(decoded.value)
  } catch (error) {
    if (!(error instanceof ResolverError)) throw error
    throw new ResolverError(`convert olm.constraint to resolver predicate: ${error.message}`)
  }
}

/** All nested parts must match the same bundle. */
function createConstraintRequirement(constraint: DecodedConstraint): BundleRequirement {
  switch (constraint.kind) {
    case 'gvk':
      return createApiRequirement(constraint.group, constraint.version, constraint.apiKind)
    case 'package':
      return createPackageRequirement(constraint.packageName, constraint.versionRange)
    case 'all': {
      const parts = constraint.parts.map(createConstraintRequirement)
      const only = parts.find((part) => part.only)?.only
      return {
        text: parts.map(({ text }) => text).join(' and '),
        label: parts.map(({ label }) => label).join(' and '),
        ...(only && { only }),
        isMetBy: (entry) => parts.every((part) => part.isMetBy(entry)),
      }
    }
    case 'any': {
      const parts = constraint.parts.map(createConstraintRequirement)
      return {
        text: parts.map(({ text }) => text).join(' or '),
        label: parts.map(({ label }) => label).join(' or '),
        isMetBy: (entry) => parts.some((part) => part.isMetBy(entry)),
      }
    }
    case 'not': {
      const parts = constraint.parts.map(createConstraintRequirement)
      return {
        text: parts.map(({ text }) => text).join(' and not '),
        label: `a bundle other than ${parts.map(({ label }) => label).join(' or ')}`,
        isMetBy: (entry) => !parts.some((part) => part.isMetBy(entry)),
      }
    }
    case 'cel': {
      const rule = compileCelRule(constraint.rule)
      return {
        text: `with constraint: ${JSON.stringify(constraint.rule)} and message: ${JSON.stringify(constraint.failureMessage)}`,
        label:
          constraint.failureMessage === ''
            ? `a bundle that meets ${constraint.rule}`
            : constraint.failureMessage,
        isMetBy: ({ facts }) => rule(facts.properties),
      }
    }
    case 'empty':
      throw new ResolverError('constraint is empty')
  }
}
