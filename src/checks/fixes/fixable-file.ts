// A file to fix, with trees that map back to lines. Keeps its format, and skips edits that are not safe.
import { findDocumentSpans } from '@catalog-bot/fbc/positions/positioned-tree'
import type { SuggestedFix } from '@catalog-bot/findings/finding'
import { parseYamlDocumentTree } from '@catalog-bot/fbc/go/yaml/read-yaml'
import { TextPositionLookup } from '@catalog-bot/fbc/go/position-lookup'
import { decodeUtf8Strictly } from '@catalog-bot/fbc/go/utf8'
import type { MapEntry, MapValue, ParsedValue } from '@catalog-bot/fbc/go/tree'

/** Larger files are not fixed. */
const maxFixableFileBytes = 4 * 1024 * 1024
const maxFixableDocumentLength = 1024 * 1024

/** Both from 1, in UTF-16 units. */
interface LineColumn {
  readonly line: number
  readonly column: number
}

export class FixableFile {
  readonly #file: string
  readonly #bytes: Uint8Array
  readonly #lines: readonly string[]

  private constructor(file: string, bytes: Uint8Array, text: string) {
    this.#file = file
    this.#bytes = bytes
    this.#lines = text.split('\n')
  }

  /** Undefined for large files, and where encoding or line ends make positions unreliable. */
  static open(file: string, bytes: Uint8Array): FixableFile | undefined {
    if (bytes.length > maxFixableFileBytes) return undefined
    const text = decodeUtf8Strictly(bytes)
    if (text === undefined || /[\r\ufeff\u0085\u2028\u2029]/.test(text)) return undefined
    return new FixableFile(file, bytes, text)
  }

  documentAt(line: number): FixableDocument | undefined {
    let firstLine = 1
    let counted = 0
    for (const { start, end } of findDocumentSpans(this.#bytes)) {
      for (; counted < start; counted++) if (this.#bytes[counted] === 0x0a) firstLine++
      const lineStart = start === 0 ? -1 : this.#bytes.lastIndexOf(0x0a, start - 1)
      let lastLine = firstLine
      for (let at = start; at < end; at++) if (this.#bytes[at] === 0x0a) lastLine++
      if (line < firstLine || line > lastLine) continue
      // If two documents share a line, neither is editable.
      if (end - start > maxFixableDocumentLength || lineStart !== start - 1) return undefined
      const tree = parseYamlDocumentTree(this.#bytes.subarray(start, end))
      if (tree === undefined) return undefined
      return new FixableDocument(this, tree.value, tree.text, firstLine)
    }
    return undefined
  }

  line(number: number): string {
    return this.#lines[number - 1] ?? ''
  }

  /** `context`: the number of lines shown above. */
  replaceLines(first: number, last: number, lines: readonly string[], context = 0): SuggestedFix {
    const from = Math.max(1, first - context)
    return {
      file: this.#file,
      first: from,
      last,
      before: this.#lines.slice(from - 1, last),
      after: [...this.#lines.slice(from - 1, first - 1), ...lines],
    }
  }

  with(fix: SuggestedFix): FixableFile | undefined {
    const lines = [...this.#lines.slice(0, fix.first - 1), ...fix.after, ...this.#lines.slice(fix.last)]
    return FixableFile.open(this.#file, new TextEncoder().encode(lines.join('\n')))
  }
}

export class FixableDocument {
  readonly root: ParsedValue
  readonly #file: FixableFile
  readonly #text: string
  readonly #places: TextPositionLookup

  constructor(file: FixableFile, root: ParsedValue, text: string, firstLine: number) {
    this.root = root
    this.#file = file
    this.#text = text
    this.#places = new TextPositionLookup(text, firstLine, 1)
  }

  get isJson(): boolean {
    return this.#text.startsWith('{')
  }

  positionAt(offset: number): LineColumn {
    return this.#places.positionAt(offset)
  }

  textOf({ start, end }: { readonly start: number; readonly end: number }): string | undefined {
    for (const span of listScalarSpans(this.root))
      if (span.start === start && span.end === end) return span.text
    return undefined
  }

  /** Replaces a scalar or key on one line and keeps its quotes. */
  replaceText(start: number, end: number, text: string, context = 0): SuggestedFix | undefined {
    const [from, to] = [this.positionAt(start), this.positionAt(end)]
    const old = this.#text.slice(start, end)
    // Anchors and aliases share their text with other locations.
    if (/[&*!][^\s]*[ \t]*$/.test(this.#text.slice(Math.max(0, start - 200), start))) return undefined
    const line = this.#file.line(from.line)
    if (from.line !== to.line || line.slice(from.column - 1, to.column - 1) !== old) return undefined
    const written = this.#written(text, old)
    if (written === undefined) return undefined
    const now = `${line.slice(0, from.column - 1)}${written}${line.slice(to.column - 1)}`
    return this.#file.replaceLines(from.line, from.line, [now], context)
  }

  /** Replaces a field's value unless it is an alias. */
  replaceValue({ keyEnd, value }: MapEntry, text: string, context = 0): SuggestedFix | undefined {
    if (!/^["']?\s*:\s*$/.test(this.#text.slice(keyEnd, value.start))) return undefined
    return this.replaceText(value.start, value.end, text, context)
  }

  /** Adds a field after (in JSON: before) the key `beside`, in a map whose keys are on separate lines. */
  addField(map: MapValue, beside: string, field: string, value: string | readonly string[]) {
    const entry = map.entries.find(({ key }) => key === beside)
    if (entry === undefined) return undefined
    const [key, end] = [this.positionAt(entry.keyStart), this.positionAt(entry.value.end)]
    const line = this.#file.line(key.line)
    const indent = line.slice(0, key.column - 1)
    if (this.isJson) {
      if (indent.trim() !== '') return undefined
      const text = `${indent}${JSON.stringify(field)}: ${JSON.stringify(value)},`
      return this.#file.replaceLines(key.line, key.line, [text, line])
    }
    // After a dash, the map's other keys have the same indentation: the dash counts as a space.
    if (!/^[ -]*$/.test(indent) || isFlowMap(this.#text, map) || key.line !== end.line) return undefined
    const blank = ' '.repeat(indent.length)
    const lines =
      typeof value === 'string'
        ? [`${blank}${field}: ${formatYamlScalar(value)}`]
        : [`${blank}${field}:`, ...value.map((item) => `${blank}  - ${formatYamlScalar(item)}`)]
    return this.#file.replaceLines(key.line, key.line, [line, ...lines])
  }

  *maps(value: ParsedValue = this.root): Generator<MapValue> {
    if (value.kind === 'list') for (const item of value.items) yield* this.maps(item)
    if (value.kind !== 'map') return
    yield value
    for (const entry of value.entries) yield* this.maps(entry.value)
  }

  findScalarAt(line: number, column: number): ScalarSpan | undefined {
    const isThere = (offset: number): boolean => {
      const point = this.positionAt(offset)
      return point.line === line && point.column === column
    }
    for (const span of listScalarSpans(this.root)) if (isThere(span.start)) return span
    return undefined
  }

  #written(text: string, old: string): string | undefined {
    if (this.isJson || old.startsWith('"')) return JSON.stringify(text)
    if (old.startsWith("'")) return text.includes("'") ? undefined : `'${text}'`
    return /^[|>&*!%@`{[]/.test(old) ? undefined : formatYamlScalar(text)
  }
}

/** Text that needs no quotes in YAML. */
function formatYamlScalar(text: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._/@+:-]*$/.test(text) || text.endsWith(':')) return JSON.stringify(text)
  // Three dotted numbers are not a YAML number.
  if (/^\d+\.\d+\.\d+/.test(text)) return text
  // YAML parses these as numbers, dates, or booleans.
  return /^(?:[0-9.+_:-]+|0[xob].*|[0-9].*e.*|true|false|yes|no|on|off|y|n|null|nan|inf)$/i.test(text)
    ? JSON.stringify(text)
    : text
}

function isFlowMap(text: string, map: MapValue): boolean {
  return text[map.start] === '{'
}

interface ScalarSpan {
  readonly start: number
  readonly end: number
  /** Undefined for values other than strings. */
  readonly text: string | undefined
}

function* listScalarSpans(value: ParsedValue): Generator<ScalarSpan> {
  if (value.kind === 'list') for (const item of value.items) yield* listScalarSpans(item)
  else if (value.kind === 'map')
    for (const entry of value.entries) {
      yield { start: entry.keyStart, end: entry.keyEnd, text: entry.key }
      yield* listScalarSpans(entry.value)
    }
  else yield { start: value.start, end: value.end, text: value.kind === 'string' ? value.value : undefined }
}

export function findMapEntry(map: MapValue, key: string): MapEntry | undefined {
  return map.entries.find((entry) => entry.key === key)
}
