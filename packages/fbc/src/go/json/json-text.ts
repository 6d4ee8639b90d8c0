// Formats values as Go's encoding/json does, with keys sorted by bytes and without spaces. Never recurses.
import { compareBytes, formatTruncatedParsedValue } from '../text.ts'
import { formatJsonNumber } from '../number.ts'
import type { ListValue, MapEntry, MapValue, ParsedValue } from '../tree.ts'

export interface GoJsonOptions {
  /** Escapes `<`, `>` and `&` as json.Marshal does. opm doesn't escape them in blobs. */
  readonly escapeHtml: boolean
  /** Writes numbers as they were read, not as floats. */
  readonly exactNumbers: boolean
  /** In characters. */
  readonly maxLength?: number
}

/** Limits aliases, which can expand a short text without limit. */
const maxJsonLength = 1 << 24

/** The text opm keeps of a blob, without the final line feed. */
export function formatBlobJson(value: ParsedValue): string {
  return formatGoJson(value, { escapeHtml: false, exactNumbers: false })
}

export function formatGoJson(root: ParsedValue, options: GoJsonOptions): string {
  return formatTruncatedParsedValue(
    root,
    {
      partsOf: (value) => tokenizeJsonForFormatting(value, options.escapeHtml),
      scalar: (value) => formatJsonScalar(value, options),
    },
    options.maxLength ?? maxJsonLength,
  )
}

function* tokenizeJsonForFormatting(
  value: ListValue | MapValue,
  escapeHtml: boolean,
): Generator<ParsedValue | string> {
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
    for (const { key, value: inner } of sortMapEntriesByKey(value.entries)) {
      yield `${between}${formatJsonString(key, escapeHtml)}:`
      yield inner
      between = ','
    }
    yield '}'
  }
}

/** Entries in the order in which Go writes and decodes them. */
export function sortMapEntriesByKey(entries: readonly MapEntry[]): readonly MapEntry[] {
  for (let at = 1; at < entries.length; at++) {
    if (compareBytes((entries[at - 1] as MapEntry).key, (entries[at] as MapEntry).key) > 0) {
      return [...entries].sort((a, b) => compareBytes(a.key, b.key))
    }
  }
  return entries
}

function formatJsonScalar(
  value: Exclude<ParsedValue, { kind: 'list' | 'map' }>,
  options: GoJsonOptions,
): string {
  switch (value.kind) {
    case 'null':
      return 'null'
    case 'bool':
      return String(value.value)
    case 'number':
      return options.exactNumbers ? value.text : formatJsonNumber(value.value)
    case 'string':
      return formatJsonString(value.value, options.escapeHtml)
  }
}

// Go escapes these, but JavaScript does not: line separators always, the others for safe use in HTML.
const lineSeparatorPatterns = { some: /[\u2028\u2029]/, all: /[\u2028\u2029]/g }
const htmlUnsafeCharacterPatterns = { some: /[<>&\u2028\u2029]/, all: /[<>&\u2028\u2029]/g }

/** A lone surrogate represents an invalid UTF-8 byte (`invalidUtf8ByteMarker`), which Go escapes. */
export function formatJsonString(text: string, escapeHtml: boolean): string {
  const quoted = text.isWellFormed() ? JSON.stringify(text) : quoteJsonStringReplacingSurrogates(text)
  const { some, all } = escapeHtml ? htmlUnsafeCharacterPatterns : lineSeparatorPatterns
  return some.test(quoted) ? quoted.replace(all, escapeJsonCharacter) : quoted
}

/** Escapes the same characters in JSON text as json.Marshal. They occur only in strings. */
export function escapeHtmlInJson(json: string): string {
  return json.replace(htmlUnsafeCharacterPatterns.all, escapeJsonCharacter)
}

function quoteJsonStringReplacingSurrogates(text: string): string {
  const whole = text.split(/\p{Surrogate}/u).map((piece) => JSON.stringify(piece).slice(1, -1))
  return `"${whole.join('\\ufffd')}"`
}

function escapeJsonCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
