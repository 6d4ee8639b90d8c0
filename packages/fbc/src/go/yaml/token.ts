// Tokens and nodes of YAML, and the tags and directives in them.
import {
  type YamlCursor,
  getHexDigitValue,
  isBlank,
  isBlankOrEnd,
  isLineBreakOrEnd,
  isDigit,
  isWordCharacter,
  createScannerError,
} from './cursor.ts'
import type { StringValue } from '../tree.ts'

// YAML nodes as written: aliases not resolved, scalars untyped.

/** StringValue is for scalars that are always text and have no anchor. */
export type YamlNode = ScalarNode | StringValue | CollectionNode | AliasNode

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly start: number
  readonly end: number
  readonly tag: string
  readonly value: string
  /** The type depends on the text: plain, or tagged with the lone `!`. */
  readonly implicit: boolean
  readonly anchor: string
}

export interface CollectionNode {
  readonly kind: 'list' | 'map'
  readonly start: number
  end: number
  readonly anchor: string
  /** Items; for a map key, value, key, value. */
  children: YamlNode[]
}

export interface AliasNode {
  readonly kind: 'alias'
  readonly start: number
  readonly end: number
  readonly name: string
  /** The last node before it with this anchor. */
  readonly target: ScalarNode | CollectionNode
}

const BANG = 0x21
const PERCENT = 0x25

/** Characters of a tag's URI besides word characters. */
const tagUriCharacters = new Set([...";/?:@&=+$,.!~*'()[]%"].map((c) => c.charCodeAt(0)))

/** Characters, other than whitespace, that can directly follow an anchor's name. */
const anchorTerminatorCharacters = new Set([...'?:,]}%@`'].map((c) => c.charCodeAt(0)))

export type YamlDirective =
  | { readonly name: 'YAML'; readonly major: number; readonly minor: number }
  | { readonly name: 'TAG'; readonly handle: string; readonly prefix: string }

export type YamlTokenKind =
  | 'stream-end'
  | 'directive'
  | 'document-start'
  | 'document-end'
  | 'block-sequence-start'
  | 'block-mapping-start'
  | 'block-end'
  | 'flow-sequence-start'
  | 'flow-sequence-end'
  | 'flow-mapping-start'
  | 'flow-mapping-end'
  | 'block-entry'
  | 'flow-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'scalar'

export interface YamlToken {
  readonly kind: YamlTokenKind
  readonly index: number
  readonly line: number
  readonly end: number
  /** A scalar's text, an anchor's or alias's name, or a tag's suffix. */
  readonly value: string
  readonly plain: boolean
  readonly handle: string
  readonly directive: YamlDirective | undefined
}

export function scanAnchor(cursor: YamlCursor): string {
  cursor.skip()
  const name = scanWordCharacters(cursor)
  const next = cursor.peek()
  if (name === '' || !(isBlankOrEnd(next) || anchorTerminatorCharacters.has(next))) {
    throw createScannerError('did not find expected alphabetic or numeric character', cursor)
  }
  return name
}

/** Returns the lone `!` as an empty handle with the suffix `!`. */
export function scanTag(cursor: YamlCursor): { handle: string; suffix: string } {
  let handle = ''
  let suffix: string
  cursor.need(2)
  if (cursor.peek(1) === 0x3c) {
    cursor.skip(2)
    suffix = scanTagUri(cursor, '')
    if (cursor.peek() !== 0x3e) throw createScannerError("did not find the expected '>'", cursor)
    cursor.skip()
  } else {
    handle = scanTagHandle(cursor, false)
    if (handle.length > 1 && handle.endsWith('!')) {
      suffix = scanTagUri(cursor, '')
    } else {
      suffix = scanTagUri(cursor, handle)
      handle = '!'
      if (suffix === '') [handle, suffix] = ['', '!']
    }
  }
  cursor.need(1)
  if (!isBlankOrEnd(cursor.peek())) {
    throw createScannerError('did not find expected whitespace or line break', cursor)
  }
  return { handle, suffix }
}

export function scanDirective(cursor: YamlCursor): YamlDirective {
  cursor.skip()
  const name = scanWordCharacters(cursor)
  if (name === '') throw createScannerError('could not find expected directive name', cursor)
  if (!isBlankOrEnd(cursor.peek())) {
    throw createScannerError('found unexpected non-alphabetical character', cursor)
  }
  const directive =
    name === 'YAML' ? scanYamlVersionDirective(cursor) : name === 'TAG' ? scanTagDirective(cursor) : undefined
  if (!directive) throw createScannerError('found unknown directive name', cursor)
  skipBlanks(cursor)
  if (cursor.peek() === 0x23) while (!isLineBreakOrEnd(cursor.peek())) skipCharacter(cursor)
  if (!isLineBreakOrEnd(cursor.peek())) {
    throw createScannerError('did not find expected comment or line break', cursor)
  }
  cursor.need(2)
  cursor.readBreak()
  return directive
}

function scanYamlVersionDirective(cursor: YamlCursor): YamlDirective {
  skipBlanks(cursor)
  const major = scanYamlVersionNumber(cursor)
  if (cursor.peek() !== 0x2e) throw createScannerError("did not find expected digit or '.' character", cursor)
  cursor.skip()
  return { name: 'YAML', major, minor: scanYamlVersionNumber(cursor) }
}

function scanYamlVersionNumber(cursor: YamlCursor): number {
  cursor.need(1)
  let value = 0
  let length = 0
  for (; isDigit(cursor.peek()); skipCharacter(cursor)) {
    length++
    // libyaml's limit is two digits.
    if (length > 2) throw createScannerError('found extremely long version number', cursor)
    value = value * 10 + cursor.peek() - 0x30
  }
  if (length === 0) throw createScannerError('did not find expected version number', cursor)
  return value
}

function scanTagDirective(cursor: YamlCursor): YamlDirective {
  skipBlanks(cursor)
  const handle = scanTagHandle(cursor, true)
  cursor.need(1)
  if (!isBlank(cursor.peek())) throw createScannerError('did not find expected whitespace', cursor)
  skipBlanks(cursor)
  const prefix = scanTagUri(cursor, '')
  cursor.need(1)
  if (!isBlankOrEnd(cursor.peek())) {
    throw createScannerError('did not find expected whitespace or line break', cursor)
  }
  return { name: 'TAG', handle, prefix }
}

/** `!`, `!!` or `!name!`; outside a directive also `!name`, which begins a suffix. */
function scanTagHandle(cursor: YamlCursor, inDirective: boolean): string {
  cursor.need(1)
  if (cursor.peek() !== BANG) throw createScannerError("did not find expected '!'", cursor)
  cursor.skip()
  const handle = `!${scanWordCharacters(cursor)}`
  if (cursor.peek() === BANG) {
    cursor.skip()
    return `${handle}!`
  }
  if (inDirective && handle !== '!') throw createScannerError("did not find expected '!'", cursor)
  return handle
}

/** `head` is the part already read, with its leading `!`, which does not belong to the URI. */
function scanTagUri(cursor: YamlCursor, head: string): string {
  let uri = head.slice(1)
  let hasContent = head.length > 0
  cursor.need(1)
  for (;;) {
    const c = cursor.peek()
    if (!isWordCharacter(c) && !tagUriCharacters.has(c)) break
    if (c === PERCENT) uri += scanTagUriEscape(cursor)
    else {
      uri += String.fromCharCode(c)
      skipCharacter(cursor)
    }
    hasContent = true
  }
  if (!hasContent) throw createScannerError('did not find expected tag URI', cursor)
  return uri
}

function scanTagUriEscape(cursor: YamlCursor): string {
  const bytes: number[] = []
  let width = 1
  while (bytes.length < width) {
    cursor.need(3)
    const high = getHexDigitValue(cursor.peek(1))
    const low = getHexDigitValue(cursor.peek(2))
    if (cursor.peek() !== PERCENT || high < 0 || low < 0) {
      throw createScannerError('did not find URI escaped octet', cursor)
    }
    const octet = high * 16 + low
    if (bytes.length === 0) {
      width = octet < 0x80 ? 1 : octet < 0xc0 ? 0 : octet < 0xe0 ? 2 : octet < 0xf0 ? 3 : octet < 0xf8 ? 4 : 0
      if (width === 0) throw createScannerError('found an incorrect leading UTF-8 octet', cursor)
    } else if ((octet & 0xc0) !== 0x80) {
      throw createScannerError('found an incorrect trailing UTF-8 octet', cursor)
    }
    bytes.push(octet)
    cursor.skip(3)
  }
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes))
}

function scanWordCharacters(cursor: YamlCursor): string {
  const start = cursor.index
  cursor.need(1)
  while (isWordCharacter(cursor.peek())) skipCharacter(cursor)
  return cursor.text.slice(start, cursor.index)
}

function skipBlanks(cursor: YamlCursor): void {
  cursor.need(1)
  while (isBlank(cursor.peek())) skipCharacter(cursor)
}

function skipCharacter(cursor: YamlCursor): void {
  cursor.skip()
  cursor.need(1)
}
