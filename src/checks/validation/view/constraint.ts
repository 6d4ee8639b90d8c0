// Parses an `olm.constraint` as OLM's resolver does: exactly one kind, known fields only, valid CEL, limited size.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { memoizeOnce } from '@catalog-bot/findings/memoize'
import { Environment } from '@marcbachmann/cel-js'
import { asJsonObject } from './catalog-view.ts'

// OLM's resolver has the variable `properties` and the function `semver_compare`. Does not evaluate the rule.
const createCelEnvironment = memoizeOnce(() =>
  new Environment()
    .registerVariable('properties', 'list<map<string, dyn>>')
    .registerFunction('semver_compare(string, string): int', () => 0n),
)

/**
 * Errors that OLM's compiler also reports. The library is stricter about macro arguments (OLM accepts
 * `has(properties[0].type)`), so its other errors are ignored.
 */
const celErrorCodesReportedByOlm: ReadonlySet<string> = new Set([
  'unknown_variable',
  'no_such_overload',
  'no_matching_overload',
])

export type OlmConstraint =
  | { readonly kind: 'gvk'; readonly group: string; readonly version: string; readonly apiKind: string }
  | { readonly kind: 'package'; readonly packageName: string; readonly versionRange: string }
  | { readonly kind: 'cel'; readonly rule: string }
  | { readonly kind: 'all' | 'any' | 'not'; readonly constraints: readonly OlmConstraint[] }

export interface ConstraintProblem {
  /** Within the property's value: `all.constraints[1].package`; '' for the value itself. */
  readonly path: string
  readonly problem: string
}

export interface ConstraintParseResult {
  /** Absent if the value cannot be parsed. */
  readonly constraint?: OlmConstraint
  readonly problems: readonly ConstraintProblem[]
}

const constraintKinds = ['gvk', 'package', 'cel', 'all', 'any', 'not'] as const
type ConstraintKind = (typeof constraintKinds)[number]

const fieldsByConstraintKind: Readonly<Record<ConstraintKind, readonly string[]>> = {
  gvk: ['group', 'version', 'kind'],
  package: ['packageName', 'versionRange'],
  cel: ['rule'],
  all: ['constraints'],
  any: ['constraints'],
  not: ['constraints'],
}

/** OLM rejects larger values before it decodes them. */
const maxConstraintBytes = 131_072
/** Far deeper than real constraints; protects the stack from hostile values. */
const maxConstraintDepth = 64

/** Finds all problems, in document order. */
export function parseConstraint(value: Json): ConstraintParseResult {
  const problems: ConstraintProblem[] = []
  const size = new TextEncoder().encode(JSON.stringify(value)).length
  if (size > maxConstraintBytes) {
    const problem = `is ${size} bytes long, but OLM accepts at most ${maxConstraintBytes}`
    return { problems: [{ path: '', problem }] }
  }
  const constraint = parseNestedConstraint(value, '', 0, problems)
  return { ...(constraint && { constraint }), problems }
}

function parseNestedConstraint(
  value: Json,
  path: string,
  level: number,
  to: ConstraintProblem[],
): OlmConstraint | undefined {
  const addProblem = (problem: string, at = path): undefined => void to.push({ path: at, problem })
  const map = asJsonObject(value)
  if (map === undefined) return addProblem('is not a mapping')
  if (level > maxConstraintDepth) return addProblem(`is nested more than ${maxConstraintDepth} levels deep`)
  const present = findConstraintKindsInMap(map, addProblem)
  const [kind, ...more] = present
  if (kind === undefined) return addProblem(`has none of ${constraintKinds.join(', ')}`)
  if (more.length > 0)
    return addProblem(`has more than one of ${constraintKinds.join(', ')}: ${present.join(', ')}`)
  const here = path === '' ? kind : `${path}.${kind}`
  const inner = asJsonObject(findFieldIgnoringCase(map, kind))
  if (inner === undefined) return addProblem('is not a mapping', here)
  for (const key of Object.keys(inner))
    if (!fieldsByConstraintKind[kind].some((known) => known.toLowerCase() === key.toLowerCase()))
      addProblem(`has an unknown field "${key}", so OLM rejects the entire constraint`, here)
  const text = (field: string): string => {
    const found = findFieldIgnoringCase(inner, field)
    if (typeof found === 'string' && found.trim() !== '') return found
    addProblem(
      found === undefined || found === null || found === ''
        ? `has no ${field}`
        : `has a ${field} that is not a string`,
      here,
    )
    return ''
  }
  switch (kind) {
    case 'gvk':
      return { kind, group: text('group'), version: text('version'), apiKind: text('kind') }
    case 'package':
      return { kind, packageName: text('packageName'), versionRange: text('versionRange') }
    case 'cel': {
      const rule = text('rule')
      const problem = rule === '' ? undefined : findCelExpressionProblem(rule)
      if (problem !== undefined) addProblem(problem, here)
      return { kind, rule }
    }
    case 'all':
    case 'any':
    case 'not': {
      const list = findFieldIgnoringCase(inner, 'constraints')
      if (!Array.isArray(list) || list.length === 0) return addProblem('has no list of constraints', here)
      const constraints = list.map((item: Json, index) =>
        parseNestedConstraint(item, `${here}.constraints[${index}]`, level + 1, to),
      )
      return { kind, constraints: constraints.filter((item) => item !== undefined) }
    }
  }
}

/** Reports unknown fields. */
function findConstraintKindsInMap(
  map: Readonly<Record<string, Json>>,
  addProblem: (problem: string) => void,
) {
  const present: ConstraintKind[] = []
  for (const key of Object.keys(map)) {
    const kind = constraintKinds.find((known) => known === key.toLowerCase())
    if (kind !== undefined && map[key] !== null) present.push(kind)
    else if (kind === undefined && key.toLowerCase() !== 'failuremessage')
      addProblem(`has an unknown field "${key}", so OLM rejects the entire constraint`)
  }
  return present
}

/** Ignores case, as Go does. */
function findFieldIgnoringCase(map: Readonly<Record<string, Json>>, field: string): Json | undefined {
  if (Object.hasOwn(map, field)) return map[field]
  const key = Object.keys(map).find((candidate) => candidate.toLowerCase() === field.toLowerCase())
  return key === undefined ? undefined : map[key]
}

/** The problem as a verb phrase; undefined for a valid rule. */
export function findCelExpressionProblem(rule: string): string | undefined {
  const { valid, type, error } = createCelEnvironment().check(rule)
  if (valid) {
    const result = String(type)
    return result === 'bool' || result === 'dyn'
      ? undefined
      : `has a rule that returns ${result} instead of bool`
  }
  const isSyntax = error?.name === 'ParseError'
  if (!isSyntax && !celErrorCodesReportedByOlm.has(error?.code ?? '')) return undefined
  return `has a rule that does not compile: ${error?.message.split('\n')[0] ?? ''}`
}
