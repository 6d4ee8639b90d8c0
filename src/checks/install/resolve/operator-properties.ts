import {
  parseVersion,
  zeroVersion,
  type Version,
  compareVersions,
  parseVersionTolerantly,
} from '@catalog-bot/fbc/versions/version'
import { memoizeOnce, memoizePerObject } from '@catalog-bot/findings/memoize'
import { type Json, getJsonStringField } from '@catalog-bot/fbc/go/json/json'
import {
  isVersionInRange,
  parseVersionRange,
  type VersionRange,
} from '@catalog-bot/fbc/versions/version-range'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'
import { Environment } from '@marcbachmann/cel-js'
import { findCelExpressionProblem } from '../../validation/view/constraint.ts'

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

function createJsonTypeError(value: Json, expected: string): ResolverError {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  return new ResolverError(`json: cannot unmarshal ${found} into Go value of type ${expected}`)
}

// Evaluates a CEL rule like OLM: an error means false. Rejects expensive rules, because they are untrusted.
/** The rule cannot be evaluated. The message contains the reason. */
export class CelEvaluationError extends Error {}

const createCelEnvironment = memoizeOnce(() =>
  new Environment({ limits: { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1000 } })
    .registerVariable('properties', 'list<map<string, dyn>>')
    .registerFunction('semver_compare(dyn, dyn): int', (one: unknown, other: unknown) =>
      BigInt(Math.sign(compareVersions(parseCelVersion(one), parseCelVersion(other)))),
    ),
)

/** Limit on the steps of one rule for one bundle, estimated from its nested loops. */
const maxCelEvaluationSteps = 1_000_000

export interface OperatorProperty {
  readonly type: string
  readonly value: Json
}

export interface ParsedOperatorProperties {
  readonly name: string
  /** A catalog bundle lists its required APIs and packages twice, as in OLM. */
  readonly properties: readonly OperatorProperty[]
  /** The toApiKey of each `olm.gvk`, duplicates included. */
  readonly provided: readonly string[]
  /** From `olm.package`. */
  readonly packages: readonly { readonly name: string; readonly version?: Version }[]
  readonly labels: readonly string[]
  readonly isDeprecated: boolean
  /** Called late, because OLM fails on an invalid dependency. @throws ResolverError */
  readonly requirements: () => readonly BundleRequirement[]
}

export interface OperatorEntry {
  /** Undefined for an installed Operator. */
  readonly catalog: string | undefined
  readonly package: string
  /** Empty for an installed Operator. */
  readonly channel: string
  readonly name: string
  readonly replaces: string
  readonly skips: readonly string[]
  readonly skipRange: VersionRange | undefined
  readonly version: Version | undefined
  readonly facts: ParsedOperatorProperties
}

/** A condition that one other bundle must meet. */
export interface BundleRequirement {
  /** OLM's wording, such as "providing an API with group: ..., version: ..., kind: ...". */
  readonly text: string
  /** For display: `cert-manager.io/v1 Certificate` or `package foo >=1.0.0`. */
  readonly label: string
  /** Limits the search to bundles with this API or package. Absent if any bundle can match. */
  readonly only?: { readonly api: string } | { readonly package: string }
  isMetBy(entry: OperatorEntry): boolean
}

/** An error that makes OLM's resolution fail. OLM retries and installs nothing until the error is fixed. */
export class ResolverError extends Error {}

/** The separator cannot occur in a group, version or kind. */
export function toGvkKey(value: Json): string {
  return ['group', 'version', 'kind'].map((field) => getJsonStringField(value, field)).join('\0')
}

/** @throws ResolverError if OLM rejects the rule. */
function compileCelRule(rule: string): (properties: readonly OperatorProperty[]) => boolean {
  const problem = findCelExpressionProblem(rule)
  if (problem !== undefined) throw new ResolverError(`the constraint ${problem}`)
  let evaluate: (context: { readonly properties: readonly OperatorProperty[] }) => unknown
  try {
    evaluate = createCelEnvironment().parse(rule)
  } catch (error) {
    return () => {
      throw new CelEvaluationError(
        `the rule ${JSON.stringify(rule)} cannot be evaluated: ${getFirstErrorMessageLine(error)}`,
      )
    }
  }
  return (properties) => {
    rejectExpensiveCelRule(rule, properties.length)
    try {
      return evaluate({ properties: properties.map(({ type, value }) => ({ type, value })) }) === true
    } catch {
      return false
    }
  }
}

function parseCelVersion(value: unknown) {
  const parsed = parseVersionTolerantly(typeof value === 'string' ? value : String(value))
  if (!parsed.ok) throw new Error(`unable to parse '${String(value)}' to semver format`)
  return parsed.value
}

function rejectExpensiveCelRule(rule: string, properties: number): void {
  const loops = [...rule.matchAll(/\.\s*(?:all|exists|exists_one|map|filter)\s*\(/g)].length
  const items = Math.max(properties, rule.split(',').length, 1)
  if (items ** loops > maxCelEvaluationSteps)
    throw new CelEvaluationError(
      `the rule ${quoteTruncatedCelRule(rule)} could take too long on ${properties} properties`,
    )
  // JavaScript's regular expressions backtrack, Go's do not. A single repetition is harmless.
  if (/\bmatches\s*\(/.test(rule) && [...rule.matchAll(/[*+{?]/g)].length > 1)
    throw new CelEvaluationError(
      `the rule ${quoteTruncatedCelRule(rule)} has a regular expression that could take too long`,
    )
}

function quoteTruncatedCelRule(rule: string): string {
  return JSON.stringify(rule.length > 200 ? `${rule.slice(0, 200)}...` : rule)
}

function getFirstErrorMessageLine(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
}
