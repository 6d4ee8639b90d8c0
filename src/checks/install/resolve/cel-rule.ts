// Evaluates a CEL rule of an `olm.constraint` as OLM does: an error means false. Rules are untrusted, so expensive
// rules are rejected.
import { Environment } from '@marcbachmann/cel-js'
import { compareVersions, parseVersionTolerantly } from '@catalog-bot/fbc/versions/version'
import { findCelRuleProblem } from '../../validation/view/cel.ts'
import { ResolverError, type OperatorProperty } from './operator-entry.ts'

/** The rule cannot be evaluated. The message contains the reason. */
export class CelEvaluationError extends Error {}

const celEnvironment = new Environment({
  limits: { maxAstNodes: 10_000, maxDepth: 100, maxListElements: 1000 },
})
  .registerVariable('properties', 'list<map<string, dyn>>')
  .registerFunction('semver_compare(dyn, dyn): int', (one: unknown, other: unknown) =>
    BigInt(Math.sign(compareVersions(parseCelVersion(one), parseCelVersion(other)))),
  )

/** Limit on the steps of one rule for one bundle, estimated from its nested loops. */
const maxCelEvaluationSteps = 1_000_000

/** @throws ResolverError if OLM rejects the rule. */
export function compileCelRule(rule: string): (properties: readonly OperatorProperty[]) => boolean {
  const problem = findCelRuleProblem(rule)
  if (problem !== undefined) throw new ResolverError(`its constraint ${problem}`)
  let evaluate: (context: { readonly properties: readonly OperatorProperty[] }) => unknown
  try {
    evaluate = celEnvironment.parse(rule)
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
