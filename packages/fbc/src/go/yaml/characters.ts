// Character classes of YAML 1.1 by UTF-16 code unit. 0 means the end of the text.

export const TAB = 0x09
export const LF = 0x0a
export const CR = 0x0d
export const SPACE = 0x20
const NEXT_LINE = 0x85
const LINE_SEPARATOR = 0x2028
const PARAGRAPH_SEPARATOR = 0x2029

export function isBlank(c: number): boolean {
  return c === SPACE || c === TAB
}

export function isLineBreak(c: number): boolean {
  return c === LF || c === CR || c === NEXT_LINE || c === LINE_SEPARATOR || c === PARAGRAPH_SEPARATOR
}

export function isLineBreakOrEnd(c: number): boolean {
  return c === 0 || isLineBreak(c)
}

export function isBlankOrEnd(c: number): boolean {
  return c === SPACE || c === LF || c === 0 || c === TAB || isLineBreak(c)
}

/** Characters of anchors, handles and directive names. */
export function isWordCharacter(c: number): boolean {
  return (c >= 0x61 && c <= 0x7a) || (c >= 0x41 && c <= 0x5a) || isDigit(c) || c === 0x5f || c === 0x2d
}

export function isDigit(c: number): boolean {
  return c >= 0x30 && c <= 0x39
}

export function getHexDigitValue(c: number): number {
  if (isDigit(c)) return c - 0x30
  if (c >= 0x61 && c <= 0x66) return c - 0x57
  if (c >= 0x41 && c <= 0x46) return c - 0x37
  return -1
}
