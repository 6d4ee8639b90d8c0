// Parses an `olm.constraint` as OLM's resolver does: exactly one kind, known fields only, valid CEL, limited size.
import type { Json } from '../../../go/json/json.ts'
import { asObject } from './catalog-view.ts'
import { celProblem } from './cel.ts'

export type Constraint =
  | { readonly kind: 'gvk'; readonly group: string; readonly version: string; readonly apiKind: string }
  | { readonly kind: 'package'; readonly packageName: string; readonly versionRange: string }
  | { readonly kind: 'cel'; readonly rule: string }
  | { readonly kind: 'all' | 'any' | 'not'; readonly constraints: readonly Constraint[] }

export interface ConstraintProblem {
  /** Within the property's value: `all.constraints[1].package`; '' for the value itself. */
  readonly path: string
  readonly problem: string
}

export interface ReadConstraint {
  /** Absent if the value is too broken. */
  readonly constraint?: Constraint
  readonly problems: readonly ConstraintProblem[]
}

const kinds = ['gvk', 'package', 'cel', 'all', 'any', 'not'] as const
type Kind = (typeof kinds)[number]

const fieldsOf: Readonly<Record<Kind, readonly string[]>> = {
  gvk: ['group', 'version', 'kind'],
  package: ['packageName', 'versionRange'],
  cel: ['rule'],
  all: ['constraints'],
  any: ['constraints'],
  not: ['constraints'],
}

/** OLM refuses larger values before it decodes them. */
const mostBytes = 131_072
/** Far deeper than real constraints; protects the stack from hostile values. */
const mostLevels = 64

/** Finds all problems, in document order. */
export function readConstraint(value: Json): ReadConstraint {
  const problems: ConstraintProblem[] = []
  const size = new TextEncoder().encode(JSON.stringify(value)).length
  if (size > mostBytes) {
    const problem = `has ${size} bytes, and OLM takes no more than ${mostBytes}`
    return { problems: [{ path: '', problem }] }
  }
  const constraint = read(value, '', 0, problems)
  return { ...(constraint && { constraint }), problems }
}

function read(value: Json, path: string, level: number, to: ConstraintProblem[]): Constraint | undefined {
  const complain = (problem: string, at = path): undefined => void to.push({ path: at, problem })
  const map = asObject(value)
  if (map === undefined) return complain('is not a mapping')
  if (level > mostLevels) return complain(`is nested more than ${mostLevels} levels deep`)
  const present: Kind[] = []
  for (const key of Object.keys(map)) {
    const kind = kinds.find((known) => known === key.toLowerCase())
    if (kind !== undefined && map[key] !== null) present.push(kind)
    else if (kind === undefined && key.toLowerCase() !== 'failuremessage')
      complain(`has an unknown field "${key}"; OLM refuses the whole constraint`)
  }
  const [kind, ...more] = present
  if (kind === undefined) return complain(`has none of ${kinds.join(', ')}`)
  if (more.length > 0) return complain(`has more than one of ${kinds.join(', ')}: ${present.join(', ')}`)
  const here = path === '' ? kind : `${path}.${kind}`
  const inner = asObject(fieldOf(map, kind))
  if (inner === undefined) return complain('is not a mapping', here)
  for (const key of Object.keys(inner))
    if (!fieldsOf[kind].some((known) => known.toLowerCase() === key.toLowerCase()))
      complain(`has an unknown field "${key}"; OLM refuses the whole constraint`, here)
  const text = (field: string): string => {
    const found = fieldOf(inner, field)
    if (typeof found === 'string' && found.trim() !== '') return found
    complain(
      found === undefined || found === null || found === ''
        ? `lacks ${field}`
        : `has a ${field} that is no text`,
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
      const problem = rule === '' ? undefined : celProblem(rule)
      if (problem !== undefined) complain(problem, here)
      return { kind, rule }
    }
    case 'all':
    case 'any':
    case 'not': {
      const list = fieldOf(inner, 'constraints')
      if (!Array.isArray(list) || list.length === 0) return complain('lacks a list of constraints', here)
      const constraints = list.map((item: Json, index) =>
        read(item, `${here}.constraints[${index}]`, level + 1, to),
      )
      return { kind, constraints: constraints.filter((item) => item !== undefined) }
    }
  }
}

/** Ignores case, as Go does. */
function fieldOf(map: Readonly<Record<string, Json>>, field: string): Json | undefined {
  if (Object.hasOwn(map, field)) return map[field]
  const key = Object.keys(map).find((candidate) => candidate.toLowerCase() === field.toLowerCase())
  return key === undefined ? undefined : map[key]
}
