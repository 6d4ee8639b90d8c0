// Decodes an `olm.constraint` as OLM's Go code does: rejects unknown fields, uses defaults for absent fields, and uses
// the first kind in OLM's order.
import type { Json } from '@catalog-bot/fbc/go/json/json'
import { quoteLikeGo } from '@catalog-bot/fbc/go/text'

export type DecodedConstraint =
  | { readonly kind: 'gvk'; readonly group: string; readonly version: string; readonly apiKind: string }
  | { readonly kind: 'package'; readonly packageName: string; readonly versionRange: string }
  | { readonly kind: 'all' | 'any' | 'not'; readonly parts: readonly DecodedConstraint[] }
  | { readonly kind: 'cel'; readonly rule: string; readonly failureMessage: string }
  | { readonly kind: 'empty' }

type ConstraintDecodeResult =
  { readonly ok: true; readonly value: DecodedConstraint } | { readonly ok: false; readonly error: string }
type ConstraintFields = Readonly<Record<string, Json>>

/** OLM's limit on the text of the value, in bytes. */
const maxConstraintBytes = 2 << 16
/** Prevents malicious values from exhausting the stack. */
const maxConstraintDepth = 500

class ConstraintDecodeError extends Error {}

/** Never throws. The error completes OLM's message. */
export function decodeConstraint(value: Json): ConstraintDecodeResult {
  if (new TextEncoder().encode(JSON.stringify(value)).length > maxConstraintBytes)
    return {
      ok: false,
      error: `olm.constraint value is greater than max constraint size ${maxConstraintBytes} bytes`,
    }
  try {
    return { ok: true, value: decodeConstraintAtDepth(value, 0) }
  } catch (error) {
    if (!(error instanceof ConstraintDecodeError)) throw error
    return { ok: false, error: error.message }
  }
}

function decodeConstraintAtDepth(value: Json, level: number): DecodedConstraint {
  if (level > maxConstraintDepth)
    throw new ConstraintDecodeError(`it is nested more than ${maxConstraintDepth} levels deep`)
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
  if (!Array.isArray(list)) throw createTypeError(list, '[]constraints.Constraint')
  return list.map((item: Json) => decodeConstraintAtDepth(item ?? {}, level + 1))
}

/** Returns fields by lowercase name. Empty if Go leaves a pointer nil. */
function decodeConstraintFields(
  value: Json | undefined,
  type: string,
  known: readonly string[],
): ConstraintFields {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'object' || Array.isArray(value)) throw createTypeError(value, type)
  const fields: Record<string, Json> = {}
  for (const [key, field] of Object.entries(value as ConstraintFields)) {
    const name = key.toLowerCase()
    if (!known.includes(name)) throw new ConstraintDecodeError(`json: unknown field ${quoteLikeGo(key)}`)
    // In Go, null keeps the value of an earlier spelling of the field.
    if (field !== null || !(name in fields)) fields[name] = field
  }
  return fields
}

function getStringField(fields: ConstraintFields, name: string): string {
  const value = fields[name] ?? ''
  if (typeof value !== 'string') throw createTypeError(value, 'string')
  return value
}

function createTypeError(value: Json, wanted: string): ConstraintDecodeError {
  const found = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value
  return new ConstraintDecodeError(`json: cannot unmarshal ${found} into Go value of type ${wanted}`)
}
