import { parseVersion, zeroVersion } from '@catalog-bot/fbc/versions/version'
import { memoizeOnce, memoizePerObject } from '@catalog-bot/findings/memoize'
import { type Json, getJsonStringField } from '@catalog-bot/fbc/go/json/json'
import { isVersionInRange, parseVersionRange } from '@catalog-bot/fbc/versions/version-range'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import {
  toGvkKey,
  type OperatorEntry,
  type ParsedOperatorProperties,
  type OperatorProperty,
  ResolverError,
  type BundleRequirement,
  compileCelRule,
} from './operator-entry.ts'

type DecodedConstraint =
  | { readonly kind: 'gvk'; readonly group: string; readonly version: string; readonly apiKind: string }
  | { readonly kind: 'package'; readonly packageName: string; readonly versionRange: string }
  | { readonly kind: 'all' | 'any' | 'not'; readonly parts: readonly DecodedConstraint[] }
  | { readonly kind: 'cel'; readonly rule: string; readonly failureMessage: string }
  | { readonly kind: 'empty' }

type ConstraintFields = Readonly<Record<string, Json>>

/** OLM's limit on the text of the value, in bytes. */
const maxConstraintBytes = 2 << 16

/** Prevents malicious values from exhausting the stack. */
const maxConstraintDepth = 500

/** Works for installed Operators too: OLM copies the bundle's properties to an annotation of the CSV. */
export function parseOperatorProperties(
  name: string,
  properties: readonly OperatorProperty[],
): ParsedOperatorProperties {
  const of = (type: string) => properties.filter((property) => property.type === type)
  const packages = of('olm.package').map(({ value }) => {
    const version = parseVersion(getJsonStringField(value, 'version'))
    return { name: getJsonStringField(value, 'packageName'), ...(version.ok && { version: version.value }) }
  })
  return {
    name,
    properties,
    provided: of('olm.gvk').map(({ value }) => toGvkKey(value)),
    packages,
    labels: of('olm.label').map(({ value }) => getJsonStringField(value, 'label')),
    isDeprecated: of('olm.deprecated').length > 0,
    requirements: memoizeOnce(() => properties.flatMap((property) => parseBundleRequirement(property) ?? [])),
  }
}

/**
 * A catalog entry after installation. OLM keeps its properties and discards its edges. OLM treats a CSV without a version
 * as 0.0.0.
 */
export const toInstalledOperatorEntry = memoizePerObject(
  ({
    name,
    package: packageName,
    version,
    facts,
  }: Pick<OperatorEntry, 'name' | 'package' | 'version' | 'facts'>): OperatorEntry => ({
    catalog: undefined,
    package: packageName,
    channel: '',
    isDefaultChannel: false,
    name,
    replaces: '',
    skips: [],
    skipRange: undefined,
    version: version ?? zeroVersion,
    facts,
  }),
)

/** Undefined if the property requires nothing. */
function parseBundleRequirement({ type, value }: OperatorProperty): BundleRequirement | undefined {
  switch (type) {
    case 'olm.gvk.required':
      return createApiRequirement(
        getJsonStringField(value, 'group'),
        getJsonStringField(value, 'version'),
        getJsonStringField(value, 'kind'),
      )
    case 'olm.package.required':
      return createPackageRequirement(
        getJsonStringField(value, 'packageName'),
        getJsonStringField(value, 'versionRange'),
      )
    case 'olm.label.required':
      return createLabelRequirement(getJsonStringField(value, 'label'))
    case 'olm.constraint':
      return parseConstraintRequirement(value)
    default:
      return undefined
  }
}

function createApiRequirement(group: string, version: string, kind: string): BundleRequirement {
  const api = toGvkKey({ group, version, kind })
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
      (facts.packages.some((its) => its.version && isVersionInRange(its.version, range.value)) ||
        (version !== undefined && isVersionInRange(version, range.value))),
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
  const constraint = prefixResolverErrors('parse olm.constraint', () => decodeConstraint(value))
  return prefixResolverErrors('convert olm.constraint to resolver predicate', () =>
    createConstraintRequirement(constraint),
  )
}

function prefixResolverErrors<Result>(prefix: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof ResolverError)) throw error
    throw new ResolverError(`${prefix}: ${error.message}`)
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

/** The errors complete OLM's message. */
function decodeConstraint(value: Json): DecodedConstraint {
  if (new TextEncoder().encode(JSON.stringify(value)).length > maxConstraintBytes)
    throw new ResolverError(
      `olm.constraint value is greater than max constraint size ${maxConstraintBytes} bytes`,
    )
  return decodeConstraintWithDepthLimit(value, 0)
}

function decodeConstraintWithDepthLimit(value: Json, level: number): DecodedConstraint {
  if (level > maxConstraintDepth)
    throw new ResolverError(`the constraint is nested more than ${maxConstraintDepth} levels deep`)
  const fields = decodeConstraintFields(value, 'constraints.Constraint', [
    'failuremessage',
    'cel',
    'package',
    'gvk',
    'all',
    'any',
    'not',
  ])
  // OLM decodes every kind, so an error in any of them counts.
  const gvk = decodeConstraintFields(fields['gvk'], 'constraints.GVKConstraint', ['group', 'kind', 'version'])
  const its = decodeConstraintFields(fields['package'], 'constraints.PackageConstraint', [
    'packagename',
    'versionrange',
  ])
  const cel = decodeConstraintFields(fields['cel'], 'constraints.Cel', ['rule'])
  const failureMessage = getStringField(fields, 'failuremessage')
  const read = {
    gvk: {
      group: getStringField(gvk, 'group'),
      version: getStringField(gvk, 'version'),
      apiKind: getStringField(gvk, 'kind'),
    },
    package: {
      packageName: getStringField(its, 'packagename'),
      versionRange: getStringField(its, 'versionrange'),
    },
    cel: { rule: getStringField(cel, 'rule'), failureMessage },
    all: decodeNestedConstraints(fields['all'], level),
    any: decodeNestedConstraints(fields['any'], level),
    not: decodeNestedConstraints(fields['not'], level),
  }
  for (const kind of ['gvk', 'package', 'all', 'any', 'not', 'cel'] as const) {
    if ((fields[kind] ?? null) === null) continue
    if (kind === 'gvk') return { kind, ...read.gvk }
    if (kind === 'package') return { kind, ...read.package }
    if (kind === 'cel') return { kind, ...read.cel }
    return { kind, parts: read[kind] }
  }
  return { kind: 'empty' }
}

function decodeNestedConstraints(value: Json | undefined, level: number): readonly DecodedConstraint[] {
  const list =
    decodeConstraintFields(value, 'constraints.CompoundConstraint', ['constraints'])['constraints'] ?? []
  if (!Array.isArray(list)) throw createJsonTypeError(list, '[]constraints.Constraint')
  return list.map((item: Json) => decodeConstraintWithDepthLimit(item ?? {}, level + 1))
}

/** Returns fields by lowercase name. Empty if Go leaves a pointer nil. */
function decodeConstraintFields(value: Json | undefined, type: string, known: readonly string[]) {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw createJsonTypeError(value, type)
  const fields: Record<string, Json> = {}
  for (const [key, field] of Object.entries(value as ConstraintFields)) {
    const name = key.toLowerCase()
    if (!known.includes(name)) throw new ResolverError(`json: unknown field ${quoteLikeGo(key)}`)
    // In Go, null keeps the value of an earlier spelling of the field.
    if (field !== null || !(name in fields)) fields[name] = field
  }
  return fields
}

function getStringField(fields: ConstraintFields, name: string): string {
  const value = fields[name] ?? ''
  if (typeof value !== 'string') throw createJsonTypeError(value, 'string')
  return value
}

function createJsonTypeError(value: Json, wanted: string): ResolverError {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  return new ResolverError(`json: cannot unmarshal ${found} into Go value of type ${wanted}`)
}
