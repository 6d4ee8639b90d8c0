// The tree of one YAML or JSON document, with positions. Has no cycles, but aliases may share values.

/** Fewer keys are compared one by one. */
const maxLinearSearchKeys = 16

/** Offsets into the document's text, `[start, end)`. */
export interface TextSpan {
  readonly start: number
  readonly end: number
}

export interface NullValue extends TextSpan {
  readonly kind: 'null'
}

export interface BoolValue extends TextSpan {
  readonly kind: 'bool'
  readonly value: boolean
}

/** `value` is for all later steps; `text` is the number as JSON or YAML's converter writes it. */
export interface NumberValue extends TextSpan {
  readonly kind: 'number'
  readonly value: number
  readonly text: string
  /** Set for a YAML float that `text` writes like an integer, because two of go-yaml's messages distinguish them. */
  readonly isFloat?: true
}

/** `quoted` is false for a plain YAML scalar, whose type depends on its text. */
export interface StringValue extends TextSpan {
  readonly kind: 'string'
  readonly value: string
  readonly quoted: boolean
  /** Set if the reader found that the text is valid base64 of a text that begins with an opening brace. */
  readonly isBase64OfJson?: boolean
}

/** Cached facts about a block of text. They depend only on the text, not on its position in the file. */
export interface TextBlockCache {
  /** A Go type that the value fits without decoding (lazy-decoded.ts). */
  matchedType?: object | undefined
  /** A shape for which the value has no oddities (find-strict-decoding-problems.ts). */
  plain?: unknown
  property?: object | undefined
  /** The value as JSON of a Go type, and the function that wrote it (api-bundle.ts). */
  marshalled?: { readonly by: object; readonly text: string } | undefined
}

export interface ListValue extends TextSpan {
  readonly kind: 'list'
  readonly items: readonly ParsedValue[]
  readonly memo?: TextBlockCache
}

export interface MapValue extends TextSpan {
  readonly kind: 'map'
  /** One entry per key, in order of first appearance; the last value of a repeated key wins. */
  readonly entries: readonly MapEntry[]
  /** Keys that were repeated, and so lost their earlier value. */
  readonly repeated?: readonly DuplicateMapKey[]
  readonly memo?: TextBlockCache
}

export interface MapEntry {
  readonly key: string
  readonly keyStart: number
  readonly keyEnd: number
  readonly value: ParsedValue
}

export interface DuplicateMapKey extends TextSpan {
  readonly key: string
}

export type ParsedValue = NullValue | BoolValue | NumberValue | StringValue | ListValue | MapValue

/** A map with one entry and without positions, to decode a value like a field. */
export function createSingleEntryMap(key: string, value: ParsedValue): MapValue {
  return { kind: 'map', start: 0, end: 0, entries: [{ key, keyStart: 0, keyEnd: 0, value }] }
}

/** Matches the exact spelling. Returns undefined if `value` is not a map or has no such key. */
export function getMapValue(value: ParsedValue | undefined, key: string): ParsedValue | undefined {
  if (value?.kind !== 'map') return undefined
  const { entries } = value
  // An iterator would create an object for each entry.
  for (let at = 0; at < entries.length; at++) if (entries[at]?.key === key) return entries[at]?.value
  return undefined
}

/** The string under a key, or ''. */
export function getStringByKey(value: ParsedValue | undefined, key: string): string {
  const found = getMapValue(value, key)
  return found?.kind === 'string' ? found.value : ''
}

/**
 * Replaces a map's entries. Never spread a map: its content may be lazy or shared, and its memo belongs to its text.
 */
export function replaceMapEntries(
  { start, end, repeated }: MapValue,
  entries: readonly MapEntry[],
): MapValue {
  return { kind: 'map', start, end, entries, ...(repeated && { repeated }) }
}

/** Like `replaceMapEntries`, for a list. */
export function replaceListItems({ start, end }: ListValue, items: readonly ParsedValue[]): ListValue {
  return { kind: 'list', start, end, items }
}

/** Removes a finished list's spare capacity, because a document can be a million short lists. */
export function trimArraySpareCapacity<Item>(items: Item[]): Item[] {
  return items.length < 16 ? items.slice() : items
}

/** Collects a map's entries; later values of a key replace earlier ones in linear time. */
export class MapBuilder {
  private readonly entries: MapEntry[] = []
  private readonly repeated: DuplicateMapKey[] = []
  /** Only for a large map, because a short one is faster to search. */
  private keys: Map<string, number> | undefined

  /** Sets a key and returns its earlier value. `isMerge` marks a value from a YAML merge key, which may repeat keys. */
  set(
    key: string,
    keyStart: number,
    keyEnd: number,
    value: ParsedValue,
    isMerge = false,
  ): ParsedValue | undefined {
    const position = this.find(key)
    const entry = { key, keyStart, keyEnd, value }
    if (position < 0) {
      this.entries.push(entry)
      if (this.entries.length === maxLinearSearchKeys)
        this.keys = new Map(this.entries.map((one, index) => [one.key, index]))
      return undefined
    }
    if (!isMerge) this.repeated.push({ key, start: keyStart, end: keyEnd })
    const before = this.entries[position]?.value
    this.entries[position] = entry
    return before
  }

  /** Returns the key's index, or -1 for a new key, which it then adds. */
  private find(key: string): number {
    if (!this.keys) return this.entries.findIndex((entry) => entry.key === key)
    const index = this.keys.get(key)
    if (index === undefined) this.keys.set(key, this.keys.size)
    return index ?? -1
  }

  build(start: number, end: number): MapValue {
    const { repeated } = this
    const entries = trimArraySpareCapacity(this.entries)
    return repeated.length > 0
      ? { kind: 'map', start, end, entries, repeated }
      : { kind: 'map', start, end, entries }
  }
}

export function hasDuplicateKeys(entries: readonly MapEntry[]): boolean {
  if (entries.length > maxLinearSearchKeys)
    return new Set(entries.map(({ key }) => key)).size < entries.length
  for (let at = 1; at < entries.length; at++) {
    for (let before = 0; before < at; before++) if (entries[before]?.key === entries[at]?.key) return true
  }
  return false
}
