// Appends items to lists and keys to mappings in YAML or JSON text. Keeps existing text byte for byte and formats new
// text like its neighbors. Callers must parse the result to verify it.
import {
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  parseAllDocuments,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { type Json, isJsonObject } from '../go/json/json.ts'
import type { CatalogReadResult } from '../write/writable-catalog.ts'
import { templateTextFormatters, type TemplateTextStyle, areJsonValuesEqual } from './template-document.ts'

interface TextEdit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Internal. The node can't be extended without changing existing text. */
class YamlInsertionError extends Error {}

/** Fails if `after` does more than add items and keys to `before`, or if they can't be inserted into the text. */
export function insertYamlAdditions(text: string, before: Json, after: Json): CatalogReadResult<string> {
  const edits: TextEdit[] = []
  try {
    const contents = parseYamlRootNode(text)
    if (contents === undefined) return { ok: false, error: 'the template does not contain a document' }
    new YamlTextInserter(text, edits, detectYamlListIndent(text, contents)).node(contents, before, after)
  } catch (error) {
    if (error instanceof YamlInsertionError) return { ok: false, error: error.message }
    // The YAML library recurses per bracket and can exhaust the stack.
    if (error instanceof RangeError) return { ok: false, error: 'the template is nested too deeply' }
    throw error
  }
  // From the end, so that earlier offsets remain valid. At the same offset, the inner edit comes first.
  const extended = edits
    .toReversed()
    .toSorted((a, b) => b.from - a.from)
    .reduce((so, { from, to, text: added }) => so.slice(0, from) + added + so.slice(to), text)
  return { ok: true, value: extended }
}

function parseYamlRootNode(text: string): Node | undefined {
  const [document] = parseAllDocuments(text, {
    keepSourceTokens: true,
    uniqueKeys: false,
    prettyErrors: false,
    strict: false,
    // Only positions matter here. Another parser interprets the values.
    schema: 'failsafe',
  })
  const contents = document?.contents
  return isNode(contents) ? contents : undefined
}

class YamlTextInserter {
  private readonly text: string
  private readonly edits: TextEdit[]
  private readonly lineEnd: string
  private readonly style: TemplateTextStyle

  constructor(text: string, edits: TextEdit[], listOffset: number) {
    this.text = text
    this.edits = edits
    this.lineEnd = text.includes('\r\n') ? '\r\n' : '\n'
    this.style = { listOffset, gap: ' ' }
  }

  node(node: unknown, before: Json, after: Json): void {
    if (areJsonValuesEqual(before, after)) return
    if (isSeq(node) && Array.isArray(before) && Array.isArray(after)) {
      const [old, now] = [before as readonly Json[], after as readonly Json[]]
      if (now.length < old.length || old.length !== node.items.length)
        throw createYamlInsertionError('the existing items of a list changed')
      old.forEach((item, at) => {
        this.node(node.items[at], item, now[at] ?? null)
      })
      if (now.length > old.length) this.items(node, now.slice(old.length))
      return
    }
    if (isMap(node) && isJsonObject(before) && isJsonObject(after)) {
      for (const key of Object.keys(before)) {
        const value = after[key]
        if (value === undefined) throw createYamlInsertionError('a key was removed')
        if (!areJsonValuesEqual(before[key] ?? null, value))
          this.pair(node.items, key, before[key] ?? null, value)
      }
      const added = Object.entries(after).filter(([key]) => before[key] === undefined)
      if (added.length > 0) this.pairs(node, Object.fromEntries(added))
      return
    }
    throw createYamlInsertionError('a value changed')
  }

  private pair(pairs: readonly Pair[], key: string, before: Json, after: Json): void {
    const found = pairs.filter((pair) => isScalar(pair.key) && pair.key.value === key)
    const [pair] = found
    // For a merge key or an alias, the value is shared and written elsewhere.
    if (!pair || found.length > 1)
      throw createYamlInsertionError(`the key "${key}" is missing, duplicated, or set by an alias`)
    const isNothing = before === null || (Array.isArray(before) && before.length === 0)
    if (isNothing && Array.isArray(after)) this.first(pair, after as readonly Json[])
    else this.node(pair.value, before, after)
  }

  private items(list: YAMLSeq, added: readonly Json[]): void {
    const last = list.items.at(-1)
    const token = list.srcToken
    if (!isNode(last) || !token) throw createYamlInsertionError('the end of a list cannot be located')
    if (token.type === 'flow-collection') {
      const end = findYamlNodeEnd(last)
      const start = last.range?.[0] ?? 0
      const blank = this.blankBefore(start)
      // Each item of a multi-line list gets its own line.
      const items = added.map(
        (item) => `,${blank || ' '}${this.flow(item, last, this.text.slice(start, end))}`,
      )
      this.edits.push({ from: end, to: end, text: items.join('') })
      return
    }
    if (token.type !== 'block-seq') throw createYamlInsertionError('a list has an unsupported format')
    // The library represents comments after the last item as an item without a dash.
    const dash = token.items
      .flatMap(({ start }) => start.filter(({ type }) => type === 'seq-item-ind'))
      .at(-1)
    const column = dash === undefined ? -1 : this.columnOf(dash.offset)
    if (dash === undefined || !this.isBlank(dash.offset - column, dash.offset))
      throw createYamlInsertionError('the items of a list do not start on their own lines')
    const gap = /^-( +)\S/.exec(this.text.slice(dash.offset, dash.offset + 20))?.[1] ?? ' '
    const like = isMap(last) && last.srcToken?.type === 'flow-collection' ? 'flow' : 'block'
    const lines = added.map((item) =>
      like === 'flow' && isJsonObject(item)
        ? `${' '.repeat(column)}-${gap}${this.flow(item, last, '')}`
        : templateTextFormatters.item(orderKeysLikeSiblingItems(item, list.items), column, {
            ...this.style,
            gap,
            quotes: detectValueQuoteStyles(last),
          }),
    )
    this.insertLines(this.afterLines(findYamlNodeEnd(last), column), lines)
  }

  /** Handles a list that is empty or absent. */
  private first(pair: Pair, added: readonly Json[]): void {
    const { key, value } = pair
    if (!isNode(key)) throw createYamlInsertionError('a key cannot be located')
    const keyStart = key.range?.[0] ?? 0
    const column = this.columnOf(keyStart)
    const isFlow = isNode(value) && value.srcToken?.type === 'flow-collection'
    const inBlock = this.isBlank(keyStart - column, keyStart) || /^ *- +$/.test(this.lineBefore(keyStart))
    if (isFlow && !inBlock) {
      const range = value.range
      if (!range) throw createYamlInsertionError('a list in the template cannot be located')
      const items = added.map((item) => templateTextFormatters.flow(item)).join(', ')
      this.edits.push({ from: range[0], to: range[1], text: `[${items}]` })
      return
    }
    if (!inBlock) throw createYamlInsertionError('an empty list is not on its own line')
    const colon = this.text.indexOf(':', key.range?.[1] ?? 0)
    if (isFlow && value.range) {
      // `entries: []`: replaces the brackets with items below.
      const start = this.text.slice(0, value.range[0]).trimEnd().length
      this.edits.push({ from: start, to: value.range[1], text: '' })
    }
    const from = isFlow && value.range ? value.range[1] : colon + 1
    const indent = column + this.style.listOffset
    this.insertLines(
      this.lineAfter(from),
      added.map((item) => templateTextFormatters.item(item, indent, this.style)),
    )
  }

  private pairs(map: YAMLMap, added: Readonly<Record<string, Json>>): void {
    const last = map.items.at(-1)
    const token = map.srcToken
    if (!last || !isNode(last.key) || !token) throw createYamlInsertionError('a mapping is empty')
    const end = Math.max(findYamlNodeEnd(last.key), isNode(last.value) ? findYamlNodeEnd(last.value) : 0)
    if (token.type === 'flow-collection') {
      const blank = this.blankBefore(last.key.range?.[0] ?? 0)
      const text = Object.entries(added).map(
        ([key, value]) =>
          `,${blank || ' '}${templateTextFormatters.flowPair(key, value, this.isJson(last.key))}`,
      )
      this.edits.push({ from: end, to: end, text: text.join('') })
      return
    }
    if (token.type !== 'block-map') throw createYamlInsertionError('a mapping has an unsupported format')
    const column = this.columnOf(last.key.range?.[0] ?? 0)
    const lines = templateTextFormatters.pairs(added, column, { ...this.style, quotes: new Map() })
    this.insertLines(this.afterLines(end, column), [lines])
  }

  private flow(item: Json, like: unknown, text: string): string {
    const orderedItem = orderKeysLikeSiblingItems(item, [like])
    const isJson = isMap(like) && this.isJson(like.items[0]?.key)
    if (!text.includes('\n')) return templateTextFormatters.flow(orderedItem, isJson)
    // Multi-line like the previous item, with keys deeper than the brace.
    const inner =
      isMap(like) && isNode(like.items[0]?.key) ? this.columnOf(like.items[0].key.range?.[0] ?? 0) : 0
    const outer = isNode(like) ? this.indentOf(like.range?.[0] ?? 0) : 0
    return templateTextFormatters.json(orderedItem, outer, Math.max(1, inner - outer))
  }

  private isJson(key: unknown): boolean {
    return isScalar(key) && key.type === 'QUOTE_DOUBLE'
  }

  /** The separator before an item. */
  private blankBefore(at: number): string {
    return /[ \t\r\n]*$/.exec(this.text.slice(Math.max(0, at - 200), at))?.[0] ?? ''
  }

  private insertLines(at: number, lines: readonly string[]): void {
    const whole = lines.map((line) => line.replaceAll('\n', this.lineEnd)).join(this.lineEnd)
    const isOpen = at > 0 && this.text[at - 1] !== '\n'
    this.edits.push({ from: at, to: at, text: isOpen ? this.lineEnd + whole : whole + this.lineEnd })
  }

  /** The next line start after comments deeper than `column`, which belong to the preceding item. */
  private afterLines(end: number, column: number): number {
    let at = end > 0 && this.text[end - 1] === '\n' ? end : this.lineAfter(end)
    for (;;) {
      const comment = /^( *)#[^\n]*(?:\n|$)/.exec(this.text.slice(at, at + 4096))
      if (!comment || (comment[1]?.length ?? 0) <= column) return at
      at += comment[0].length
    }
  }

  private lineAfter(at: number): number {
    const found = this.text.indexOf('\n', at)
    return found < 0 ? this.text.length : found + 1
  }

  private lineBefore(at: number): string {
    return this.text.slice(this.text.lastIndexOf('\n', at - 1) + 1, at)
  }

  private columnOf(at: number): number {
    return this.lineBefore(at).length
  }

  private indentOf(at: number): number {
    return /^ */.exec(this.lineBefore(at))?.[0].length ?? 0
  }

  private isBlank(from: number, to: number): boolean {
    return /^ *$/.test(this.text.slice(from, to))
  }
}

function createYamlInsertionError(why: string): YamlInsertionError {
  return new YamlInsertionError(
    `catalog-bot cannot extend the template without changing existing content: ${why}`,
  )
}

/** Excludes trailing whitespace and comments. */
function findYamlNodeEnd(node: Node): number {
  const own = node.range?.[1] ?? 0
  if (!isCollection(node) || node.srcToken?.type === 'flow-collection') return own
  const last: unknown = node.items.at(-1)
  if (isPair(last))
    return Math.max(
      isNode(last.key) ? findYamlNodeEnd(last.key) : 0,
      isNode(last.value) ? findYamlNodeEnd(last.value) : 0,
    )
  return isNode(last) ? findYamlNodeEnd(last) : own
}

/** Uses the key order of the last neighbor that shares most keys. */
function orderKeysLikeSiblingItems(item: Json, neighbours: readonly unknown[]): Json {
  if (!isJsonObject(item)) return item
  const its = Object.keys(item)
  const like = neighbours
    .map((neighbour) =>
      isMap(neighbour) ? neighbour.items.map((pair) => String(isScalar(pair.key) ? pair.key.value : '')) : [],
    )
    .filter((keys) => its.every((key) => keys.includes(key)))
    .at(-1)
  if (!like) return item
  return Object.fromEntries(
    its.toSorted((a, b) => like.indexOf(a) - like.indexOf(b)).map((key) => [key, item[key] ?? null]),
  )
}

/** The quoting style of each of the neighbor's values. */
function detectValueQuoteStyles(neighbour: unknown): ReadonlyMap<string, string> {
  if (!isMap(neighbour)) return new Map()
  return new Map(
    neighbour.items.flatMap(({ key, value }) =>
      isScalar(key) && isScalar(value) ? [[String(key.value), value.type ?? '']] : [],
    ),
  )
}

/** The indentation of list items relative to their key, from the first example in the text. */
function detectYamlListIndent(text: string, contents: Node): number {
  const column = (at: number) => at - (text.lastIndexOf('\n', at - 1) + 1)
  const pairs = isMap(contents) ? contents.items : []
  for (const { key, value } of [
    ...pairs,
    ...pairs.flatMap((pair) => (isMap(pair.value) ? pair.value.items : [])),
  ])
    if (isNode(key) && isSeq(value) && value.srcToken?.type === 'block-seq')
      return Math.max(0, column(value.srcToken.offset) - column(key.range?.[0] ?? 0))
  return 0
}
