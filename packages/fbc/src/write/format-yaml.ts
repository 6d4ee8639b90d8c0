// Formats blobs as YAML exactly as opm writes them, with sorted keys, lists at the indentation of their parent, and
// long strings folded beyond column 80. The style of a string depends on how go-yaml v2 would parse it.
import type { Json } from '../go/json/json.ts'
import { formatGoFloat, formatJsonNumber } from '../go/number.ts'
import { resolvePlainScalar, isTimestamp } from '../go/yaml/resolve-scalar.ts'
import { sortBlobsForWriting, compareYamlKeys } from './blob-order.ts'
import type { WritableCatalog } from './writable-catalog.ts'
import { computeUtf8ByteLength } from '../go/utf8.ts'

/** After this column, a space in a string becomes a line break. */
const yamlLineFoldColumn = 80
/** Longer keys are written with a question mark. */
const maxSimpleKeyLength = 128

/** The catalog as `opm render -o yaml` prints it. */
export function formatCatalogYaml(catalog: WritableCatalog): string {
  return sortBlobsForWriting(catalog)
    .map((blob) => `---\n${formatYaml(blob)}`)
    .join('')
}

/** One value as YAML, ending in a line feed. */
export function formatYaml(value: Json): string {
  const out = new YamlWriter()
  out.node(value, 0, false)
  return out.text()
}

class YamlWriter {
  private readonly pieces: string[] = []
  /** The current column, in characters. */
  private column = 0

  text(): string {
    if (this.column > 0) this.put('\n')
    return this.pieces.join('')
  }

  /** Writes a value whose lines start at `indent`. `inline` is true if the current line already has content. */
  node(value: Json, indent: number, inline: boolean): void {
    if (value === null || typeof value !== 'object') return this.scalar(value, indent, inline, false)
    if (Array.isArray(value)) {
      const items = value as readonly Json[]
      if (items.length === 0) return this.word('[]', inline)
      items.forEach((item, at) => {
        if (at > 0 || !inline) this.line(indent)
        this.put('-')
        // Inside a list item, a mapping or a nested list starts on the line of the dash.
        this.inItem(item, indent + 2)
      })
      return
    }
    const object = value as { readonly [key: string]: Json }
    const keys = Object.keys(object).sort(compareYamlKeys)
    if (keys.length === 0) return this.word('{}', inline)
    keys.forEach((key, at) => {
      if (at > 0 || !inline) this.line(indent)
      this.entry(key, object[key] ?? null, indent)
    })
  }

  private inItem(item: Json, indent: number): void {
    if (isNonEmptyCollection(item)) this.put(' ')
    this.node(item, indent, true)
  }

  private entry(key: string, value: Json, indent: number): void {
    const isSimple = ![...key].some(isLineBreak) && computeUtf8ByteLength(key) <= maxSimpleKeyLength
    if (!isSimple) {
      this.put('?')
      this.scalar(key, indent + 2, true, false)
      this.line(indent)
      this.put(':')
      return this.inItem(value, indent + 2)
    }
    this.scalar(key, indent, false, true)
    this.put(':')
    if (!isNonEmptyCollection(value)) return this.node(value, indent + 2, true)
    // Lists have the same indentation as their key. Mappings are indented by two more spaces.
    this.node(value, Array.isArray(value) ? indent : indent + 2, false)
  }

  private word(text: string, inline: boolean): void {
    if (inline && this.column > 0 && !this.endsInBlank()) this.put(' ')
    this.put(text)
  }

  private scalar(value: Json, indent: number, inline: boolean, isKey: boolean): void {
    if (value === null) return this.word('null', inline)
    if (typeof value === 'boolean') return this.word(String(value), inline)
    if (typeof value === 'number') return this.word(formatYamlNumber(value), inline)
    const text = (value as string).toWellFormed()
    if (inline && !this.endsInBlank()) this.put(' ')
    switch (chooseYamlScalarStyle(text, isKey)) {
      case 'plain':
        return this.folded(text, indent, isKey, 0)
      case 'single':
        this.put("'")
        this.folded(text.replaceAll("'", "''"), indent, isKey, 1)
        return this.put("'")
      case 'double':
        return this.double(text, indent, isKey)
      case 'literal':
        return this.literal(text, indent)
    }
  }

  /**
   * Writes a string in plain or single-quoted style. Spaces past the width become line breaks. Line breaks in the
   * string are doubled.
   */
  private folded(text: string, indent: number, isKey: boolean, margin: 0 | 1): void {
    // Most strings are short or base64, so they cannot be folded.
    if (
      /^[\x21-\x7e]*$/.test(text) ||
      (this.column + text.length <= yamlLineFoldColumn && /^[\x20-\x7e]*$/.test(text))
    )
      return this.put(text)
    const characters = [...text]
    let spaces = false
    let breaks = false
    characters.forEach((character, at) => {
      if (character === ' ') {
        const inside = margin === 0 || (at > 0 && at < characters.length - 1)
        if (!isKey && !spaces && this.column > yamlLineFoldColumn && inside && characters[at + 1] !== ' ')
          this.line(indent)
        else this.put(' ')
        spaces = true
      } else if (isLineBreak(character)) {
        if (!breaks && character === '\n') this.put('\n')
        this.put(character)
        breaks = true
      } else {
        if (breaks) this.line(indent)
        this.put(character)
        spaces = false
        breaks = false
      }
    })
  }

  private double(text: string, indent: number, isKey: boolean): void {
    const characters = [...text]
    let spaces = false
    this.put('"')
    characters.forEach((character, at) => {
      if (!isPrintable(character) || isLineBreak(character) || character === '"' || character === '\\') {
        this.put(escapeCharacter(character))
        spaces = false
      } else if (character === ' ') {
        if (!isKey && !spaces && this.column > yamlLineFoldColumn && at > 0 && at < characters.length - 1) {
          this.line(indent)
          if (characters[at + 1] === ' ') this.put('\\')
        } else this.put(' ')
        spaces = true
      } else {
        this.put(character)
        spaces = false
      }
    })
    this.put('"')
  }

  private literal(text: string, indent: number): void {
    const characters = [...text]
    const [first] = characters
    const last = characters.at(-1)
    const before = characters.at(-2)
    this.put('|')
    if (first === ' ' || (first !== undefined && isLineBreak(first))) this.put('2')
    if (last === undefined || !isLineBreak(last)) this.put('-')
    else if (before === undefined || isLineBreak(before)) this.put('+')
    this.put('\n')
    let breaks = true
    for (const character of characters) {
      if (isLineBreak(character)) {
        this.put(character)
        breaks = true
      } else {
        if (breaks) this.line(indent)
        this.put(character)
        breaks = false
      }
    }
  }

  /** Starts a new line at `indent`. Adds only spaces if the line is empty. */
  private line(indent: number): void {
    if (this.column > 0) this.put('\n')
    this.put(' '.repeat(indent))
  }

  private endsInBlank(): boolean {
    return this.column === 0 || (this.pieces.at(-1)?.endsWith(' ') ?? true)
  }

  private put(text: string): void {
    if (text === '') return
    this.pieces.push(text)
    if (text.length === 1 && isLineBreak(text)) this.column = 0
    else this.column += /[\ud800-\udfff]/.test(text) ? [...text].length : text.length
  }
}

type YamlScalarStyle = 'plain' | 'single' | 'double' | 'literal'

function chooseYamlScalarStyle(text: string, isKey: boolean): YamlScalarStyle {
  const traits = analyzeYamlScalar(text)
  if (text.includes('\n')) return traits.blockAllowed && !isKey ? 'literal' : 'double'
  if (isKey && traits.multiline) return 'double'
  const resolved = resolvePlainScalar(text)
  if (resolved.type !== 'str' || isTimestamp(text) || isYamlBase60Number(text)) return 'double'
  if (traits.plainAllowed && !(text === '' && isKey)) return 'plain'
  return traits.singleAllowed ? 'single' : 'double'
}

/** Numbers with colons, which other YAML parsers interpret as base 60. */
function isYamlBase60Number(text: string): boolean {
  return /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/.test(text)
}

function analyzeYamlScalar(text: string) {
  if (/^[A-Za-z0-9/+=_.][A-Za-z0-9/+=_.-]*$/.test(text) && !text.startsWith('...'))
    return { multiline: false, plainAllowed: true, singleAllowed: true, blockAllowed: true }
  const characters = [...text]
  if (characters.length === 0)
    return { multiline: false, plainAllowed: true, singleAllowed: true, blockAllowed: false }
  let indicators = text.startsWith('---') || text.startsWith('...')
  let special = false
  let multiline = false
  let breakSpace = false
  let spaceBreak = false
  let previous: 'space' | 'break' | 'other' = 'other'
  let afterBlank = true
  characters.forEach((character, at) => {
    const next = characters[at + 1]
    const beforeBlank = next === undefined || next === ' ' || next === '\t'
    if (at === 0) {
      if ('#,[]{}&*!|>\'"%@`'.includes(character)) indicators = true
      else if ('?:-'.includes(character) && beforeBlank) indicators = true
    } else if (character === ':' && beforeBlank) indicators = true
    else if (character === '#' && afterBlank) indicators = true
    if (!isPrintable(character)) special = true
    if (character === ' ') {
      if (previous === 'break') breakSpace = true
      previous = 'space'
    } else if (isLineBreak(character)) {
      multiline = true
      if (previous === 'space') spaceBreak = true
      previous = 'break'
    } else previous = 'other'
    afterBlank = character === ' ' || character === '\t' || isLineBreak(character)
  })
  const [first = '', last = ''] = [characters[0], characters.at(-1)]
  const edges = [first, last].some((character) => character === ' ' || isLineBreak(character))
  const never = spaceBreak || special
  return {
    multiline,
    plainAllowed: !indicators && !edges && !multiline && !breakSpace && !never,
    singleAllowed: !breakSpace && !never,
    blockAllowed: last !== ' ' && !never,
  }
}

function isLineBreak(character: string): boolean {
  return /^[\r\n\u0085\u2028\u2029]$/.test(character)
}

/** Characters that go-yaml v2 does not escape. It escapes tabs and byte order marks. */
function isPrintable(character: string): boolean {
  const point = character.codePointAt(0) ?? 0
  if (point === 0x0a) return true
  if (point < 0xa0) return point >= 0x20 && point <= 0x7e
  if (point >= 0x10000) return false
  return point !== 0xfeff && point !== 0xfffe && point !== 0xffff
}

const escapeByCodePoint: ReadonlyMap<number, string> = new Map([
  [0x00, '\\0'],
  [0x07, '\\a'],
  [0x08, '\\b'],
  [0x09, '\\t'],
  [0x0a, '\\n'],
  [0x0b, '\\v'],
  [0x0c, '\\f'],
  [0x0d, '\\r'],
  [0x1b, '\\e'],
  [0x22, '\\"'],
  [0x5c, '\\\\'],
  [0x85, '\\N'],
  [0xa0, '\\_'],
  [0x2028, '\\L'],
  [0x2029, '\\P'],
])

function escapeCharacter(character: string): string {
  const point = character.codePointAt(0) ?? 0
  const known = escapeByCodePoint.get(point)
  if (known !== undefined) return known
  const digits = point.toString(16).toUpperCase()
  if (point <= 0xff) return `\\x${digits.padStart(2, '0')}`
  return point <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\U${digits.padStart(8, '0')}`
}

/**
 * The JSON text of a number is parsed as YAML. 64-bit integers keep their digits, and all other numbers become Go
 * floats.
 */
function formatYamlNumber(value: number): string {
  if (value === 0) return '0'
  const text = formatJsonNumber(value)
  if (/^-?\d+$/.test(text)) {
    const whole = BigInt(text)
    if (whole >= -(2n ** 63n) && whole < 2n ** 64n) return text
  }
  return formatGoFloat(value)
}

function isNonEmptyCollection(value: Json): boolean {
  if (value === null || typeof value !== 'object') return false
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0
}
