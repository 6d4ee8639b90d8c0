// Writes values like Go's encoding/json: keys sorted by bytes, no spaces. Never recurses.
import { compareBytes } from '../text.ts'
import { jsonNumber } from '../number.ts'
import { printValue } from '../print-value.ts'
import type { ListValue, MapEntry, MapValue, Value } from '../tree.ts'

export interface TextOptions {
  /** Escapes `<`, `>` and `&` as json.Marshal does; opm's own blobs do not. */
  readonly escapeHtml: boolean
  /** Writes numbers as they were read, not as floats. */
  readonly exactNumbers: boolean
  /** In characters. */
  readonly maxLength?: number
}

/** Limits aliases, which can expand a short text without end. */
const maxLength = 1 << 24

/** The text opm keeps of a blob, without the final line feed. */
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

// Go escapes these and JavaScript does not: line separators always, the rest for browsers.
const separators = { some: /[\u2028\u2029]/, all: /[\u2028\u2029]/g }
const html = { some: /[<>&\u2028\u2029]/, all: /[<>&\u2028\u2029]/g }

/** A lone surrogate represents an invalid UTF-8 byte (`brokenByte`), which Go escapes. */
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
