// Whether a CEL rule compiles in the environment of OLM's resolver: the variable `properties` and the function
// `semver_compare`. Parsing and types are a library's; nothing is ever evaluated.
import { Environment } from '@marcbachmann/cel-js'

const environment = new Environment()
  .registerVariable('properties', 'list<map<string, dyn>>')
  // Only its signature matters: rules are compiled here, not run.
  .registerFunction('semver_compare(string, string): int', () => 0n)

/**
 * What the type checker says that OLM's compiler says too. The library is stricter than OLM about the arguments of
 * macros (`has(properties[0].type)` is fine there), so its other complaints are not held against anyone.
 */
const certain: ReadonlySet<string> = new Set(['unknown_variable', 'no_such_overload', 'no_matching_overload'])

/** What is wrong with a rule, as the end of a sentence that begins with what it belongs to; undefined for a sound one. */
export function celProblem(rule: string): string | undefined {
  const { valid, type, error } = environment.check(rule)
  if (valid) {
    const result = String(type)
    return result === 'bool' || result === 'dyn' ? undefined : `has a rule that gives ${result}, not bool`
  }
  const isSyntax = error?.name === 'ParseError'
  if (!isSyntax && !certain.has(error?.code ?? '')) return undefined
  return `has a rule that does not compile: ${error?.message.split('\n')[0] ?? ''}`
}
