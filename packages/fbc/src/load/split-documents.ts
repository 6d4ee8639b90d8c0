// Splits a file into documents as opm's stream decoder does, which guesses between JSON and YAML and can switch. Unlike
// opm, continues after an invalid document.
import { type FastParsedYamlDocument, FastYamlReader } from '../go/fast/regular-yaml.ts'
import { FastJsonReader, type FastParsedJsonObject } from '../go/fast/regular-json.ts'
import {
  type ReadJsonResult,
  readJson,
  JsonError,
  markJsonErrorPosition,
  formatJsonErrorWithMarker,
} from '../go/json/read-json.ts'
import { quoteLikeGo, trimSpaceLikeGo } from '../go/text.ts'
import type { ParsedValue } from '../go/tree.ts'
import { ByteOffsetLookup, getUtf8CharacterLength, decodeUtf8LikeGo } from '../go/utf8.ts'
import { decodeYamlChunk, type YamlChunk, splitYamlChunks, trimLeadingSpace } from '../go/yaml/encoding.ts'
import { readYaml } from '../go/yaml/read-yaml.ts'
import {
  type BlobMeta,
  type BlobMetaProblem,
  joinProblemMessages,
  formatMissingSchemaError,
  parseBlobMeta,
} from './meta.ts'
import { type PositionLookup, TextPositionLookup } from '../go/position-lookup.ts'

/** The decoder searches this many bytes for an opening brace. */
const maxJsonDetectionBytes = 4096

/** After this many decoded JSON objects, an error no longer makes the decoder try YAML. */
const maxJsonObjectsBeforeYamlFallback = 1

export interface CatalogDocument {
  /** Byte offset in the file. */
  readonly start: number
  readonly end: number
  readonly positions: PositionLookup
  /** Absent if the document has a problem or values were requested. */
  readonly meta?: BlobMeta
  /** Only if values were requested. */
  readonly value?: ParsedValue
  /** The text that offsets in `value` refer to, for JSON. */
  readonly json?: string
  readonly problem?: CatalogDocumentProblem
  /** Reads the document with the exact reader, which reports problems. */
  readonly exactly?: () => CatalogDocument
  /** The offset, in the text of `positions`, of text that opm silently ignores. */
  readonly unread?: number
}

export interface SplitDocumentsOptions {
  /** Disables the fast reader, so that tests can compare both readers. */
  readonly exact?: boolean
  /** Yields any value, not only blobs, because opm decodes templates into other types. */
  readonly asValues?: boolean
}

export interface CatalogDocumentProblem {
  readonly kind: 'yaml' | 'json' | 'separator' | 'missing-schema' | 'meta'
  /** opm's full error message. */
  readonly message: string
  /** The parser's error message without opm's prefixes. */
  readonly detail: string
  /** Offset in the text of `positions`. */
  readonly at: number
  readonly end?: number
  readonly meta?: readonly BlobMetaProblem[]
}

const yamlToJsonErrorPrefix = 'error converting YAML to JSON: '
const jsonDecodingErrorPrefix = 'error unmarshaling JSON: while decoding JSON: '

export function* splitDocuments(
  bytes: Uint8Array,
  options: SplitDocumentsOptions = {},
): Generator<CatalogDocument> {
  const peeked = trimLeadingSpace(decodeUtf8LikeGo(bytes.subarray(0, maxJsonDetectionBytes)))
  if (peeked.startsWith('{')) yield* splitJsonDocuments(bytes, options)
  else yield* splitYamlDocuments(bytes, { ...defaultYamlSplitOptions, ...options })
}

const defaultYamlSplitOptions = { from: 0, line: 0, column: 0, exact: false, asValues: false }

function* splitYamlDocuments(
  whole: Uint8Array,
  { from, line, column, exact, asValues }: typeof defaultYamlSplitOptions,
): Generator<CatalogDocument> {
  const end = findEndOfTextReadByOpm(whole, from)
  const bytes = whole.subarray(0, end)
  let regular: FastParsedYamlDocument | undefined
  const reader = exact || asValues ? undefined : new FastYamlReader(bytes)
  const skipRegular = (start: number): FastParsedYamlDocument | undefined => {
    regular = reader?.read(start)
    return regular
  }
  for (const chunk of splitYamlChunks(bytes, from, line, decodeUtf8LikeGo, skipRegular)) {
    if (chunk.badSeparator) yield createDocumentForInvalidSeparator(bytes, chunk)
    if (chunk.end === chunk.start) continue
    const exactly = () => parseYamlDocument(bytes, chunk, chunk.start === from ? column : 0, asValues)
    const document = regular && chunk.badSeparator === undefined && toCatalogDocumentIfValid(regular, chunk)
    yield document ? { ...document, exactly } : exactly()
  }
  if (end === whole.length) return
  const lost = decodeUtf8LikeGo(whole.subarray(end))
  const lineOfEnd = line + countLines(bytes, from)
  const positions = new TextPositionLookup(lost, lineOfEnd + 1, (end === from ? column : 0) + 1)
  yield { start: end, end: whole.length, positions, unread: 0 }
}

/** Go's line reader returns long lines in pieces of this many bytes. */
const goLineReaderBufferBytes = 4096

/**
 * The end of the last line that opm reads. opm silently ignores an unterminated last line if its bytes exactly fill the
 * line reader's buffer.
 */
function findEndOfTextReadByOpm(bytes: Uint8Array, from: number): number {
  const start = Math.max(bytes.lastIndexOf(0x0a) + 1, from)
  let at = start
  // A carriage return at the end of a piece waits for the next piece, because it might be half of a CRLF.
  while (bytes.length - at >= goLineReaderBufferBytes)
    at += goLineReaderBufferBytes - (bytes[at + goLineReaderBufferBytes - 1] === 0x0d ? 1 : 0)
  const isLost = at === bytes.length && at > start
  // The reader checks for a separator before it checks for the end of the file.
  const isSeparator = bytes[start] === 0x2d && bytes[start + 1] === 0x2d && bytes[start + 2] === 0x2d
  return isLost && !isSeparator ? start : bytes.length
}

function countLines(bytes: Uint8Array, from: number): number {
  let lines = 0
  for (let at = bytes.indexOf(0x0a, from); at >= 0; at = bytes.indexOf(0x0a, at + 1)) lines++
  return lines
}

/** Returns undefined if the document has a problem. */
function toCatalogDocumentIfValid(regular: FastParsedYamlDocument, { start, end, line }: YamlChunk) {
  const meta = toBlobMetaIfValid(regular)
  return meta && { start, end, positions: regular.lines.positions(line + 1), meta }
}

function createDocumentForInvalidSeparator(bytes: Uint8Array, chunk: YamlChunk): CatalogDocument {
  const { text, start, line } = chunk.badSeparator as NonNullable<YamlChunk['badSeparator']>
  const lineFeed = bytes.indexOf(0x0a, start)
  const end = lineFeed < 0 ? bytes.length : lineFeed
  return {
    start,
    end,
    positions: new TextPositionLookup(decodeUtf8LikeGo(bytes.subarray(start, end)), line + 1),
    problem: { kind: 'separator', message: `invalid Yaml document separator: ${text}`, detail: text, at: 0 },
  }
}

function parseYamlDocument(
  bytes: Uint8Array,
  chunk: YamlChunk,
  column: number,
  asValue: boolean,
): CatalogDocument {
  const { start, end, line } = chunk
  const source = decodeYamlChunk(bytes.subarray(start, end))
  const positions = new TextPositionLookup(source.text, line + 1, column + 1)
  const location = { start, end, positions }
  const result = readYaml(source)
  if (!result.ok) {
    const { message, at, stage } = result.error
    const prefix = stage === 'converting' ? yamlToJsonErrorPrefix : jsonDecodingErrorPrefix
    return {
      ...location,
      problem: { kind: 'yaml', message: prefix + message, detail: message.replace(/^yaml: /, ''), at },
    }
  }
  const { value, unread } = result
  const rest = unread === undefined ? {} : { unread }
  if (asValue) return { ...location, ...rest, value: value ?? { kind: 'null', start: 0, end: 0 } }
  if (!value || value.kind === 'null') {
    const at = value?.start ?? 0
    return {
      ...location,
      ...rest,
      problem: { kind: 'missing-schema', message: formatMissingSchemaError(undefined), detail: '', at },
    }
  }
  return {
    ...location,
    ...rest,
    ...toBlobMetaOrProblem(parseBlobMeta(value, undefined), jsonDecodingErrorPrefix),
  }
}

function toBlobMetaOrProblem(
  found: ReturnType<typeof parseBlobMeta>,
  prefix: string,
): Pick<CatalogDocument, 'meta' | 'problem'> {
  if ('problems' in found) {
    const message = joinProblemMessages(found.problems)
    return {
      problem: { kind: 'meta', message: prefix + message, detail: message, at: 0, meta: found.problems },
    }
  }
  const { meta } = found
  if (meta.schema !== '') return { meta }
  return {
    problem: {
      kind: 'missing-schema',
      message: formatMissingSchemaError(meta.value),
      detail: '',
      at: meta.value.start,
    },
  }
}

function* splitJsonDocuments(bytes: Uint8Array, options: SplitDocumentsOptions): Generator<CatalogDocument> {
  const asValues = options.asValues === true
  const reader = options.exact === true || asValues ? undefined : new FastJsonReader(bytes)
  let whole: DecodedJsonText | undefined
  let handedOver = 0
  let at = 0
  for (let count = 0; ; count++) {
    const start = skipJsonWhitespace(bytes, at)
    if (start >= bytes.length) return
    const regular = handedOver < maxConsecutiveFastParseFailures ? reader?.read(start) : undefined
    const meta = regular && toBlobMetaIfValid(regular)
    handedOver = meta ? 0 : handedOver + 1
    if (meta) {
      const { end, lines, firstLine } = regular
      const exactly = () => reparseJsonDocument(bytes, (whole ??= decodeUtf8JsonText(bytes)), start)
      yield { start, end, positions: lines.positions(firstLine), meta, exactly }
      at = end
      continue
    }
    const { text, places: positions, offsets } = (whole ??= decodeUtf8JsonText(bytes))
    const found = parseJsonDocument(bytes, text, offsets.unitAt(start), asValues)
    if (!found.problem) {
      const end = offsets.at(found.end)
      yield { start, end, positions, ...found.document }
      at = end
      continue
    }
    if (count > maxJsonObjectsBeforeYamlFallback) {
      const problem = createJsonDocumentProblem(found.problem, bytes, text, false)
      yield { start: at, end: bytes.length, positions, problem }
      return
    }
    const problem = createJsonDocumentProblem(found.problem, bytes, text, true)
    // The decoder restarts as YAML where it stopped and discards the rest of that line if it is blank.
    const from = skipBlankLine(bytes, at)
    if (from === undefined) {
      yield { start: at, end: bytes.length, positions, problem }
      return
    }
    const mark = positions.positionAt(offsets.unitAt(from))
    const { line, column } = { line: mark.line - 1, column: mark.column - 1 }
    let isFirst = true
    for (const document of splitYamlDocuments(bytes, { from, line, column, exact: true, asValues })) {
      const failed = isFirst && document.problem && document.problem.kind !== 'missing-schema'
      yield failed ? { start: document.start, end: document.end, positions, problem } : document
      isFirst = false
    }
    if (isFirst) yield { start: at, end: bytes.length, positions, problem }
    return
  }
}

/** After this many irregular objects in a row, skip the fast reader so that nothing else is read twice. */
const maxConsecutiveFastParseFailures = 32

interface DecodedJsonText {
  readonly text: string
  readonly places: PositionLookup
  readonly offsets: ByteOffsetLookup
}

function decodeUtf8JsonText(bytes: Uint8Array): DecodedJsonText {
  const text = decodeUtf8LikeGo(bytes)
  return { text, places: new TextPositionLookup(text), offsets: new ByteOffsetLookup(bytes, text) }
}

function skipJsonWhitespace(bytes: Uint8Array, from: number): number {
  let at = from
  while (bytes[at] === 0x20 || bytes[at] === 0x0a || bytes[at] === 0x0d || bytes[at] === 0x09) at++
  return at
}

/** Returns undefined if the object has a problem. */
function toBlobMetaIfValid({ tree }: FastParsedYamlDocument | FastParsedJsonObject): BlobMeta | undefined {
  const found = parseBlobMeta(tree, undefined)
  return 'problems' in found || found.meta.schema === '' ? undefined : found.meta
}

/** The fast reader has read the object, so it is well-formed. */
function reparseJsonDocument(
  bytes: Uint8Array,
  { text, places: positions, offsets }: DecodedJsonText,
  start: number,
): CatalogDocument {
  const found = parseJsonDocument(bytes, text, offsets.unitAt(start), false)
  if (found.problem)
    return {
      start,
      end: bytes.length,
      positions,
      problem: createJsonDocumentProblem(found.problem, bytes, text, false),
    }
  return { start, end: offsets.at(found.end), positions, ...found.document }
}

type JsonDocumentProblem =
  | { readonly kind: 'syntax'; readonly error: JsonError }
  | { readonly kind: 'meta'; readonly problem: CatalogDocumentProblem }

function parseJsonDocument(
  bytes: Uint8Array,
  text: string,
  from: number,
  asValue: boolean,
):
  | { problem: JsonDocumentProblem }
  | { problem: undefined; end: number; document: Omit<CatalogDocument, 'start' | 'end' | 'positions'> } {
  let result: ReadJsonResult
  try {
    result = readJson(text, from)
  } catch (error) {
    if (error instanceof JsonError) return { problem: { kind: 'syntax', error } }
    throw error
  }
  const { value, end, hugeNumber } = result
  if (asValue) return { problem: undefined, end, document: { value, json: text } }
  if (hugeNumber && value.kind === 'map')
    return {
      problem: { kind: 'meta', problem: createNumberOverflowProblem(bytes, text, from, end, hugeNumber) },
    }
  if (value.kind === 'null') {
    const problem: CatalogDocumentProblem = {
      kind: 'missing-schema',
      message: formatMissingSchemaError(value),
      detail: '',
      at: value.start,
    }
    return { problem: undefined, end, document: { problem } }
  }
  const found = toBlobMetaOrProblem(parseBlobMeta(value, text.slice(from, end)), '')
  if (found.problem?.kind === 'meta') return { problem: { kind: 'meta', problem: found.problem } }
  return { problem: undefined, end, document: found }
}

function createNumberOverflowProblem(
  bytes: Uint8Array,
  text: string,
  from: number,
  end: number,
  number: NonNullable<ReadJsonResult['hugeNumber']>,
): CatalogDocumentProblem {
  const offsets = new ByteOffsetLookup(bytes, text)
  const start = offsets.at(from)
  const bytesBefore = (unit: number): number => offsets.at(from + unit) - start
  const at = { text: number.text, end: number.end - from }
  const { message, detail } = formatNumberOverflowError(text.slice(from, end), at, bytesBefore)
  return { kind: 'json', message, detail, at: number.end - number.text.length, end: number.end }
}

/** Go's error for a number that doesn't fit a float. */
export function formatNumberOverflowError(
  raw: string,
  number: NonNullable<ReadJsonResult['hugeNumber']>,
  bytesBefore: (unit: number) => number,
): { message: string; detail: string } {
  const detail = `json: cannot unmarshal number ${number.text} into Go value of type float64`
  // Go's position is one character after the number.
  const offset = number.end + 1
  return {
    message: formatJsonErrorWithMarker(detail, bytesBefore(offset), markJsonErrorPosition(raw, offset)),
    detail,
  }
}

function createJsonDocumentProblem(
  rejection: JsonDocumentProblem,
  bytes: Uint8Array,
  text: string,
  withOffset: boolean,
): CatalogDocumentProblem {
  if (rejection.kind === 'meta') return rejection.problem
  const { error } = rejection
  if (error.kind === 'end')
    return { kind: 'json', message: error.message, detail: error.message, at: error.at }
  const offset = new ByteOffsetLookup(bytes, text).at(error.at)
  const detail = `invalid character ${quoteByteLikeGo(bytes[offset] as number)} ${error.message}`
  const message = withOffset ? `json: offset ${offset + 1}: ${detail}` : detail
  return { kind: 'json', message, detail, at: error.at }
}

/** Go formats a single byte as if it were a character. */
function quoteByteLikeGo(byte: number): string {
  if (byte === 0x27) return `'\\''`
  if (byte === 0x22) return `'"'`
  return `'${quoteLikeGo(String.fromCharCode(byte)).slice(1, -1)}'`
}

/** The decoder needs this many bytes to detect a character and gives up if the file has fewer. */
const minBytesToDecodeCharacter = 4

/**
 * Skips Go's white space through the first line feed. Undefined if the decoder gives up first: at the last bytes of the
 * file, invalid UTF-8 or U+FFFD.
 */
function skipBlankLine(bytes: Uint8Array, from: number): number | undefined {
  for (let at = from; at + minBytesToDecodeCharacter <= bytes.length;) {
    if (bytes[at] === 0x0a) return at + 1
    const width = getUtf8CharacterLength(bytes, at)
    const character = decodeUtf8LikeGo(bytes.subarray(at, at + Math.max(width, 1)))
    if (character === '\ufffd') return undefined
    if (trimSpaceLikeGo(character) !== '') return at
    at += width
  }
  return undefined
}
