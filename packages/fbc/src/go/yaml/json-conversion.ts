// Rejects what YAML allows but JSON does not: odd keys, infinities, nesting beyond Go's limit.
import { compareBytes, quoteLikeGo, formatTruncatedParsedValue, type ParsedValueFormatter } from '../text.ts'
import { formatGoFloat } from '../number.ts'
import type { ParsedValue, ListValue, MapValue, NumberValue } from '../tree.ts'
import { YamlError } from './cursor.ts'
import type { ResolvedScalar } from './resolve-scalar.ts'

/** More is not useful, and would expand alias bombs. */
const maxGoSyntaxLength = 1 << 20
const maxInt64 = 2n ** 63n - 1n

/** For maps with non-text keys: those keys, by their text. */
export type NonStringKeysByMap = Map<ParsedValue, ReadonlyMap<string, ResolvedScalar>>

/** Go sorts keys of several types by the addresses of the types: this is opm's order. */
const mapKeyTypeOrder: readonly ResolvedScalar['type'][] = ['null', 'str', 'uint', 'int', 'float', 'bool']

/**
 * Returns the first JSON conversion error, if any: keys first, then infinities in Go's writing order (keys sorted),
 * then nesting.
 */
export function findJsonConversionError(
  root: ParsedValue,
  badKeys: ReadonlyMap<ParsedValue, YamlError>,
  maxDepth: number,
): YamlError | undefined {
  let infinite: YamlError | undefined
  let tooDeep: YamlError | undefined
  const todo: { value: ParsedValue; depth: number }[] = [{ value: root, depth: 1 }]
  // Aliases share values, so a value is only checked again where it is nested deeper.
  const maxDepthByValue = new Map<ParsedValue, number>()
  for (let next = todo.pop(); next; next = todo.pop()) {
    const { value, depth } = next
    if (value.kind === 'number' && !Number.isFinite(value.value)) {
      infinite ??= new YamlError(`json: unsupported value: ${formatGoFloat(value.value)}`, value.start)
    }
    if (value.kind !== 'list' && value.kind !== 'map') continue
    const bad = badKeys.get(value)
    if (bad) return bad
    if ((maxDepthByValue.get(value) ?? 0) >= depth) continue
    maxDepthByValue.set(value, depth)
    if (depth > maxDepth) {
      const bracket = value.kind === 'list' ? '[' : '{'
      tooDeep ??= new YamlError(`invalid character '${bracket}' exceeded max depth`, value.start, 'decoding')
      continue
    }
    for (const child of getChildValuesReversed(value)) todo.push({ value: child, depth: depth + 1 })
  }
  return infinite ?? tooDeep
}

/**
 * Returns the error of a key below `root` that JSON cannot have, if any. Skips values in `clean` and adds valid ones.
 */
export function findInvalidJsonKeyError(
  root: ParsedValue,
  badKeys: ReadonlyMap<ParsedValue, YamlError>,
  clean: Set<ParsedValue>,
): YamlError | undefined {
  const seen: ParsedValue[] = []
  const todo = [root]
  for (let value = todo.pop(); value; value = todo.pop()) {
    if ((value.kind !== 'list' && value.kind !== 'map') || clean.has(value)) continue
    const bad = badKeys.get(value)
    if (bad) {
      for (const one of seen) clean.delete(one)
      return bad
    }
    clean.add(value)
    seen.push(value)
    if (value.kind === 'list') for (const item of value.items) todo.push(item)
    else for (const entry of value.entries) todo.push(entry.value)
  }
  return undefined
}

function getChildValuesReversed(value: ParsedValue): ParsedValue[] {
  if (value.kind === 'list') return [...value.items].reverse()
  if (value.kind !== 'map') return []
  return [...value.entries].sort((a, b) => compareBytes(b.key, a.key)).map((entry) => entry.value)
}

// Formats values like Go's %#v, for the two errors about keys that show the value.
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
    partsOf: (value: ListValue | MapValue) => tokenizeGoSyntaxForFormatting(value, typedKeys),
    scalar: formatScalarAsGo,
  }
  return formatTruncatedParsedValue(root, printer, maxGoSyntaxLength)
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

function* tokenizeGoSyntaxForFormatting(
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
      key: typed?.get(entry.key) ?? createStringMapKey(entry.key),
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

function createStringMapKey(key: string): ResolvedScalar {
  return { type: 'str', value: key }
}

function compareResolvedMapKeys(a: ResolvedScalar, b: ResolvedScalar): number {
  if (a.type !== b.type) return mapKeyTypeOrder.indexOf(a.type) - mapKeyTypeOrder.indexOf(b.type)
  if (a.type === 'str' && b.type === 'str') return compareBytes(a.value, b.value)
  return a.type === 'null' || b.type === 'null' ? 0 : Number(a.value) - Number(b.value)
}
