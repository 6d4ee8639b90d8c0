// A dependency of a bundle, in OLM's words. Throws where OLM cannot read it and gives up (OLM: resolver.go and
// cache/predicates.go).
import type { Json } from '../../../go/json/json.ts'
import { textField } from '../../../go/json/json-fields.ts'
import { inRange, parseVersionRange } from '../../../catalog/versions/version-range.ts'
import { celRule } from './cel-rule.ts'
import { decodeConstraint, type DecodedConstraint } from './decode-constraint.ts'
import { apiKey, ResolverError, type PropertyValue, type Requirement } from './operator-entry.ts'

/** Undefined if the property requires nothing. */
export function requirementOf({ type, value }: PropertyValue): Requirement | undefined {
  switch (type) {
    case 'olm.gvk.required':
      return ofApi(textField(value, 'group'), textField(value, 'version'), textField(value, 'kind'))
    case 'olm.package.required':
      return ofPackage(textField(value, 'packageName'), textField(value, 'versionRange'))
    case 'olm.label.required':
      return ofLabel(textField(value, 'label'))
    case 'olm.constraint':
      return ofConstraintProperty(value)
    default:
      return undefined
  }
}

function ofApi(group: string, version: string, kind: string): Requirement {
  const api = apiKey({ group, version, kind })
  return {
    text: `providing an API with group: ${group}, version: ${version}, kind: ${kind}`,
    only: { api },
    isMetBy: ({ facts }) => facts.provided.includes(api),
  }
}

function ofPackage(name: string, versionRange: string): Requirement {
  const range = parseVersionRange(versionRange)
  if (!range.ok) throw new ResolverError(range.error)
  return {
    text: `with package: ${name} and with version in range: ${versionRange}`,
    only: { package: name },
    isMetBy: ({ facts, version, package: own }) =>
      (own === name || facts.packages.some((its) => its.name === name)) &&
      (facts.packages.some((its) => its.version && inRange(its.version, range.value)) ||
        (version !== undefined && inRange(version, range.value))),
  }
}

function ofLabel(label: string): Requirement {
  return { text: `with label: ${label}`, isMetBy: ({ facts }) => facts.labels.includes(label) }
}

function ofConstraintProperty(value: Json): Requirement {
  const decoded = decodeConstraint(value)
  if (!decoded.ok) throw new ResolverError(`parse olm.constraint: ${decoded.error}`)
  try {
    return ofConstraint(decoded.value)
  } catch (error) {
    if (!(error instanceof ResolverError)) throw error
    throw new ResolverError(`convert olm.constraint to resolver predicate: ${error.message}`)
  }
}

/** All nested parts must match the same bundle. */
function ofConstraint(constraint: DecodedConstraint): Requirement {
  switch (constraint.kind) {
    case 'gvk':
      return ofApi(constraint.group, constraint.version, constraint.apiKind)
    case 'package':
      return ofPackage(constraint.packageName, constraint.versionRange)
    case 'all': {
      const parts = constraint.parts.map(ofConstraint)
      const only = parts.find((part) => part.only)?.only
      return {
        text: parts.map(({ text }) => text).join(' and '),
        ...(only && { only }),
        isMetBy: (entry) => parts.every((part) => part.isMetBy(entry)),
      }
    }
    case 'any': {
      const parts = constraint.parts.map(ofConstraint)
      return {
        text: parts.map(({ text }) => text).join(' or '),
        isMetBy: (entry) => parts.some((part) => part.isMetBy(entry)),
      }
    }
    case 'not': {
      const parts = constraint.parts.map(ofConstraint)
      return {
        text: parts.map(({ text }) => text).join(' and not '),
        isMetBy: (entry) => !parts.some((part) => part.isMetBy(entry)),
      }
    }
    case 'cel': {
      const rule = celRule(constraint.rule)
      return {
        text: `with constraint: ${JSON.stringify(constraint.rule)} and message: ${JSON.stringify(constraint.failureMessage)}`,
        isMetBy: ({ facts }) => rule(facts.properties),
      }
    }
    case 'empty':
      throw new ResolverError('constraint is empty')
  }
}
