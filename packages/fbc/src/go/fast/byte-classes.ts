/** Thrown only inside the fast reader: the exact reader must read this document. */
export const fastReaderUnsupportedError = new Error('the fast reader does not support this document')

// Classifies the bytes of a document for the fast reader. It hands over to the exact reader at `odd` bytes.

export const NEWLINE = 0x0a
export const SPACE = 0x20
export const DOUBLE_QUOTE = 0x22
export const HASH = 0x23
export const SINGLE_QUOTE = 0x27
export const PLUS = 0x2b
export const DASH = 0x2d
export const PERIOD = 0x2e
export const COLON = 0x3a
export const EQUALS = 0x3d
export const BACKSLASH = 0x5c
export const LOWERCASE_E = 0x65
export const PIPE = 0x7c
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d
export const TAB = 0x09

/** Bytes where a text scan stops; 0 for all others. */
export const StopByteClass = {
  newline: 1,
  colon: 2,
  hash: 3,
  wide: 4,
  odd: 5,
  quote: 6,
  backslash: 7,
} as const

/** For plain scalars: bytes that may end the scalar or change its meaning. */
export const plainScalarStopBytes: Uint8Array = createStopByteTable([
  [COLON, StopByteClass.colon],
  [HASH, StopByteClass.hash],
  [TAB, StopByteClass.odd],
])

/** For block scalars and comments, where only line breaks and unreadable bytes matter. */
export const blockScalarStopBytes: Uint8Array = createStopByteTable([])

export const doubleQuotedStopBytes: Uint8Array = createStopByteTable([
  [DOUBLE_QUOTE, StopByteClass.quote],
  [BACKSLASH, StopByteClass.backslash],
  [TAB, StopByteClass.odd],
])

export const singleQuotedStopBytes: Uint8Array = createStopByteTable([
  [SINGLE_QUOTE, StopByteClass.quote],
  [TAB, StopByteClass.odd],
])

/** For JSON strings: control characters are odd, but DEL is ordinary text. */
export const jsonStringStopBytes: Uint8Array = createStopByteTable([
  [DOUBLE_QUOTE, StopByteClass.quote],
  [BACKSLASH, StopByteClass.backslash],
  [TAB, StopByteClass.odd],
  [NEWLINE, StopByteClass.odd],
  [0x7f, 0],
])

/** First bytes of plain scalars that are always text. */
export const unambiguousScalarStartBytes: Uint8Array = createByteSet(
  'ABCDEGHIJKLMPQRSUVWXZabcdeghijklmpqrsuvwxz/$()_^;<=\\',
)

/** First bytes of plain scalars that may be words (`true`, `off`), numbers or dates. */
export const ambiguousScalarStartBytes: Uint8Array = createByteSet('FNOTYfnoty0123456789+.')
export const numberCharacterBytes: Uint8Array = createByteSet('0123456789abcdefABCDEFxXoO_.+-')

export const yamlKeyStartBytes: Uint8Array = createByteSet(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_$',
)
export const yamlKeyBytes: Uint8Array = createByteSet(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$-./',
)

export const base64Bytes: Uint8Array = createByteSet(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
)

/** The letters after `e` in the base64 of a text that begins with an opening brace. */
export const base64OfBraceSecondBytes: Uint8Array = createByteSet('wxyz0123456789+/')

/** First bytes of lines that may belong to the previous value at any indentation. */
export const continuationLineStartBytes: Uint8Array = createByteSet('\n#\t')

/** Letters after a backslash in double quotes, except numeric escapes; YAML here lacks JSON's `\/`. */
export const singleLetterEscapeBytes: Uint8Array = createByteSet('0abtnvfre "\\N_LP\'')

function createStopByteTable(special: readonly (readonly [byte: number, stop: number])[]): Uint8Array {
  const stops = new Uint8Array(256)
  stops.fill(StopByteClass.odd, 0, 0x20)
  stops[TAB] = 0
  stops[NEWLINE] = StopByteClass.newline
  stops[0x7f] = StopByteClass.odd
  stops.fill(StopByteClass.wide, 0x80)
  for (const [byte, stop] of special) stops[byte] = stop
  return stops
}

function createByteSet(characters: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const character of characters) set[character.charCodeAt(0)] = 1
  return set
}

/**
 * Returns the byte length of the character at `at` (0x80 or more). Returns 0 for invalid UTF-8, control characters,
 * non-characters, and the Unicode line ends and marks that are special to YAML.
 */
export function getMultibyteCharacterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  const second = getUtf8ContinuationByte(bytes, at + 1)
  if (first < 0xc2 || second < 0) return 0
  if (first < 0xe0) return first === 0xc2 && second < 0xa0 ? 0 : 2
  const third = getUtf8ContinuationByte(bytes, at + 2)
  if (third < 0) return 0
  if (first < 0xf0) {
    if (first === 0xe0 && second < 0xa0) return 0
    if (first === 0xed && second > 0x9f) return 0
    // U+2028 and U+2029 end lines. U+FEFF is a byte order mark; U+FFFE and U+FFFF are noncharacters.
    if (first === 0xe2 && second === 0x80 && (third === 0xa8 || third === 0xa9)) return 0
    if (first === 0xef && second === 0xbb && third === 0xbf) return 0
    if (first === 0xef && second === 0xbf && third >= 0xbe) return 0
    return 3
  }
  if (first > 0xf4 || getUtf8ContinuationByte(bytes, at + 3) < 0) return 0
  if (first === 0xf0 && second < 0x90) return 0
  if (first === 0xf4 && second > 0x8f) return 0
  return 4
}

function getUtf8ContinuationByte(bytes: Uint8Array, at: number): number {
  const value = bytes[at]
  return value !== undefined && value >= 0x80 && value < 0xc0 ? value : -1
}
