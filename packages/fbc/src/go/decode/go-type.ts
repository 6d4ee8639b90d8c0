// The Go types that opm decodes a catalog into, limited to what affects results and errors.

export type GoType =
  | { readonly kind: 'string' | 'bool' | 'bytes' | 'raw'; readonly name: string }
  | { readonly kind: 'int'; readonly name: string; readonly min: number; readonly max: number }
  | { readonly kind: 'slice'; readonly name: string; readonly element: GoType }
  | { readonly kind: 'map'; readonly name: string; readonly element: GoType }
  | StructType

export interface StructType {
  readonly kind: 'struct'
  /** Includes the package, as in error messages: `declcfg.ChannelEntry`. */
  readonly name: string
  readonly fields: Readonly<Record<string, GoType>>
}

export const stringType: GoType = { kind: 'string', name: 'string' }
export const boolType: GoType = { kind: 'bool', name: 'bool' }
export const bytesType: GoType = { kind: 'bytes', name: '[]uint8' }
export const rawMessageType: GoType = { kind: 'raw', name: 'json.RawMessage' }
export const uint8Type: GoType = { kind: 'int', name: 'uint8', min: 0, max: 255 }
export const int32Type: GoType = { kind: 'int', name: 'int32', min: -(2 ** 31), max: 2 ** 31 - 1 }

export function createNamedStringType(name: string): GoType {
  return { kind: 'string', name }
}

export function createSliceType(element: GoType): GoType {
  return { kind: 'slice', name: `[]${element.name}`, element }
}

export function createMapType(element: GoType): GoType {
  return { kind: 'map', name: `map[string]${element.name}`, element }
}

export function createStructType(name: string, fields: Readonly<Record<string, GoType>>): StructType {
  return { kind: 'struct', name, fields }
}
