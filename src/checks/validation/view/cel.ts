// Whether a CEL rule compiles in OLM's resolver, which has the variable `properties` and the function `semver_compare`.
// Never evaluates.
import { Environment } from '@marcbachmann/cel-js'

const celEnvironment = new Environment()
  .registerVariable('properties', 'list<map<string, dyn>>')
  .registerFunction('semver_compare(string, string): int', () => 0n)

/**
 * Complaints that OLM's compiler shares. The library is stricter about macro arguments (OLM accepts
 * `has(properties[0].type)`), so we ignore its other complaints.
 */
const definiteErrorCodes: ReadonlySet<string> = new Set([
  'unknown_variable',
  'no_such_overload',
  'no_matching_overload',
])

/** The problem, as the end of a sentence; undefined for a valid rule. */
export function findCelProblem(rule: string): string | undefined {
  const { valid, type, error } = celEnvironment.check(rule)
  if (valid) {
    const result = String(type)
    return result === 'bool' || result === 'dyn' ? undefined : `has a rule that gives ${result}, not bool`
  }
  const isSyntax = error?.name === 'ParseError'
  if (!isSyntax && !definiteErrorCodes.has(error?.code ?? '')) return undefined
  return `has a rule that does not compile: ${error?.message.split('\n')[0] ?? ''}`
}
