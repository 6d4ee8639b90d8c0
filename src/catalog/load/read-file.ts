// Reads one file exactly as opm v1.73 does, but reports all problems instead of only the first. Never throws.
import { oddityCap } from '../facts/catalog.ts'
import type { BlobPlace, FileFacts, Oddity, OtherBlob } from '../facts/catalog.ts'
import { findOddities } from './find-oddities.ts'
import type { Finding, Location } from '../../findings/finding.ts'
import type { Rule } from '../../findings/rule.ts'
import { finding } from '../../findings/rule.ts'
import type { BlobReading } from './blob-facts.ts'
import { readBundle, readChannel, readDeprecation, readPackage } from './blob-facts.ts'
import type { DecodeProblem } from '../../go/decode/decode.ts'
import type { Document, DocumentProblem, DocumentOptions } from './documents.ts'
import { documentsOf } from './documents.ts'
import { foldCase } from '../../go/fold-case.ts'
import type { Meta } from './meta.ts'
import type { Places } from '../../go/places.ts'
import * as rules from './load-rules.ts'
import type { Value } from '../../go/tree.ts'
import { ownCopy } from '../../go/utf8.ts'

/** Per file; more don't help a reader. */
const maxFindings = 100

/** After this many problems, reading on only finds more. */
const maxCounted = 10_000

/** Bytes. A larger document isn't read again just to find where the faulty part ends. */
const mostReadAgain = 1024 * 1024

/** Characters; enough to recognize the text. */
const maxDroppedText = 100

export interface ReadOptions extends DocumentOptions {
  /** Leaves out oddities and `olm.csv.metadata` summaries. Such facts are only for `validateCatalog`. */
  readonly forVerdict?: boolean
  /** Called once for each valid blob, in file order. */
  readonly onMeta?: (meta: Meta) => void
}

/** The file in all places of the result is ''. */
export function readFile(bytes: Uint8Array, options: ReadOptions = {}): FileFacts {
  return new FileReading(bytes, options).read()
}

/** `message` is opm's text. */
export function unreadableFile(message: string): FileFacts {
  return {
    bytes: 0,
    packages: [],
    channels: [],
    bundles: [],
    deprecations: [],
    others: [],
    loadError: message,
    findings: [finding(rules.unreadableFile, undefined, { message })],
  }
}

class FileReading {
  private readonly bytes: Uint8Array
  private readonly options: ReadOptions
  private readonly packages: FileFacts['packages'][number][] = []
  private readonly channels: FileFacts['channels'][number][] = []
  private readonly bundles: FileFacts['bundles'][number][] = []
  private readonly deprecations: FileFacts['deprecations'][number][] = []
  private readonly others: OtherBlob[] = []
  private readonly findings: Finding[] = []
  private readonly oddities: Oddity[] = []
  private leftOut = 0
  private loadError: string | undefined

  constructor(bytes: Uint8Array, options: ReadOptions) {
    this.bytes = bytes
    this.options = options
  }

  read(): FileFacts {
    let index = 0
    for (const document of documentsOf(this.bytes, this.options)) {
      this.readDocument(document, index)
      index++
      if (this.leftOut > maxCounted) break
    }
    if (this.leftOut > 0) this.findings.push(finding(rules.moreProblems, undefined, { count: this.leftOut }))
    const { packages, channels, bundles, deprecations, others, findings, loadError } = this
    const facts: FileFacts = {
      bytes: this.bytes.length,
      packages,
      channels,
      bundles,
      deprecations,
      others,
      findings,
      ...(this.oddities.length > 0 && { oddities: this.oddities }),
    }
    return loadError === undefined ? facts : { ...facts, loadError }
  }

  private readDocument(document: Document, index: number): void {
    const { meta, problem, places, unread } = document
    if (problem) this.refuse(problem, places)
    if (meta) this.readBlob(meta, document, index)
    if (unread !== undefined) this.keepUnread(unread, meta, places)
  }

  private readBlob(meta: Meta, document: Document, index: number): void {
    const { value } = meta
    const { places, start, end } = document
    const place: BlobPlace = { file: '', document: index, start, end, ...places.mark(value.start) }
    const source = { value, place, places, forVerdict: this.options.forVerdict === true }
    switch (meta.schema) {
      case 'olm.package':
        return this.keep(this.packages, readPackage(source), 'parse package', document, index)
      case 'olm.channel':
        return this.keep(this.channels, readChannel(source), 'parse channel', document, index)
      case 'olm.bundle':
        return this.keep(this.bundles, readBundle(source), 'parse bundle', document, index)
      case 'olm.deprecations':
        return this.keep(this.deprecations, readDeprecation(source), 'parse deprecation', document, index)
      default:
        this.options.onMeta?.(meta)
        this.keepOddities(document)
        this.others.push({
          place,
          schema: ownCopy(meta.schema),
          package: ownCopy(meta.package),
          name: ownCopy(meta.name),
        })
    }
  }

  private keep<Blob>(
    into: Blob[],
    reading: BlobReading<Blob>,
    parse: string,
    document: Document,
    index: number,
  ): void {
    const { blob, problems, objectProblems, moreProblems } = reading
    const { exactly, end, start } = document
    const isLarge = end - start > mostReadAgain
    if (exactly && !isLarge && problems.length + objectProblems.length > 0)
      return this.readDocument(exactly(), index)
    // The fast reader knows where a value begins; ends.ts derives the end from the line.
    const places = document.places
    const spanOf = (at: Value) => (isLarge ? { start: at.start, end: at.start } : at)
    this.keepOddities(document)
    into.push(blob)
    if (document.meta && problems.length + objectProblems.length === 0) this.options.onMeta?.(document.meta)
    const first = problems[0]
    if (first) this.loadError ??= `${parse}: ${first.message}`
    for (const problem of problems) {
      this.report(rules.wrongFieldType, places, spanOf(problem.at), {
        field: problem.field,
        wanted: wantedWords(problem),
        found: foundWords(problem.found),
      })
    }
    for (const { message, detail, at } of objectProblems) {
      this.loadError ??= message
      this.report(rules.badBundleObject, places, spanOf(at), { detail })
    }
    this.leftOut += moreProblems
  }

  private refuse(problem: DocumentProblem, places: Places): void {
    this.loadError ??= problem.message
    const { detail, at } = problem
    const span = { start: at, end: problem.end ?? at }
    switch (problem.kind) {
      case 'yaml':
        return this.report(rules.yamlSyntax, places, span, { detail })
      case 'json':
        return this.report(rules.jsonSyntax, places, span, { detail })
      case 'separator':
        return this.report(rules.documentSeparator, places, span, { text: detail })
      case 'missing-schema':
        return this.report(rules.missingSchema, places, span, {
          empty: !problem.message.startsWith("object '{"),
        })
      case 'meta':
        for (const one of problem.meta ?? []) {
          if (one.kind === 'not-an-object')
            this.report(rules.notAnObject, places, one.at, { found: one.found })
          else {
            const key = { start: one.at.keyStart, end: one.at.keyEnd }
            if (one.kind === 'duplicate-field') {
              this.report(rules.duplicateField, places, key, { spellings: one.spellings })
            } else {
              const field = foldCase(one.at.key)
              this.report(rules.fieldNotText, places, one.at.value, { field, found: one.found })
            }
          }
        }
    }
  }

  private keepOddities({ meta, places }: Document): void {
    if (meta && this.options.forVerdict !== true)
      this.oddities.push(...findOddities(meta.value, places, oddityCap - this.oddities.length))
  }

  private keepUnread(unread: number, meta: Meta | undefined, places: Places): void {
    if (this.oddities.length >= oddityCap || this.options.forVerdict === true) return
    this.oddities.push({
      kind: 'dropped-text',
      mark: places.mark(unread),
      schema: ownCopy(meta?.schema ?? ''),
      package: ownCopy(meta?.package ?? ''),
      name: ownCopy(meta?.name ?? ''),
      text: ownCopy(places.textFrom(unread, maxDroppedText)),
    })
  }

  private report<Data extends object>(
    rule: Rule<Data>,
    places: Places,
    span: { start: number; end: number },
    data: Data,
  ): void {
    if (this.findings.length >= maxFindings) {
      this.leftOut++
      return
    }
    this.findings.push(finding(rule, locationOf(places, span), data))
  }
}

function locationOf(places: Places, { start, end }: { start: number; end: number }): Location {
  const from = places.mark(start)
  if (end <= start) return { file: '', ...from }
  const to = places.mark(end)
  return { file: '', ...from, endLine: to.line, endColumn: to.column }
}

const goWords: Readonly<Record<string, string>> = {
  string: 'a text',
  bool: 'true or false',
  base64: 'base64',
  '[]uint8': 'base64',
  int: 'a whole number',
  int32: 'a whole number',
  uint8: 'a number from 0 to 255',
}

function wantedWords({ wanted }: DecodeProblem): string {
  return goWords[wanted] ?? (wanted.startsWith('[]') ? 'a list' : 'an object')
}

function foundWords(found: string): string {
  if (found.startsWith('number')) return found === 'number' ? 'a number' : `the ${found}`
  const words: Readonly<Record<string, string>> = {
    bool: 'true or false',
    array: 'a list',
    object: 'an object',
    string: 'a text',
  }
  return words[found] ?? found
}
