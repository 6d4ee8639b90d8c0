// The tree of one document: JSON-like values that remember where they stand in the document's text.
// Made by the YAML and the JSON reader alike; never holds a cycle, but an alias may share a value.

import { KeyTable } from './key-table.ts'

/** Where a value or key stands: offsets into the document's text, `[start, end)`. */
export interface Span {
  readonly start: number
  readonly end: number
}

export interface NullValue extends Span {
  readonly kind: 'null'
}

export interface BoolValue extends Span {
  readonly kind: 'bool'
  readonly value: boolean
}

/** `value` is what every later step sees; `text` is the number as JSON wrote it (or as YAML's converter would). */
export interface NumberValue extends Span {
  readonly kind: 'number'
  readonly value: number
  readonly text: string
  /** Set where the YAML has a float that `text` writes like an integer: two of go-yaml's messages tell them apart. */
  readonly isFloat?: true
}

/** `quoted` is false for a plain YAML scalar, whose type was read off its looks. */
export interface StringValue extends Span {
  readonly kind: 'string'
  readonly value: string
  readonly quoted: boolean
}

/**
 * What was found out about a block of text, the same wherever in its file the text stands. Who finds out fills it in;
 * every field depends on the text alone.
 */
export interface BlockMemo {
  /** A Go type that the value fits as it is (fitting.ts). */
  fits?: object | undefined
  /** A shape in which nothing about the value is odd (find-oddities.ts). */
  plain?: unknown
  /** The property that the value is (blob-facts.ts). */
  property?: object | undefined
  /** The value as JSON of a Go type, and the function that wrote it (stub-csv.ts). */
  marshalled?: { readonly by: object; readonly text: string } | undefined
}

export interface ListValue extends Span {
  readonly kind: 'list'
  readonly items: readonly Value[]
  readonly memo?: BlockMemo
}

export interface MapValue extends Span {
  readonly kind: 'map'
  /** One entry a key, in the order of first appearance; of a repeated key the last value stays. */
  readonly entries: readonly MapEntry[]
  /** Keys that were written again, and so lost their earlier value. */
  readonly repeated?: readonly RepeatedKey[]
  readonly memo?: BlockMemo
}

export interface MapEntry {
  readonly key: string
  readonly keyStart: number
  readonly keyEnd: number
  readonly value: Value
}

export interface RepeatedKey extends Span {
  readonly key: string
}

export type Value = NullValue | BoolValue | NumberValue | StringValue | ListValue | MapValue

/** The value of a key, spelt exactly so; undefined where `value` is no map or has no such key. */
export function valueAt(value: Value | undefined, key: string): Value | undefined {
  if (value?.kind !== 'map') return undefined
  for (const entry of value.entries) if (entry.key === key) return entry.value
  return undefined
}

/** A map in the place of another. Never spread one: what it holds may not be its own, and what is known of it is of its text. */
export function withEntries({ start, end, repeated }: MapValue, entries: readonly MapEntry[]): MapValue {
  return { kind: 'map', start, end, entries, ...(repeated && { repeated }) }
}

/** As `withEntries`, a list. */
export function withItems({ start, end }: ListValue, items: readonly Value[]): ListValue {
  return { kind: 'list', start, end, items }
}

/**
 * A list that is complete, without the room to grow that engines leave in each: a document can be a million short ones.
 */
export function trimmed<Item>(items: Item[]): Item[] {
  return items.length < 16 ? items.slice() : items
}

/** So many keys are searched one by one. */
const few = 16

/** Gathers the entries of a map, later values of a key replacing earlier ones in linear time. */
export class MapBuilder {
  private readonly entries: MapEntry[] = []
  private readonly repeated: RepeatedKey[] = []
  /** The keys of a large map: a short one is searched faster than it is indexed. */
  private keys: KeyTable | undefined

  /**
   * Sets a key, and returns the value that it had. `isMerge` marks a value from a YAML merge key, which repeats keys by
   * design.
   */
  set(key: string, keyStart: number, keyEnd: number, value: Value, isMerge = false): Value | undefined {
    const position = this.find(key)
    const entry = { key, keyStart, keyEnd, value }
    if (position < 0) {
      this.entries.push(entry)
      if (this.entries.length === few) {
        this.keys = new KeyTable()
        for (const one of this.entries) this.keys.add(one.key)
      }
      return undefined
    }
    if (!isMerge) this.repeated.push({ key, start: keyStart, end: keyEnd })
    const before = this.entries[position]?.value
    this.entries[position] = entry
    return before
  }

  /** Where a key is, or -1. One that is new counts as known from now on. */
  private find(key: string): number {
    if (this.keys) return this.keys.add(key)
    for (let at = 0; at < this.entries.length; at++) if (this.entries[at]?.key === key) return at
    return -1
  }

  build(start: number, end: number): MapValue {
    const { repeated } = this
    const entries = trimmed(this.entries)
    return repeated.length > 0
      ? { kind: 'map', start, end, entries, repeated }
      : { kind: 'map', start, end, entries }
  }
}
