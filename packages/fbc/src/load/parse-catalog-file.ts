// Reads one file exactly as opm v1.73 does, but reports all problems instead of only the first. Never throws.
import {
  maxStrictDecodingProblemsPerFile,
  type BlobLocation,
  type ParsedCatalogFile,
  type StrictDecodingProblem,
  type CustomSchemaBlob,
} from '../facts/catalog.ts'
import { findStrictDecodingProblems } from './find-strict-decoding-problems.ts'
import type { Finding, Location } from '@catalog-bot/findings/finding'
import { type FindingRule, createFinding } from '@catalog-bot/findings/rule'
import {
  type BlobParseResult,
  parseBundleBlob,
  parseChannelBlob,
  parseDeprecationBlob,
  parsePackageBlob,
} from './parse-blobs.ts'
import type { DecodeProblem } from '../go/decode/decode.ts'
import {
  type CatalogDocument,
  type CatalogDocumentProblem,
  type SplitDocumentsOptions,
  splitDocuments,
} from './split-documents.ts'
import { foldCase } from '../go/text.ts'
import type { BlobMeta } from './meta.ts'
import type { PositionLookup } from '../go/position-lookup.ts'
import * as rules from './load-rules.ts'
import type { ParsedValue } from '../go/tree.ts'
import { detachStringFromParent } from '../go/utf8.ts'

/** Per file. More findings don't help a reader. */
const maxFindingsPerFile = 100

/** After this many problems, parsing stops. */
const maxParseProblemsPerFile = 10_000

/** In bytes. A larger document isn't parsed again just to find where the invalid part ends. */
const maxReparsedDocumentBytes = 1024 * 1024

/** In characters. This is enough to recognize the text. */
const maxIgnoredTextExcerptChars = 100

export interface ParseCatalogFileOptions extends SplitDocumentsOptions {
  /** Omits leniencies and some properties' summaries. Use such facts only for `validateCatalog`. */
  readonly forVerdict?: boolean
  /** Called once for each valid blob, in file order. */
  readonly onMeta?: (meta: BlobMeta) => void
}

/** The file in all locations of the result is ''. */
export function parseCatalogFile(
  bytes: Uint8Array,
  options: ParseCatalogFileOptions = {},
): ParsedCatalogFile {
  return new CatalogFileParser(bytes, options).read()
}

/** `message` is opm's error message. */
export function createUnreadableCatalogFile(message: string): ParsedCatalogFile {
  return {
    bytes: 0,
    packages: [],
    channels: [],
    bundles: [],
    deprecations: [],
    others: [],
    loadError: message,
    findings: [createFinding(rules.unreadableFileRule, undefined, { message })],
  }
}

class CatalogFileParser {
  private readonly bytes: Uint8Array
  private readonly options: ParseCatalogFileOptions
  private readonly packages: ParsedCatalogFile['packages'][number][] = []
  private readonly channels: ParsedCatalogFile['channels'][number][] = []
  private readonly bundles: ParsedCatalogFile['bundles'][number][] = []
  private readonly deprecations: ParsedCatalogFile['deprecations'][number][] = []
  private readonly others: CustomSchemaBlob[] = []
  private readonly findings: Finding[] = []
  private readonly leniencies: StrictDecodingProblem[] = []
  private leftOut = 0
  private loadError: string | undefined

  constructor(bytes: Uint8Array, options: ParseCatalogFileOptions) {
    this.bytes = bytes
    this.options = options
  }

  read(): ParsedCatalogFile {
    let index = 0
    for (const document of splitDocuments(this.bytes, this.options)) {
      this.readDocument(document, index)
      index++
      if (this.leftOut > maxParseProblemsPerFile) break
    }
    if (this.leftOut > 0)
      this.findings.push(createFinding(rules.moreProblemsRule, undefined, { count: this.leftOut }))
    const { packages, channels, bundles, deprecations, others, findings, loadError } = this
    const facts: ParsedCatalogFile = {
      bytes: this.bytes.length,
      packages,
      channels,
      bundles,
      deprecations,
      others,
      findings,
      ...(this.leniencies.length > 0 && { oddities: this.leniencies }),
    }
    return loadError === undefined ? facts : { ...facts, loadError }
  }

  private readDocument(document: CatalogDocument, index: number): void {
    const { meta, problem, positions, unread } = document
    if (problem) this.rejectDocument(problem, positions)
    if (meta) this.readBlob(meta, document, index)
    if (unread !== undefined) this.addDroppedText(unread, meta, positions)
  }

  private readBlob(meta: BlobMeta, document: CatalogDocument, index: number): void {
    const { value } = meta
    const { positions, start, end } = document
    const location: BlobLocation = {
      file: '',
      document: index,
      start,
      end,
      ...positions.positionAt(value.start),
    }
    const source = { value, place: location, positions, forVerdict: this.options.forVerdict === true }
    switch (meta.schema) {
      case 'olm.package':
        return this.addBlob(this.packages, parsePackageBlob(source), 'package', document, index)
      case 'olm.channel':
        return this.addBlob(this.channels, parseChannelBlob(source), 'channel', document, index)
      case 'olm.bundle':
        return this.addBlob(this.bundles, parseBundleBlob(source), 'bundle', document, index)
      case 'olm.deprecations':
        return this.addBlob(this.deprecations, parseDeprecationBlob(source), 'deprecation', document, index)
      default:
        this.options.onMeta?.(meta)
        this.addLeniencies(document)
        this.others.push({
          place: location,
          schema: detachStringFromParent(meta.schema),
          package: detachStringFromParent(meta.package),
          name: detachStringFromParent(meta.name),
        })
    }
  }

  private addBlob<Blob>(
    into: Blob[],
    reading: BlobParseResult<Blob>,
    kind: string,
    document: CatalogDocument,
    index: number,
  ): void {
    const { blob, problems, objectProblems, moreProblems } = reading
    const { exactly, end, start } = document
    const isLarge = end - start > maxReparsedDocumentBytes
    if (exactly && !isLarge && problems.length + objectProblems.length > 0)
      return this.readDocument(exactly(), index)
    // The fast reader provides only the start of a value. finding-ends.ts derives the end from the line.
    const positions = document.positions
    const spanOf = (at: ParsedValue) => (isLarge ? { start: at.start, end: at.start } : at)
    this.addLeniencies(document)
    into.push(blob)
    if (document.meta && problems.length + objectProblems.length === 0) this.options.onMeta?.(document.meta)
    const first = problems[0]
    if (first) this.loadError ??= `parse ${kind}: ${first.message}`
    for (const problem of problems) {
      this.report(rules.wrongFieldTypeRule, positions, spanOf(problem.at), {
        field: problem.field,
        wanted: formatExpectedFieldType(problem),
        found: formatActualFieldType(problem.found),
      })
    }
    for (const { message, detail, at } of objectProblems) {
      this.loadError ??= message
      this.report(rules.badBundleObjectRule, positions, spanOf(at), { detail })
    }
    this.leftOut += moreProblems
  }

  private rejectDocument(problem: CatalogDocumentProblem, positions: PositionLookup): void {
    this.loadError ??= problem.message
    const { detail, at } = problem
    const span = { start: at, end: problem.end ?? at }
    switch (problem.kind) {
      case 'yaml':
        return this.report(rules.yamlSyntaxRule, positions, span, { detail })
      case 'json':
        return this.report(rules.jsonSyntaxRule, positions, span, { detail })
      case 'separator':
        return this.report(rules.documentSeparatorRule, positions, span, { text: detail })
      case 'missing-schema':
        return this.report(rules.missingSchemaRule, positions, span, {
          empty: !problem.message.startsWith("object '{"),
        })
      case 'meta':
        for (const one of problem.meta ?? []) {
          if (one.kind === 'not-an-object')
            this.report(rules.notAnObjectRule, positions, one.at, { found: one.found })
          else {
            const key = { start: one.at.keyStart, end: one.at.keyEnd }
            if (one.kind === 'duplicate-field') {
              this.report(rules.duplicateFieldRule, positions, key, { spellings: one.spellings })
            } else {
              const field = foldCase(one.at.key)
              this.report(rules.fieldNotTextRule, positions, one.at.value, { field, found: one.found })
            }
          }
        }
    }
  }

  private addLeniencies({ meta, positions }: CatalogDocument): void {
    if (meta && this.options.forVerdict !== true)
      this.leniencies.push(
        ...findStrictDecodingProblems(
          meta.value,
          positions,
          maxStrictDecodingProblemsPerFile - this.leniencies.length,
        ),
      )
  }

  private addDroppedText(unread: number, meta: BlobMeta | undefined, positions: PositionLookup): void {
    if (this.leniencies.length >= maxStrictDecodingProblemsPerFile || this.options.forVerdict === true) return
    this.leniencies.push({
      kind: 'dropped-text',
      mark: positions.positionAt(unread),
      schema: detachStringFromParent(meta?.schema ?? ''),
      package: detachStringFromParent(meta?.package ?? ''),
      name: detachStringFromParent(meta?.name ?? ''),
      text: detachStringFromParent(positions.textFrom(unread, maxIgnoredTextExcerptChars)),
    })
  }

  private report<Data extends object>(
    rule: FindingRule<Data>,
    positions: PositionLookup,
    span: { start: number; end: number },
    data: Data,
  ): void {
    if (this.findings.length >= maxFindingsPerFile) {
      this.leftOut++
      return
    }
    this.findings.push(createFinding(rule, createLocationFromSpan(positions, span), data))
  }
}

function createLocationFromSpan(
  positions: PositionLookup,
  { start, end }: { start: number; end: number },
): Location {
  const from = positions.positionAt(start)
  if (end <= start) return { file: '', ...from }
  const to = positions.positionAt(end)
  return { file: '', ...from, endLine: to.line, endColumn: to.column }
}

const goTypeLabels: Readonly<Record<string, string>> = {
  string: 'a string',
  bool: 'a boolean',
  base64: 'valid base64',
  '[]uint8': 'valid base64',
  int: 'an integer',
  int32: 'an integer',
  uint8: 'a number from 0 to 255',
}

function formatExpectedFieldType({ wanted }: DecodeProblem): string {
  return goTypeLabels[wanted] ?? (wanted.startsWith('[]') ? 'a list' : 'an object')
}

function formatActualFieldType(found: string): string {
  if (found.startsWith('number')) return found === 'number' ? 'a number' : `the ${found}`
  const labels: Readonly<Record<string, string>> = {
    bool: 'a boolean',
    array: 'a list',
    object: 'an object',
    string: 'a string',
    'text that is not base64': 'an invalid base64 string',
  }
  return labels[found] ?? found
}
