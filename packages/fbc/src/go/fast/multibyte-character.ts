/**
 * Returns the byte length of the character at `at` (0x80 or more). Returns 0 for invalid UTF-8, control characters,
 * non-characters, and the Unicode line ends and marks that are special to YAML.
 */
export function getMultibyteCharacterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] as number
  const second = getContinuationByte(bytes, at + 1)
  if (first < 0xc2 || second < 0) return 0
  if (first < 0xe0) return first === 0xc2 && second < 0xa0 ? 0 : 2
  const third = getContinuationByte(bytes, at + 2)
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
  if (first > 0xf4 || getContinuationByte(bytes, at + 3) < 0) return 0
  if (first === 0xf0 && second < 0x90) return 0
  if (first === 0xf4 && second > 0x8f) return 0
  return 4
}

function getContinuationByte(bytes: Uint8Array, at: number): number {
  const value = bytes[at]
  return value !== undefined && value >= 0x80 && value < 0xc0 ? value : -1
}
