// Whether a CEL rule compiles in OLM's resolver, which has the variable `properties` and the function `semver_compare`.
// Does not evaluate the rule.
import { Environment } from '@marcbachmann/cel-js'

const celEnvironment = new Environment()
  .registerVariable('properties', 'list<map<string, dyn>>')
  .registerFunction('semver_compare(string, string): int', () => 0n)

/**
 * Errors that OLM's compiler also reports. The library is stricter about macro arguments (OLM accepts
 * `has(properties[0].type)`), so its other errors are ignored.
 */
const celErrorCodesSharedWithOlm: ReadonlySet<string> = new Set([
  'unknown_variable',
  'no_such_overload',
  'no_matching_overload',
])

/** The problem as a verb phrase; undefined for a valid rule. */
export function findCelRuleProblem(rule: string): string | undefined {
  const { valid, type, error } = celEnvironment.check(rule)
  if (valid) {
    const result = String(type)
    return result === 'bool' || result === 'dyn'
      ? undefined
      : `has a rule that returns ${result} instead of bool`
  }
  const isSyntax = error?.name === 'ParseError'
  if (!isSyntax && !celErrorCodesSharedWithOlm.has(error?.code ?? '')) return undefined
  return `has a rule that does not compile: ${error?.message.split('\n')[0] ?? ''}`
}
