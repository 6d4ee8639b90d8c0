// Values written as Go's encoding/json writes them: keys sorted by bytes, no spaces. Never recurses.
import { compareBytes } from '../text.ts'
import { jsonNumber } from '../number.ts'
import { printValue } from '../print-value.ts'
import type { ListValue, MapEntry, MapValue, Value } from '../tree.ts'

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

/** The text opm keeps of a blob, without the line feed at its end. */
export function blobText(value: Value): string {
  return jsonText(value, { escapeHtml: false, exactNumbers: false })
}

export function jsonText(root: Value, options: TextOptions): string {
  return printValue(
    root,
    {
      partsOf: (value) => partsOf(value, options.escapeHtml),
      scalar: (value) => scalarText(value, options),
    },
    options.maxLength ?? maxLength,
  )
}

function* partsOf(value: ListValue | MapValue, escapeHtml: boolean): Generator<Value | string> {
  let between = ''
  if (value.kind === 'list') {
    yield '['
    for (const item of value.items) {
      if (between !== '') yield between
      yield item
      between = ','
    }
    yield ']'
  } else {
    yield '{'
    for (const { key, value: inner } of sortedEntries(value.entries)) {
      yield `${between}${jsonString(key, escapeHtml)}:`
      yield inner
      between = ','
    }
    yield '}'
  }
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

// What JavaScript writes as it is, and Go escapes: line separators always, for a browser's sake the rest.
const separators = { some: /[\u2028\u2029]/, all: /[\u2028\u2029]/g }
const html = { some: /[<>&\u2028\u2029]/, all: /[<>&\u2028\u2029]/g }

/** A text as JSON. Half a surrogate pair stands for a byte that is no UTF-8 (`brokenByte`), of which Go writes an escape. */
export function jsonString(text: string, escapeHtml: boolean): string {
  const quoted = text.isWellFormed() ? JSON.stringify(text) : quotedWithBroken(text)
  const { some, all } = escapeHtml ? html : separators
  return some.test(quoted) ? quoted.replace(all, escapeCharacter) : quoted
}

function quotedWithBroken(text: string): string {
  const whole = text.split(/\p{Surrogate}/u).map((piece) => JSON.stringify(piece).slice(1, -1))
  return `"${whole.join('\\ufffd')}"`
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
