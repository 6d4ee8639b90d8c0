import type { VersionRange } from '@catalog-bot/fbc/versions/version-range'
import { type Version, compareVersions, parseVersionTolerantly } from '@catalog-bot/fbc/versions/version'
import { type Json, getJsonStringField } from '@catalog-bot/fbc/go/json/json'
import { memoizeOnce } from '@catalog-bot/findings/memoize'
import { Environment } from '@marcbachmann/cel-js'
import { findCelExpressionProblem } from '../../validation/view/constraint.ts'

// Evaluates a CEL rule of an `olm.constraint` as OLM does: an error means false. Rules are untrusted, so expensive
// rules are rejected.
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
  readonly isDefaultChannel: boolean
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

export function compareStrings(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** @throws ResolverError if OLM rejects the rule. */
export function compileCelRule(rule: string): (properties: readonly OperatorProperty[]) => boolean {
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
