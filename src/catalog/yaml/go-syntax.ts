// Values as Go's %#v writes them, for the two complaints about keys that show the value.
import { goFloat } from '../go-number.ts'
import { compareBytes, quote } from '../go-text.ts'
import type { NumberValue, Value } from '../tree.ts'
import type { Resolved } from './resolve-scalar.ts'
import { YamlError } from './yaml-error.ts'

/** Nothing useful is said by showing more of a value than this, and a bomb would be unfolded. */
const maxLength = 1 << 20

const maxInt64 = 2n ** 63n - 1n

/** Of maps with keys that are no texts: those keys, by the text that they become. */
export type TypedKeys = Map<Value, ReadonlyMap<string, Resolved>>

/** A map or a list stands where a key should. */
export function invalidKey(value: Value, typedKeys: TypedKeys, at: number): YamlError {
  return new YamlError(`yaml: invalid map key: ${goSyntax(value, typedKeys)}`, at)
}

/** A key that JSON cannot have: null, or an integer of 64 bits. */
export function unsupportedKey(key: Resolved, value: Value, typedKeys: TypedKeys, at: number): YamlError {
  const shown = value.kind === 'null' ? '<nil>' : goSyntax(value, typedKeys)
  const [type, text] =
    key.type === 'uint' ? ['uint64', `0x${BigInt(key.text).toString(16)}`] : ['%!s(<nil>)', '<nil>']
  return new YamlError(`unsupported map key of type: ${type}, key: ${text}, value: ${shown}`, at)
}

/** A key in Go's syntax. */
export function keySyntax(key: Resolved): string {
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
      return goFloat(key.value)
    case 'str':
      return quote(key.value)
  }
}

function goSyntax(root: Value, typedKeys: TypedKeys): string {
  const pieces: string[] = []
  let length = 0
  // What is still to be written, the next last.
  const todo: (Value | string)[] = [root]
  while (todo.length > 0 && length < maxLength) {
    const next = todo.pop() as Value | string
    const text = typeof next === 'string' ? next : scalarSyntax(next)
    if (text !== undefined) {
      pieces.push(text)
      length += text.length
    } else if (typeof next !== 'string') todo.push(...partsOf(next, typedKeys).reverse())
  }
  return pieces.join('')
}

function scalarSyntax(value: Value): string | undefined {
  switch (value.kind) {
    case 'null':
      return 'interface {}(nil)'
    case 'bool':
      return String(value.value)
    case 'number':
      return integerSyntax(value) ?? goFloat(value.value)
    case 'string':
      return quote(value.value)
    case 'list':
    case 'map':
      return undefined
  }
}

/** An integer in Go's syntax: one that is too large for a sign is shown in hexadecimal. */
function integerSyntax({ text, isFloat }: NumberValue): string | undefined {
  if (isFloat === true || !/^-?\d+$/.test(text)) return undefined
  const number = BigInt(text)
  return number > maxInt64 ? `0x${number.toString(16)}` : text
}

function partsOf(value: Value, typedKeys: TypedKeys): (Value | string)[] {
  if (value.kind === 'list') {
    return ['[]interface {}{', ...value.items.flatMap((item, at) => (at > 0 ? [', ', item] : [item])), '}']
  }
  if (value.kind !== 'map') return []
  const typed = typedKeys.get(value)
  const entries = value.entries
    .map(({ key, value: inner }) => ({ key: typed?.get(key) ?? textKey(key), value: inner }))
    .sort((a, b) => compareKeys(a.key, b.key))
  return [
    'map[interface {}]interface {}{',
    ...entries.flatMap(({ key, value: inner }, at) => [`${at > 0 ? ', ' : ''}${keySyntax(key)}:`, inner]),
    '}',
  ]
}

function textKey(key: string): Resolved {
  return { type: 'str', value: key }
}

/** Go sorts keys of several types by where it keeps the types: this is opm's order. */
const typeOrder: readonly Resolved['type'][] = ['null', 'str', 'uint', 'int', 'float', 'bool']

function compareKeys(a: Resolved, b: Resolved): number {
  if (a.type !== b.type) return typeOrder.indexOf(a.type) - typeOrder.indexOf(b.type)
  if (a.type === 'str' && b.type === 'str') return compareBytes(a.value, b.value)
  return a.type === 'null' || b.type === 'null' ? 0 : Number(a.value) - Number(b.value)
}
