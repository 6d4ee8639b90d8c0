// Converts YAML text to tokens as go-yaml v2 does. Keeps go-yaml's order of checks, which determines the first error.
import {
  type YamlCursor,
  TAB,
  isBlank,
  isBlankOrEnd,
  isLineBreak,
  isLineBreakOrEnd,
  type YamlMark,
  createScannerError,
} from './cursor.ts'
import { scanBlockScalar, scanPlainScalar, scanQuotedScalar } from './scan-scalar.ts'
import {
  type YamlToken,
  type YamlTokenKind,
  type YamlDirective,
  scanAnchor,
  scanDirective,
  scanTag,
} from './token.ts'

/** go-yaml's limit on flow nesting and on indentation levels. */
const maxYamlNestingDepth = 10_000

/** A key without `?` must end within this many characters, on one line (YAML 1.2, 7.4.3). */
const maxSimpleKeyLength = 1024

/** A position where a key without `?` may have begun. */
interface SimpleKey {
  possible: boolean
  /** In a block, only a key is allowed at the block's own column. */
  required: boolean
  /**
   * The queue waits while its token is next. libyaml does not wait for a flow collection that closes before a key could
   * begin in it (`{}`), because it identifies keys by token and the inner level starts with the same one.
   */
  awaited: boolean
  /** Number of the key's first token, from the start of the stream. */
  token: number
  column: number
  mark: YamlMark
}

export class YamlScanner {
  private readonly cursor: YamlCursor
  private readonly queue: YamlToken[] = []
  private head = 0
  private taken = 0
  private ended = false
  private indent = -1
  private readonly indents: number[] = []
  private flowLevel = 0
  private simpleKeyAllowed = true
  /** One per flow level, innermost last. */
  private readonly simpleKeys: SimpleKey[] = []

  constructor(cursor: YamlCursor) {
    this.cursor = cursor
    this.simpleKeys.push(this.noSimpleKey())
  }

  /** Returns the next token without consuming it. */
  peek(): YamlToken {
    while (this.mustFetch()) this.fetch()
    return this.queue[this.head] as YamlToken
  }

  take(): void {
    this.head++
    this.taken++
    if (this.head >= 512) {
      this.queue.splice(0, this.head)
      this.head = 0
    }
  }

  /** Fetches while the queue is empty, or its head may still become a key. */
  private mustFetch(): boolean {
    if (this.head === this.queue.length) return !this.ended
    // Inner levels never have earlier tokens than outer ones.
    let end = this.simpleKeys.length
    for (let start = 0; start < end;) {
      const middle = (start + end) >> 1
      if ((this.simpleKeys[middle] as SimpleKey).token > this.taken) end = middle
      else start = middle + 1
    }
    for (let level = end - 1; this.simpleKeys[level]?.token === this.taken; level--) {
      const key = this.simpleKeys[level] as SimpleKey
      if (key.possible && key.awaited) return this.isStillKey(key)
    }
    return false
  }

  private isStillKey(key: SimpleKey): boolean {
    if (!key.possible) return false
    const { cursor } = this
    if (key.mark.line === cursor.line && !this.isTooFar(key.mark.index)) return true
    if (key.required) throw createScannerError("could not find expected ':'", cursor)
    key.possible = false
    return false
  }

  /** Counts characters; looks for surrogate pairs only in long stretches. */
  private isTooFar(from: number): boolean {
    const units = this.cursor.index - from
    if (units <= maxSimpleKeyLength) return false
    if (units > 2 * maxSimpleKeyLength) return true
    const surrogates = this.cursor.text.slice(from, this.cursor.index).match(/[\udc00-\udfff]/g)
    return units - (surrogates?.length ?? 0) > maxSimpleKeyLength
  }

  private fetch(): void {
    const { cursor } = this
    cursor.need(1)
    this.skipToToken()
    this.unrollIndent(cursor.column)
    cursor.need(4)
    const c = cursor.peek()
    if (c === 0 && cursor.index >= cursor.size) return this.fetchStreamEnd()
    if (cursor.column === 0) {
      if (c === 0x25) return this.fetchDirective()
      if (cursor.atDocumentMarker()) {
        return this.fetchDocumentMarker(c === 0x2d ? 'document-start' : 'document-end')
      }
    }
    const next = cursor.peek(1)
    switch (c) {
      case 0x5b:
        return this.fetchFlowStart('flow-sequence-start')
      case 0x7b:
        return this.fetchFlowStart('flow-mapping-start')
      case 0x5d:
        return this.fetchFlowEnd('flow-sequence-end')
      case 0x7d:
        return this.fetchFlowEnd('flow-mapping-end')
      case 0x2c:
        return this.fetchFlowEntry()
      case 0x2d:
        if (isBlankOrEnd(next)) return this.fetchBlockEntry()
        break
      case 0x3f:
        if (this.flowLevel > 0 || isBlankOrEnd(next)) return this.fetchKey()
        break
      case 0x3a:
        if (this.flowLevel > 0 || isBlankOrEnd(next)) return this.fetchValue()
        break
      case 0x2a:
        return this.fetchAnchor('alias')
      case 0x26:
        return this.fetchAnchor('anchor')
      case 0x21:
        return this.fetchTag()
      case 0x7c:
      case 0x3e:
        if (this.flowLevel === 0) return this.fetchBlockScalar()
        break
      case 0x27:
      case 0x22:
        return this.fetchQuotedScalar()
    }
    if (!this.mayStartPlain(c, next)) {
      throw createScannerError('found character that cannot start any token', cursor)
    }
    this.fetchPlainScalar()
  }

  private mayStartPlain(c: number, next: number): boolean {
    if (c === 0x2d) return !isBlank(next)
    if (c === 0x3f || c === 0x3a) return this.flowLevel === 0 && !isBlankOrEnd(next)
    // # | > % @ ` and whitespace. All other indicators were handled above.
    const isIndicator = c === 0x23 || c === 0x7c || c === 0x3e || c === 0x25 || c === 0x40 || c === 0x60
    return !isIndicator && !isBlankOrEnd(c)
  }

  private skipToToken(): void {
    const { cursor } = this
    for (;;) {
      cursor.need(1)
      if (cursor.skipsLineStarts && cursor.column === 0) cursor.skip()
      let c = cursor.peek()
      // A tab is not allowed where indentation counts.
      while (c === 0x20 || (c === TAB && (this.flowLevel > 0 || !this.simpleKeyAllowed))) {
        cursor.skip()
        cursor.need(1)
        c = cursor.peek()
      }
      if (c === 0x23) {
        while (!isLineBreakOrEnd(cursor.peek())) cursor.skip()
        cursor.need(1)
      }
      if (!isLineBreak(cursor.peek())) return
      cursor.need(2)
      cursor.readBreak()
      cursor.skipLineFeeds()
      if (this.flowLevel === 0) this.simpleKeyAllowed = true
    }
  }

  private fetchStreamEnd(): void {
    this.cursor.forceNewLine()
    this.unrollIndent(-1)
    this.removeSimpleKey()
    this.simpleKeyAllowed = false
    this.push('stream-end', this.cursor)
    this.ended = true
  }

  private fetchDirective(): void {
    this.unrollIndent(-1)
    this.removeSimpleKey()
    this.simpleKeyAllowed = false
    const start = this.cursor.mark()
    this.push('directive', start, '', false, '', scanDirective(this.cursor))
  }

  private fetchDocumentMarker(kind: YamlTokenKind): void {
    this.unrollIndent(-1)
    this.removeSimpleKey()
    this.simpleKeyAllowed = false
    this.pushIndicator(kind, 3)
  }

  private fetchFlowStart(kind: YamlTokenKind): void {
    const { cursor } = this
    this.saveSimpleKey()
    this.simpleKeys.push(this.noSimpleKey())
    this.flowLevel++
    if (this.flowLevel > maxYamlNestingDepth)
      throw createScannerError(`exceeded max depth of ${maxYamlNestingDepth}`, cursor)
    this.simpleKeyAllowed = true
    this.pushIndicator(kind, 1)
  }

  private fetchFlowEnd(kind: YamlTokenKind): void {
    this.removeSimpleKey()
    if (this.flowLevel > 0) {
      this.flowLevel--
      const inner = this.simpleKeys.pop()
      const outer = this.simpleKeys[this.simpleKeys.length - 1]
      if (inner && outer && inner.token === outer.token) outer.awaited = false
    }
    this.simpleKeyAllowed = false
    this.pushIndicator(kind, 1)
  }

  private fetchFlowEntry(): void {
    this.removeSimpleKey()
    this.simpleKeyAllowed = true
    this.pushIndicator('flow-entry', 1)
  }

  private fetchBlockEntry(): void {
    const { cursor } = this
    if (this.flowLevel === 0) {
      if (!this.simpleKeyAllowed) {
        throw createScannerError('block sequence entries are not allowed in this context', cursor)
      }
      this.rollIndent(cursor.column, 'block-sequence-start', cursor)
    }
    this.removeSimpleKey()
    this.simpleKeyAllowed = true
    this.pushIndicator('block-entry', 1)
  }

  private fetchKey(): void {
    const { cursor } = this
    if (this.flowLevel === 0) {
      if (!this.simpleKeyAllowed) {
        throw createScannerError('mapping keys are not allowed in this context', cursor)
      }
      this.rollIndent(cursor.column, 'block-mapping-start', cursor)
    }
    this.removeSimpleKey()
    this.simpleKeyAllowed = this.flowLevel === 0
    this.pushIndicator('key', 1)
  }

  private fetchValue(): void {
    const { cursor } = this
    const key = this.simpleKeys[this.simpleKeys.length - 1] as SimpleKey
    if (this.isStillKey(key)) {
      // A key that has already left the queue is appended at the end.
      const at = key.token < this.taken ? this.queue.length : this.head + key.token - this.taken
      this.queue.splice(at, 0, createYamlToken('key', key.mark, key.mark.index))
      this.rollIndent(key.column, 'block-mapping-start', key.mark, key.token < this.taken ? undefined : at)
      key.possible = false
      this.simpleKeyAllowed = false
    } else {
      if (this.flowLevel === 0) {
        if (!this.simpleKeyAllowed) {
          throw createScannerError('mapping values are not allowed in this context', cursor)
        }
        this.rollIndent(cursor.column, 'block-mapping-start', cursor)
      }
      this.simpleKeyAllowed = this.flowLevel === 0
    }
    this.pushIndicator('value', 1)
  }

  private fetchAnchor(kind: YamlTokenKind): void {
    this.saveSimpleKey()
    this.simpleKeyAllowed = false
    const start = this.cursor.mark()
    this.push(kind, start, scanAnchor(this.cursor))
  }

  private fetchTag(): void {
    this.saveSimpleKey()
    this.simpleKeyAllowed = false
    const start = this.cursor.mark()
    const { handle, suffix } = scanTag(this.cursor)
    this.push('tag', start, suffix, false, handle)
  }

  private fetchBlockScalar(): void {
    this.removeSimpleKey()
    this.simpleKeyAllowed = true
    const { index, line } = this.cursor
    const { value, end } = scanBlockScalar(this.cursor, this.indent)
    this.queue.push({
      kind: 'scalar',
      index,
      line,
      end,
      value,
      plain: false,
      handle: '',
      directive: undefined,
    })
  }

  private fetchQuotedScalar(): void {
    this.saveSimpleKey()
    this.simpleKeyAllowed = false
    const start = this.cursor.mark()
    this.push('scalar', start, scanQuotedScalar(this.cursor))
  }

  private fetchPlainScalar(): void {
    this.saveSimpleKey()
    const { index, line } = this.cursor
    const { value, end, endedLine } = scanPlainScalar(this.cursor, this.indent, this.flowLevel > 0)
    this.simpleKeyAllowed = endedLine
    this.queue.push({
      kind: 'scalar',
      index,
      line,
      end,
      value,
      plain: true,
      handle: '',
      directive: undefined,
    })
  }

  private saveSimpleKey(): void {
    if (!this.simpleKeyAllowed) return
    const { cursor } = this
    const required = this.flowLevel === 0 && this.indent === cursor.column
    this.removeSimpleKey()
    this.simpleKeys[this.simpleKeys.length - 1] = {
      possible: true,
      required,
      awaited: true,
      token: this.taken + this.queue.length - this.head,
      column: cursor.column,
      mark: cursor.mark(),
    }
  }

  private removeSimpleKey(): void {
    const key = this.simpleKeys[this.simpleKeys.length - 1] as SimpleKey
    if (key.possible && key.required) throw createScannerError("could not find expected ':'", this.cursor)
    key.possible = false
  }

  private noSimpleKey(): SimpleKey {
    const token = this.taken + this.queue.length - this.head
    return { possible: false, required: false, awaited: true, token, column: 0, mark: this.cursor }
  }

  /** Opens a block at `column` unless it is open. `at` is its token's position in the queue. */
  private rollIndent(column: number, kind: YamlTokenKind, mark: YamlMark, at?: number): void {
    if (this.flowLevel > 0 || this.indent >= column) return
    this.indents.push(this.indent)
    this.indent = column
    if (this.indents.length > maxYamlNestingDepth) {
      throw createScannerError(`exceeded max depth of ${maxYamlNestingDepth}`, this.cursor)
    }
    this.queue.splice(at ?? this.queue.length, 0, createYamlToken(kind, mark, mark.index))
  }

  private unrollIndent(column: number): void {
    if (this.flowLevel > 0) return
    while (this.indent > column) {
      this.push('block-end', this.cursor)
      this.indent = this.indents.pop() ?? -1
    }
  }

  private pushIndicator(kind: YamlTokenKind, width: number): void {
    const { index, line } = this.cursor
    this.cursor.skip(width)
    this.queue.push(createYamlToken(kind, { index, line }, index + width))
  }

  private push(
    kind: YamlTokenKind,
    at: YamlMark,
    value = '',
    plain = false,
    handle = '',
    directive?: YamlDirective,
  ): void {
    const { index, line } = at
    this.queue.push({ kind, index, line, end: this.cursor.index, value, plain, handle, directive })
  }
}

function createYamlToken(kind: YamlTokenKind, at: YamlMark, end: number): YamlToken {
  return {
    kind,
    index: at.index,
    line: at.line,
    end,
    value: '',
    plain: false,
    handle: '',
    directive: undefined,
  }
}
