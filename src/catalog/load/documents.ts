// Splits a file into documents as opm's stream decoder does, which guesses between JSON and YAML and can switch. Unlike
// opm, continues after a broken document.
import type { RegularDocument } from '../../go/fast/regular-yaml.ts'
import { RegularJsonReader, type RegularObject } from '../../go/fast/regular-json.ts'
import { RegularReader } from '../../go/fast/regular-yaml.ts'
import { JsonError } from '../../go/json/json-error.ts'
import type { JsonResult } from '../../go/json/read-json.ts'
import { readJson } from '../../go/json/read-json.ts'
import { markedJson, withMark } from '../../go/json/marked-json.ts'
import { quote, trimSpace } from '../../go/text.ts'
import type { Value } from '../../go/tree.ts'
import { ByteOffsets, characterWidth, decodeLikeGo } from '../../go/utf8.ts'
import { chunkText } from '../../go/yaml/chunk-text.ts'
import { readYaml } from '../../go/yaml/read-yaml.ts'
import type { Chunk } from '../../go/yaml/chunks.ts'
import { chunksOf, trimLeadingSpace } from '../../go/yaml/chunks.ts'
import type { Meta, MetaProblem } from './meta.ts'
import { joinedMessage, missingSchema, readMeta } from './meta.ts'
import type { Places } from '../../go/places.ts'
import { TextPlaces } from '../../go/places.ts'

/** The decoder searches this many bytes for an opening brace. */
const lookAhead = 4096

/** After this many decoded JSON objects, an error no longer makes the decoder try YAML. */
const maxBeforeSwitch = 1

export interface Document {
  /** Byte offset in the file. */
  readonly start: number
  readonly end: number
  readonly places: Places
  /** Absent if the document has a problem or values were requested. */
  readonly meta?: Meta
  /** Only if values were requested. */
  readonly value?: Value
  /** The text that offsets in `value` refer to, for JSON. */
  readonly json?: string
  readonly problem?: DocumentProblem
  /** Reads the document with the exact reader, which reports problems. */
  readonly exactly?: () => Document
  /** Offset (in the text of `places`) of text that opm silently drops. */
  readonly unread?: number
}

export interface DocumentOptions {
  /** Disables the fast reader, to test that both agree. */
  readonly exact?: boolean
  /** Yields any value, not only blobs: opm reads templates into other types. */
  readonly asValues?: boolean
}

export interface DocumentProblem {
  readonly kind: 'yaml' | 'json' | 'separator' | 'missing-schema' | 'meta'
  /** opm's full text. */
  readonly message: string
  /** The parser's text without opm's prefixes. */
  readonly detail: string
  /** Offset in the text of `places`. */
  readonly at: number
  readonly end?: number
  readonly meta?: readonly MetaProblem[]
}

const convertingPrefix = 'error converting YAML to JSON: '
const decodingPrefix = 'error unmarshaling JSON: while decoding JSON: '

export function* documentsOf(bytes: Uint8Array, options: DocumentOptions = {}): Generator<Document> {
  const peeked = trimLeadingSpace(decodeLikeGo(bytes.subarray(0, lookAhead)))
  if (peeked.startsWith('{')) yield* jsonDocuments(bytes, options)
  else yield* yamlDocuments(bytes, { ...wholeFile, ...options })
}

const wholeFile = { from: 0, line: 0, column: 0, exact: false, asValues: false }

function* yamlDocuments(
  whole: Uint8Array,
  { from, line, column, exact, asValues }: typeof wholeFile,
): Generator<Document> {
  const end = endOfLines(whole, from)
  const bytes = whole.subarray(0, end)
  let regular: RegularDocument | undefined
  const reader = exact || asValues ? undefined : new RegularReader(bytes)
  const passRegular = (start: number): RegularDocument | undefined => {
    regular = reader?.read(start)
    return regular
  }
  for (const chunk of chunksOf(bytes, from, line, decodeLikeGo, passRegular)) {
    if (chunk.badSeparator) yield separatorProblem(bytes, chunk)
    if (chunk.end === chunk.start) continue
    const exactly = (): Document => yamlDocument(bytes, chunk, chunk.start === from ? column : 0, asValues)
    const document = regular && chunk.badSeparator === undefined && regularDocument(regular, chunk)
    yield document ? { ...document, exactly } : exactly()
  }
  if (end === whole.length) return
  const lost = decodeLikeGo(whole.subarray(end))
  const lineOfEnd = line + linesIn(bytes, from)
  const places = new TextPlaces(lost, lineOfEnd + 1, (end === from ? column : 0) + 1)
  yield { start: end, end: whole.length, places, unread: 0 }
}

/** Go's line reader returns long lines in pieces of this many bytes. */
const lineBuffer = 4096

/**
 * The end of the last line that opm reads. opm silently loses an unterminated last line if its bytes exactly fill the
 * line reader's buffer.
 */
function endOfLines(bytes: Uint8Array, from: number): number {
  const start = Math.max(bytes.lastIndexOf(0x0a) + 1, from)
  let at = start
  // A carriage return at the end of a piece waits for the next piece, because it might be half of a CRLF.
  while (bytes.length - at >= lineBuffer) at += lineBuffer - (bytes[at + lineBuffer - 1] === 0x0d ? 1 : 0)
  const isLost = at === bytes.length && at > start
  // The reader checks for a separator before it checks for the end of the file.
  const isSeparator = bytes[start] === 0x2d && bytes[start + 1] === 0x2d && bytes[start + 2] === 0x2d
  return isLost && !isSeparator ? start : bytes.length
}

function linesIn(bytes: Uint8Array, from: number): number {
  let lines = 0
  for (let at = bytes.indexOf(0x0a, from); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines++
  return lines
}

/** Undefined if something is wrong with the document. */
function regularDocument({ tree, lines }: RegularDocument, chunk: Chunk): Document | undefined {
  const found = readMeta(tree, undefined)
  if ('problems' in found || found.meta.schema === '') return undefined
  const { start, end, line } = chunk
  return { start, end, places: lines.places(line + 1), meta: found.meta }
}

function separatorProblem(bytes: Uint8Array, chunk: Chunk): Document {
  const { text, start, line } = chunk.badSeparator as NonNullable<Chunk['badSeparator']>
  const lineFeed = bytes.indexOf(0x0a, start)
  const end = lineFeed < 0 ? bytes.length : lineFeed
  return {
    start,
    end,
    places: new TextPlaces(decodeLikeGo(bytes.subarray(start, end)), line + 1),
    problem: { kind: 'separator', message: `invalid Yaml document separator: ${text}`, detail: text, at: 0 },
  }
}

function yamlDocument(bytes: Uint8Array, chunk: Chunk, column: number, asValue: boolean): Document {
  const { start, end, line } = chunk
  const source = chunkText(bytes.subarray(start, end))
  const places = new TextPlaces(source.text, line + 1, column + 1)
  const place = { start, end, places }
  const result = readYaml(source)
  if (!result.ok) {
    const { message, at, stage } = result.error
    const prefix = stage === 'converting' ? convertingPrefix : decodingPrefix
    return {
      ...place,
      problem: { kind: 'yaml', message: prefix + message, detail: message.replace(/^yaml: /, ''), at },
    }
  }
  const { value, unread } = result
  const rest = unread === undefined ? {} : { unread }
  if (asValue) return { ...place, ...rest, value: value ?? { kind: 'null', start: 0, end: 0 } }
  if (!value || value.kind === 'null') {
    const at = value?.start ?? 0
    return {
      ...place,
      ...rest,
      problem: { kind: 'missing-schema', message: missingSchema(undefined), detail: '', at },
    }
  }
  return { ...place, ...rest, ...metaOf(readMeta(value, undefined), decodingPrefix) }
}

function metaOf(found: ReturnType<typeof readMeta>, prefix: string): Pick<Document, 'meta' | 'problem'> {
  if ('problems' in found) {
    const message = joinedMessage(found.problems)
    return {
      problem: { kind: 'meta', message: prefix + message, detail: message, at: 0, meta: found.problems },
    }
  }
  const { meta } = found
  if (meta.schema !== '') return { meta }
  return {
    problem: { kind: 'missing-schema', message: missingSchema(meta.value), detail: '', at: meta.value.start },
  }
}

function* jsonDocuments(bytes: Uint8Array, options: DocumentOptions): Generator<Document> {
  const asValues = options.asValues === true
  const reader = options.exact === true || asValues ? undefined : new RegularJsonReader(bytes)
  let whole: JsonText | undefined
  let handedOver = 0
  let at = 0
  for (let count = 0; ; count++) {
    const start = skipJsonSpaceBytes(bytes, at)
    if (start >= bytes.length) return
    const regular = handedOver < mostHandedOver ? reader?.read(start) : undefined
    const meta = regular && regularMeta(regular)
    handedOver = meta ? 0 : handedOver + 1
    if (meta) {
      const { end, lines, firstLine } = regular
      const exactly = (): Document => exactJson(bytes, (whole ??= jsonTextOf(bytes)), start)
      yield { start, end, places: lines.places(firstLine), meta, exactly }
      at = end
      continue
    }
    const { text, places, offsets } = (whole ??= jsonTextOf(bytes))
    const found = jsonDocument(bytes, text, offsets.unitAt(start), asValues)
    if (!found.refused) {
      const end = offsets.at(found.end)
      yield { start, end, places, ...found.document }
      at = end
      continue
    }
    if (count > maxBeforeSwitch) {
      const problem = jsonProblem(found.refused, bytes, text, false)
      yield { start: at, end: bytes.length, places, problem }
      return
    }
    const problem = jsonProblem(found.refused, bytes, text, true)
    // The decoder restarts as YAML where it stopped and drops the rest of that line if it is blank.
    const from = behindBlankLine(bytes, at)
    if (from === undefined) {
      yield { start: at, end: bytes.length, places, problem }
      return
    }
    const mark = places.mark(offsets.unitAt(from))
    const { line, column } = { line: mark.line - 1, column: mark.column - 1 }
    let isFirst = true
    for (const document of yamlDocuments(bytes, { from, line, column, exact: true, asValues })) {
      const failed = isFirst && document.problem && document.problem.kind !== 'missing-schema'
      yield failed ? { start: document.start, end: document.end, places, problem } : document
      isFirst = false
    }
    if (isFirst) yield { start: at, end: bytes.length, places, problem }
    return
  }
}

/** After this many irregular objects in a row, skip the fast reader so that nothing else is read twice. */
const mostHandedOver = 32

interface JsonText {
  readonly text: string
  readonly places: Places
  readonly offsets: ByteOffsets
}

function jsonTextOf(bytes: Uint8Array): JsonText {
  const text = decodeLikeGo(bytes)
  return { text, places: new TextPlaces(text), offsets: new ByteOffsets(bytes, text) }
}

function skipJsonSpaceBytes(bytes: Uint8Array, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return at
}

/** Undefined if something is wrong with the object. */
function regularMeta({ tree }: RegularObject): Meta | undefined {
  const found = readMeta(tree, undefined)
  return 'problems' in found || found.meta.schema === '' ? undefined : found.meta
}

/** The fast reader has read the object, so it is well-formed. */
function exactJson(bytes: Uint8Array, { text, places, offsets }: JsonText, start: number): Document {
  const found = jsonDocument(bytes, text, offsets.unitAt(start), false)
  if (found.refused)
    return { start, end: bytes.length, places, problem: jsonProblem(found.refused, bytes, text, false) }
  return { start, end: offsets.at(found.end), places, ...found.document }
}

type Refused =
  | { readonly kind: 'syntax'; readonly error: JsonError }
  | { readonly kind: 'meta'; readonly problem: DocumentProblem }

function jsonDocument(
  bytes: Uint8Array,
  text: string,
  from: number,
  asValue: boolean,
):
  | { refused: Refused }
  | { refused: undefined; end: number; document: Omit<Document, 'start' | 'end' | 'places'> } {
  let result: JsonResult
  try {
    result = readJson(text, from)
  } catch (error) {
    if (error instanceof JsonError) return { refused: { kind: 'syntax', error } }
    throw error
  }
  const { value, end, hugeNumber } = result
  if (asValue) return { refused: undefined, end, document: { value, json: text } }
  if (hugeNumber && value.kind === 'map')
    return { refused: { kind: 'meta', problem: hugeNumberProblem(bytes, text, from, end, hugeNumber) } }
  if (value.kind === 'null') {
    const problem: DocumentProblem = {
      kind: 'missing-schema',
      message: missingSchema(value),
      detail: '',
      at: value.start,
    }
    return { refused: undefined, end, document: { problem } }
  }
  const found = metaOf(readMeta(value, text.slice(from, end)), '')
  if (found.problem?.kind === 'meta') return { refused: { kind: 'meta', problem: found.problem } }
  return { refused: undefined, end, document: found }
}

function hugeNumberProblem(
  bytes: Uint8Array,
  text: string,
  from: number,
  end: number,
  number: NonNullable<JsonResult['hugeNumber']>,
): DocumentProblem {
  const offsets = new ByteOffsets(bytes, text)
  const start = offsets.at(from)
  const bytesBefore = (unit: number): number => offsets.at(from + unit) - start
  const at = { text: number.text, end: number.end - from }
  const { message, detail } = hugeNumberMessage(text.slice(from, end), at, bytesBefore)
  return { kind: 'json', message, detail, at: number.end - number.text.length, end: number.end }
}

/** Go's error for a number that doesn't fit a float. */
export function hugeNumberMessage(
  raw: string,
  number: NonNullable<JsonResult['hugeNumber']>,
  bytesBefore: (unit: number) => number,
): { message: string; detail: string } {
  const detail = `json: cannot unmarshal number ${number.text} into Go value of type float64`
  // Go's position is one character after the number.
  const offset = number.end + 1
  return { message: withMark(detail, bytesBefore(offset), markedJson(raw, offset)), detail }
}

function jsonProblem(
  refused: Refused,
  bytes: Uint8Array,
  text: string,
  withOffset: boolean,
): DocumentProblem {
  if (refused.kind === 'meta') return refused.problem
  const { error } = refused
  if (error.kind === 'end')
    return { kind: 'json', message: error.message, detail: error.message, at: error.at }
  const offset = new ByteOffsets(bytes, text).at(error.at)
  const detail = `invalid character ${quotedByte(bytes[offset] as number)} ${error.message}`
  const message = withOffset ? `json: offset ${offset + 1}: ${detail}` : detail
  return { kind: 'json', message, detail, at: error.at }
}

/** Go formats a single byte as if it were a character. */
function quotedByte(byte: number): string {
  if (byte === 0x27) return `'\\''`
  if (byte === 0x22) return `'"'`
  return `'${quote(String.fromCharCode(byte)).slice(1, -1)}'`
}

/** The decoder needs this many bytes to detect a character and gives up if the file has fewer. */
const characterLook = 4

/**
 * Skips Go's white space through the first line feed. Undefined if the decoder gives up first: at the last bytes of the
 * file, invalid UTF-8 or U+FFFD.
 */
function behindBlankLine(bytes: Uint8Array, from: number): number | undefined {
  for (let at = from; at + characterLook <= bytes.length;) {
    if (bytes[at] === 0x0a) return at + 1
    const width = characterWidth(bytes, at)
    const character = decodeLikeGo(bytes.subarray(at, at + Math.max(width, 1)))
    if (character === '\ufffd') return undefined
    if (trimSpace(character) !== '') return at
    at += width
  }
  return undefined
}
