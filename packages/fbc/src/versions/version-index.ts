// Items sorted by version, so that range queries use binary search. Untrusted catalogs can have 20,000 entries, each
// with a range.
import { compareVersions } from './version.ts'
import type { Version } from './version.ts'
import type { VersionComparator, VersionRange } from './version-range.ts'

interface IndexedVersionItems<Item> {
  readonly version: Version
  /** Items of equal precedence (ignoring build metadata), in input order. */
  readonly items: Item[]
  below: number
}

/** A range of positions, `[low, high)`, with some positions excluded. */
export interface VersionIndexRange {
  readonly low: number
  readonly high: number
  readonly without: ReadonlySet<number>
}

export class VersionIndex<Item> {
  private readonly steps: readonly IndexedVersionItems<Item>[]

  /** Excludes items without a version. */
  constructor(items: Iterable<Item>, versionOf: (item: Item) => Version | undefined) {
    const sorted: { item: Item; version: Version }[] = []
    for (const item of items) {
      const version = versionOf(item)
      if (version) sorted.push({ item, version })
    }
    sorted.sort((a, b) => compareVersions(a.version, b.version))
    const steps: IndexedVersionItems<Item>[] = []
    for (const [below, { item, version }] of sorted.entries()) {
      const last = steps.at(-1)
      if (last && compareVersions(last.version, version) === 0) last.items.push(item)
      else steps.push({ version, items: [item], below })
    }
    this.steps = steps
  }

  /** The first item of the lowest version in the range, optionally only among older or newer versions. */
  find(
    range: VersionRange,
    { olderThan, newerThan }: { readonly olderThan?: Version; readonly newerThan?: Version } = {},
  ): Item | undefined {
    const from = newerThan ? this.search(newerThan, true) : 0
    const to = olderThan ? this.search(olderThan, false) : this.steps.length
    let lowest = to
    for (const { low, high, without } of this.spans(range)) {
      let at = Math.max(low, from)
      while (without.has(at)) at++
      if (at < high && at < lowest) lowest = at
    }
    return lowest < to ? this.steps[lowest]?.items[0] : undefined
  }

  countOlder(version: Version): number {
    const step = this.steps[this.search(version, false)]
    if (step) return step.below
    const last = this.steps.at(-1)
    return last ? last.below + last.items.length : 0
  }

  /** Returns one span for each alternative that covers any positions. */
  *spans(range: VersionRange): Generator<VersionIndexRange> {
    for (const comparators of range.alternatives) {
      const span = this.span(comparators)
      if (span.low < span.high) yield span
    }
  }

  at(step: number): readonly Item[] {
    return this.steps[step]?.items ?? []
  }

  get length(): number {
    return this.steps.length
  }

  private span(comparators: readonly VersionComparator[]): VersionIndexRange {
    let low = 0
    // An alternative without comparators never matches.
    let high = comparators.length === 0 ? 0 : this.steps.length
    const without = new Set<number>()
    for (const { operator, version } of comparators) {
      const [first, next] = [this.search(version, false), this.search(version, true)]
      if (operator === '=' || operator === '>=') low = Math.max(low, first)
      if (operator === '>') low = Math.max(low, next)
      if (operator === '=' || operator === '<=') high = Math.min(high, next)
      if (operator === '<') high = Math.min(high, first)
      if (operator === '!=' && first < next) without.add(first)
    }
    return { low, high, without }
  }

  /** The first position that is not older than the version, or that is newer. */
  private search(version: Version, newer: boolean): number {
    let low = 0
    let high = this.steps.length
    while (low < high) {
      const middle = (low + high) >> 1
      const order = compareVersions((this.steps[middle] as IndexedVersionItems<Item>).version, version)
      if (order < 0 || (newer && order === 0)) low = middle + 1
      else high = middle
    }
    return low
  }
}
