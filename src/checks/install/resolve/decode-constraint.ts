// Decodes an `olm.constraint` as OLM's Go code does: refuses unknown fields, defaults absent ones, and uses the first
// kind in OLM's order.
import type { Json } from '../../../go/json/json.ts'
import { quote } from '../../../go/text.ts'

export type DecodedConstraint =
  | { readonly kind: 'gvk'; readonly group: string; readonly version: string; readonly apiKind: string }
  | { readonly kind: 'package'; readonly packageName: string; readonly versionRange: string }
  | { readonly kind: 'all' | 'any' | 'not'; readonly parts: readonly DecodedConstraint[] }
  | { readonly kind: 'cel'; readonly rule: string; readonly failureMessage: string }
  | { readonly kind: 'empty' }

type Decoded =
  { readonly ok: true; readonly value: DecodedConstraint } | { readonly ok: false; readonly error: string }
type Fields = Readonly<Record<string, Json>>

/** Bytes of the value's text, OLM's limit. */
const mostBytes = 2 << 16
/** Stops hostile values from exhausting the stack. */
const mostLevels = 500

class Undecodable extends Error {}

/** Never throws; the error completes OLM's sentence. */
export function decodeConstraint(value: Json): Decoded {
  if (new TextEncoder().encode(JSON.stringify(value)).length > mostBytes)
    return { ok: false, error: `olm.constraint value is greater than max constraint size ${mostBytes} bytes` }
  try {
    return { ok: true, value: decoded(value, 0) }
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error
    return { ok: false, error: error.message }
  }
}

function decoded(value: Json, level: number): DecodedConstraint {
  if (level > mostLevels) throw new Undecodable(`it is nested more than ${mostLevels} levels deep`)
  const fields = fieldsOf(value, 'constraints.Constraint', [
    'failuremessage',
    'cel',
    'package',
    'gvk',
    'all',
    'any',
    'not',
  ])
  // OLM decodes every kind, so an error in any of them counts.
  const gvk = fieldsOf(fields['gvk'], 'constraints.GVKConstraint', ['group', 'kind', 'version'])
  const its = fieldsOf(fields['package'], 'constraints.PackageConstraint', ['packagename', 'versionrange'])
  const cel = fieldsOf(fields['cel'], 'constraints.Cel', ['rule'])
  const failureMessage = text(fields, 'failuremessage')
  const read = {
    gvk: { group: text(gvk, 'group'), version: text(gvk, 'version'), apiKind: text(gvk, 'kind') },
    package: { packageName: text(its, 'packagename'), versionRange: text(its, 'versionrange') },
    cel: { rule: text(cel, 'rule'), failureMessage },
    all: parts(fields['all'], level),
    any: parts(fields['any'], level),
    not: parts(fields['not'], level),
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

function parts(value: Json | undefined, level: number): readonly DecodedConstraint[] {
  const list = fieldsOf(value, 'constraints.CompoundConstraint', ['constraints'])['constraints'] ?? []
  if (!Array.isArray(list)) throw wrongType(list, '[]constraints.Constraint')
  return list.map((item: Json) => decoded(item ?? {}, level + 1))
}

/** Returns fields by lower-case name; empty where Go leaves a pointer nil. */
function fieldsOf(value: Json | undefined, type: string, known: readonly string[]): Fields {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(value, type)
  const fields: Record<string, Json> = {}
  for (const [key, field] of Object.entries(value as Fields)) {
    const name = key.toLowerCase()
    if (!known.includes(name)) throw new Undecodable(`json: unknown field ${quote(key)}`)
    // In Go, null keeps the value of an earlier spelling of the field.
    if (field !== null || !(name in fields)) fields[name] = field
  }
  return fields
}

function text(fields: Fields, name: string): string {
  const value = fields[name] ?? ''
  if (typeof value !== 'string') throw wrongType(value, 'string')
  return value
}

function wrongType(value: Json, wanted: string): Undecodable {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  return new Undecodable(`json: cannot unmarshal ${found} into Go value of type ${wanted}`)
}
