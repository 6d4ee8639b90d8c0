// Values written as Go's encoding/json writes them: keys sorted by bytes, no spaces. Never recurses.
import { compareBytes } from '../go-text.ts'
import { jsonNumber } from '../go-number.ts'
import type { MapEntry, Value } from '../tree.ts'

export interface TextOptions {
  /** `<`, `>` and `&` as \u003c and so on: what json.Marshal does, and opm's own blobs do not. */
  readonly escapeHtml: boolean
  /** Numbers as the reader found them, not yet as floats. */
  readonly exactNumbers: boolean
  /** Where to stop, in characters. */
  readonly maxLength?: number
}

/** Aliases can make a short text into an endless one; no message needs more than this. */
const maxLength = 1 << 24

const needsEscape = /["\\\u0000-\u001f\u2028\u2029]/
const needsHtmlEscape = /["\\\u0000-\u001f\u2028\u2029<>&]/

/** The text opm keeps of a blob, without the line feed at its end. */
export function blobText(value: Value): string {
  return jsonText(value, { escapeHtml: false, exactNumbers: false })
}

export function jsonText(root: Value, options: TextOptions): string {
  const limit = options.maxLength ?? maxLength
  const pieces: string[] = []
  let length = 0
  // What is still to be written, the next last.
  const todo: (Value | string)[] = [root]
  for (let next = todo.pop(); next !== undefined && length < limit; next = todo.pop()) {
    if (typeof next === 'string') {
      pieces.push(next)
      length += next.length
    } else if (next.kind === 'list') {
      todo.push(']')
      for (let at = next.items.length - 1; at >= 0; at--)
        todo.push(next.items[at] as Value, at > 0 ? ',' : '[')
      if (next.items.length === 0) todo.push('[')
    } else if (next.kind === 'map') {
      const entries = sortedEntries(next.entries)
      todo.push('}')
      for (let at = entries.length - 1; at >= 0; at--) {
        const { key, value } = entries[at] as MapEntry
        todo.push(value, `${at > 0 ? ',' : '{'}${jsonString(key, options.escapeHtml)}:`)
      }
      if (entries.length === 0) todo.push('{')
    } else {
      const text = scalarText(next, options)
      pieces.push(text)
      length += text.length
    }
  }
  return pieces.join('')
}

/** Entries in the order in which Go writes and decodes them. */
export function sortedEntries(entries: readonly MapEntry[]): readonly MapEntry[] {
  for (let at = 1; at < entries.length; at++) {
    if (compareBytes((entries[at - 1] as MapEntry).key, (entries[at] as MapEntry).key) > 0) {
      return [...entries].sort((a, b) => compareBytes(a.key, b.key))
    }
  }
  return entries
}

function scalarText(value: Exclude<Value, { kind: 'list' | 'map' }>, options: TextOptions): string {
  switch (value.kind) {
    case 'null':
      return 'null'
    case 'bool':
      return String(value.value)
    case 'number':
      return options.exactNumbers ? value.text : jsonNumber(value.value)
    case 'string':
      return jsonString(value.value, options.escapeHtml)
  }
}

function jsonString(text: string, escapeHtml: boolean): string {
  if (!(escapeHtml ? needsHtmlEscape : needsEscape).test(text)) return `"${text}"`
  const pattern = escapeHtml ? /["\\\u0000-\u001f\u2028\u2029<>&]/g : /["\\\u0000-\u001f\u2028\u2029]/g
  return `"${text.replace(pattern, escapeCharacter)}"`
}

const shortEscapes: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
}

function escapeCharacter(character: string): string {
  return shortEscapes[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
