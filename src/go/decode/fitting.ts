// Values that already fit their Go type, which are almost all in a catalog. They need no decoding.
import { decodeBase64, decodePlain } from '../base64.ts'
import type { Value } from '../tree.ts'
import { valueAt } from '../tree.ts'
import type { Decoded, DecodedValue, Fields, Sources } from './decoded.ts'
import type { GoType, StructType } from './go-type.ts'

/** Returns whether no field of the struct, at any depth, has two spellings. */
export function fitsAsItStands(decoded: Decoded): boolean {
  return decoded instanceof FittingStruct
}

/** Whether decoding the value would go without a problem and without a choice between spellings. */
export function fitsType(type: GoType, value: Value): boolean {
  if (type.kind === 'raw' || value.kind === 'null') return true
  switch (type.kind) {
    case 'string':
    case 'bool':
      return value.kind === type.kind
    case 'int':
      return (
        value.kind === 'number' &&
        Number.isSafeInteger(value.value) &&
        !Object.is(value.value, -0) &&
        value.value >= type.min &&
        value.value <= type.max
      )
    case 'bytes':
      return value.kind === 'string' && isBase64(value.value)
    case 'slice':
      if (value.kind !== 'list') return false
      if (value.memo?.fits === type) return true
      for (const item of value.items) if (!fitsType(type.element, item)) return false
      if (value.memo) value.memo.fits = type
      return true
    case 'map':
      if (value.kind !== 'map') return false
      if (value.memo?.fits === type) return true
      for (const entry of value.entries) if (!fitsType(type.element, entry.value)) return false
      if (value.memo) value.memo.fits = type
      return true
    case 'struct':
      if (value.kind !== 'map') return false
      if (value.memo?.fits === type) return true
      for (const entry of value.entries) {
        if (Object.hasOwn(type.fields, entry.key)) {
          if (!fitsType(type.fields[entry.key] as GoType, entry.value)) return false
        } else if (foldsToField(type, entry.key)) return false
      }
      if (value.memo) value.memo.fits = type
      return true
  }
}

function isBase64(text: string): boolean {
  return decodePlain(text) !== undefined || typeof decodeBase64(text) !== 'number'
}

function foldsToField(type: StructType, key: string): boolean {
  for (const name of Object.keys(type.fields)) {
    if (name.length === key.length && name.toLowerCase() === key.toLowerCase().replaceAll('ſ', 's'))
      return true
  }
  return false
}

/** Looks fields up only on demand. */
export class FittingStruct implements Decoded {
  readonly at: Value
  readonly fields: Fields
  readonly sources: Sources

  constructor(type: StructType, at: Value) {
    this.at = at
    this.fields = new FittingFields(type, at)
    this.sources = new FittingSources(at)
  }
}

class FittingFields implements Fields {
  private readonly type: StructType
  private readonly value: Value

  constructor(type: StructType, value: Value) {
    this.type = type
    this.value = value
  }

  get(field: string): DecodedValue {
    const found = valueAt(this.value, field)
    return found && decodedOf(this.type.fields[field] as GoType, found)
  }

  has(field: string): boolean {
    return valueAt(this.value, field) !== undefined
  }
}

class FittingSources implements Sources {
  private readonly value: Value

  constructor(value: Value) {
    this.value = value
  }

  get(field: string): Value | undefined {
    return valueAt(this.value, field)
  }
}

function decodedOf(type: GoType, value: Value): DecodedValue {
  if (type.kind === 'raw' || type.kind === 'map') return value
  switch (value.kind) {
    case 'null':
      return undefined
    case 'string': {
      if (type.kind !== 'bytes') return value.value
      const bytes = decodeBase64(value.value)
      return typeof bytes === 'number' ? undefined : bytes
    }
    case 'bool':
    case 'number':
      return value.value
    case 'list':
      return type.kind === 'slice' ? value.items.map((item) => decodedOf(type.element, item)) : value
    case 'map':
      return type.kind === 'struct' ? new FittingStruct(type, value) : value
  }
}
