// Decoded JSON as Go's fmt prints it with %v, and with the %t that opm uses by mistake.
import { compareBytes } from '../go-text.ts'
import { goFloat } from '../go-number.ts'
import type { Value } from '../tree.ts'

const maxLength = 1 << 20

/** `%v`: lists and maps as `[1 x]` and `map[a:1]`. */
export function plainGo(value: Value): string {
  return print(value, (scalar) => scalarText(scalar))
}

/** `%t` of something that is no bool: `%!t(float64=1)`. Nothing goes wrong with a bool. */
export function mistakenBoolGo(value: Value): string {
  const text = print(
    value,
    (scalar) => {
      if (scalar.kind === 'bool') return String(scalar.value)
      if (scalar.kind === 'null') return '<nil>'
      return `%!t(${scalar.kind === 'number' ? 'float64' : 'string'}=${scalarText(scalar)})`
    },
    true,
  )
  return value.kind === 'null' ? '%!t(<nil>)' : text
}

function scalarText(value: Value): string {
  switch (value.kind) {
    case 'null':
      return '<nil>'
    case 'bool':
      return String(value.value)
    case 'number':
      return goFloat(value.value)
    case 'string':
      return value.value
    case 'list':
    case 'map':
      return ''
  }
}

function print(root: Value, scalar: (value: Value) => string, markKeys = false): string {
  const pieces: string[] = []
  let length = 0
  const todo: (Value | string)[] = [root]
  for (let next = todo.pop(); next !== undefined && length < maxLength; next = todo.pop()) {
    if (typeof next !== 'string' && (next.kind === 'list' || next.kind === 'map')) {
      todo.push(...partsOf(next, markKeys).reverse())
      continue
    }
    const text = typeof next === 'string' ? next : scalar(next)
    pieces.push(text)
    length += text.length
  }
  return pieces.join('')
}

function partsOf(value: Value, markKeys: boolean): (Value | string)[] {
  if (value.kind === 'list') {
    return ['[', ...value.items.flatMap((item, at) => (at > 0 ? [' ', item] : [item])), ']']
  }
  if (value.kind !== 'map') return []
  const entries = [...value.entries].sort((a, b) => compareBytes(a.key, b.key))
  return [
    'map[',
    ...entries.flatMap(({ key, value: inner }, at) => [
      `${at > 0 ? ' ' : ''}${markKeys ? `%!t(string=${key})` : key}:`,
      inner,
    ]),
    ']',
  ]
}
