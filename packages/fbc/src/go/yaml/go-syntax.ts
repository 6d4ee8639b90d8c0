// Formats values like Go's %#v, for the two errors about keys that show the value.
import { formatGoFloat } from '../number.ts'
import { compareBytes, quoteLikeGo } from '../text.ts'
import { formatParsedValueWithLimit, type ParsedValueFormatter } from '../print-value.ts'
import type { ListValue, MapValue, NumberValue, ParsedValue } from '../tree.ts'
import type { ResolvedScalar } from './resolve-scalar.ts'
import { YamlError } from './yaml-error.ts'

/** More is not useful, and would expand alias bombs. */
const maxGoSyntaxLength = 1 << 20

const maxInt64 = 2n ** 63n - 1n

/** For maps with non-text keys: those keys, by their text. */
export type NonStringKeysByMap = Map<ParsedValue, ReadonlyMap<string, ResolvedScalar>>

export function createInvalidMapKeyError(
  value: ParsedValue,
  typedKeys: NonStringKeysByMap,
  at: number,
): YamlError {
  return new YamlError(`yaml: invalid map key: ${formatValueAsGoSyntax(value, typedKeys)}`, at)
}

/** For keys that JSON cannot have: null, or a 64-bit integer. */
export function createUnsupportedMapKeyError(
  key: ResolvedScalar,
  value: ParsedValue,
  typedKeys: NonStringKeysByMap,
  at: number,
): YamlError {
  const shown = value.kind === 'null' ? '<nil>' : formatValueAsGoSyntax(value, typedKeys)
  const [type, text] =
    key.type === 'uint' ? ['uint64', `0x${BigInt(key.text).toString(16)}`] : ['%!s(<nil>)', '<nil>']
  return new YamlError(`unsupported map key of type: ${type}, key: ${text}, value: ${shown}`, at)
}

export function formatMapKeyAsGo(key: ResolvedScalar): string {
  switch (key.type) {
    case 'null':
      return '<nil>'
    case 'bool':
      return String(key.value)
    case 'int':
      return key.text
    case 'uint':
      return `0x${BigInt(key.text).toString(16)}`
    case 'float':
      return formatGoFloat(key.value)
    case 'str':
      return quoteLikeGo(key.value)
  }
}

function formatValueAsGoSyntax(root: ParsedValue, typedKeys: NonStringKeysByMap): string {
  const printer = {
    partsOf: (value: ListValue | MapValue) => splitGoSyntaxIntoFormatParts(value, typedKeys),
    scalar: formatScalarAsGo,
  }
  return formatParsedValueWithLimit(root, printer, maxGoSyntaxLength)
}

function formatScalarAsGo(value: Parameters<ParsedValueFormatter['scalar']>[0]): string {
  switch (value.kind) {
    case 'null':
      return 'interface {}(nil)'
    case 'bool':
      return String(value.value)
    case 'number':
      return formatIntegerAsGo(value) ?? formatGoFloat(value.value)
    case 'string':
      return quoteLikeGo(value.value)
  }
}

/** Shows integers beyond int64 in hexadecimal. */
function formatIntegerAsGo({ text, isFloat }: NumberValue): string | undefined {
  if (isFloat === true || !/^-?\d+$/.test(text)) return undefined
  const number = BigInt(text)
  return number > maxInt64 ? `0x${number.toString(16)}` : text
}

function* splitGoSyntaxIntoFormatParts(
  value: ListValue | MapValue,
  typedKeys: NonStringKeysByMap,
): Generator<ParsedValue | string> {
  let between = ''
  if (value.kind === 'list') {
    yield '[]interface {}{'
    for (const item of value.items) {
      yield between
      yield item
      between = ', '
    }
  } else {
    const typed = typedKeys.get(value)
    const entries = value.entries.map((entry) => ({
      key: typed?.get(entry.key) ?? toResolvedStringKey(entry.key),
      inner: entry.value,
    }))
    yield 'map[interface {}]interface {}{'
    for (const { key, inner } of entries.sort((a, b) => compareResolvedMapKeys(a.key, b.key))) {
      yield `${between}${formatMapKeyAsGo(key)}:`
      yield inner
      between = ', '
    }
  }
  yield '}'
}

function toResolvedStringKey(key: string): ResolvedScalar {
  return { type: 'str', value: key }
}

/** Go sorts keys of several types by the addresses of the types: this is opm's order. */
const mapKeyTypeOrder: readonly ResolvedScalar['type'][] = ['null', 'str', 'uint', 'int', 'float', 'bool']

function compareResolvedMapKeys(a: ResolvedScalar, b: ResolvedScalar): number {
  if (a.type !== b.type) return mapKeyTypeOrder.indexOf(a.type) - mapKeyTypeOrder.indexOf(b.type)
  if (a.type === 'str' && b.type === 'str') return compareBytes(a.value, b.value)
  return a.type === 'null' || b.type === 'null' ? 0 : Number(a.value) - Number(b.value)
}
