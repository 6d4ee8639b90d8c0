// Parses version ranges as blang/semver v4 does, including its pitfalls, because opm and OLM use its ParseRange. Other
// rules check what the author probably intended.
import { quoteLikeGo } from '../go/text.ts'
import { compareVersions, parseVersion, type VersionParseResult, type Version } from './version.ts'

interface VersionIndexEntry<Item> {
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

// Sorted, for binary search: untrusted catalogs can have 20,000 entries, each with a range.
export class VersionIndex<Item> {
  private readonly steps: readonly VersionIndexEntry<Item>[]

  /** Excludes items without a version. */
  constructor(items: Iterable<Item>, versionOf: (item: Item) => Version | undefined) {
    const sorted: { item: Item; version: Version }[] = []
    for (const item of items) {
      const version = versionOf(item)
      if (version) sorted.push({ item, version })
    }
    sorted.sort((a, b) => compareVersions(a.version, b.version))
    const steps: VersionIndexEntry<Item>[] = []
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
      const order = compareVersions((this.steps[middle] as VersionIndexEntry<Item>).version, version)
      if (order < 0 || (newer && order === 0)) low = middle + 1
      else high = middle
    }
    return low
  }
}

type ComparisonOperator = '=' | '!=' | '<' | '<=' | '>' | '>='

export interface VersionComparator {
  readonly operator: ComparisonOperator
  readonly version: Version
}

/** Alternatives (`||`), each a list of comparators that must all match. An empty alternative never matches. */
export interface VersionRange {
  readonly alternatives: readonly (readonly VersionComparator[])[]
}

const comparisonOperatorBySymbol: Readonly<Record<string, ComparisonOperator>> = {
  '': '=',
  '=': '=',
  '==': '=',
  '!': '!=',
  '!=': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
}

/** Parses a range. Never throws. The error is blang's message. */
export function parseVersionRange(text: string): VersionParseResult<VersionRange> {
  try {
    // As in blang, errors about wildcards come first.
    const expanded = splitAtOrOperators(tokenizeVersionRange(text)).map((terms) =>
      terms.flatMap(expandVersionWildcards),
    )
    return { ok: true, value: { alternatives: expanded.map((terms) => terms.map(parseComparator)) } }
  } catch (error) {
    if (error instanceof VersionRangeError) return { ok: false, error: error.message }
    throw error
  }
}

class VersionRangeError extends Error {}

/** Whether the version is in the range. Unlike in npm's ranges, prereleases count like any other version. */
export function isVersionInRange(version: Version, range: VersionRange): boolean {
  return range.alternatives.some(
    (comparators) =>
      comparators.length > 0 &&
      comparators.every((comparator) => satisfiesVersionComparator(version, comparator)),
  )
}

function satisfiesVersionComparator(version: Version, comparator: VersionComparator): boolean {
  const order = compareVersions(version, comparator.version)
  switch (comparator.operator) {
    case '=':
      return order === 0
    case '!=':
      return order !== 0
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

/**
 * Splits at spaces, except directly after `<`, `>`, or `=`. blang silently ignores every single-byte token, so
 * `1.0.0 - 2.0.0` requires two versions at the same time.
 */
function tokenizeVersionRange(text: string): string[] {
  const found: string[] = []
  let start = 0
  let before = ''
  const add = (token: string): void => {
    const oneByte = token.length === 1 && token.charCodeAt(0) < 0x80
    if (token !== '' && !oneByte) found.push(token.replaceAll(' ', ''))
  }
  for (let index = 0; index < text.length; index++) {
    const character = text.charAt(index)
    if (character !== ' ') {
      before = character
    } else if (before !== '<' && before !== '>' && before !== '=') {
      add(text.slice(start, index))
      start = index + 1
    }
  }
  add(text.slice(start))
  return found
}

function splitAtOrOperators(terms: readonly string[]): string[][] {
  const alternatives: string[][] = []
  let last = 0
  for (const [index, term] of terms.entries()) {
    if (term !== '||') continue
    if (index === 0) throw new VersionRangeError("First element in range is '||'")
    alternatives.push(terms.slice(last, index))
    last = index + 1
  }
  if (last === terms.length) throw new VersionRangeError("Last element in range is '||'")
  return [...alternatives, terms.slice(last)]
}

/** The operator, and the rest starting with the first digit. */
function splitOperatorAndVersion(term: string): [operator: string, version: string] {
  const digit = term.search(/\p{Nd}/u)
  if (digit < 0) throw new VersionRangeError(`Could not get version from string: ${quoteLikeGo(term)}`)
  return [term.slice(0, digit).trim(), term.slice(digit)]
}

/**
 * Rewrites a term that contains an `x` (at any position, as in blang) to terms without wildcards. An operator that
 * blang does not support here is ignored, and a bound that it cannot increment becomes empty and fails later.
 */
function expandVersionWildcards(term: string): string[] {
  if (!term.includes('x')) return [term]
  const [operator, wildcard] = splitOperatorAndVersion(term)
  const lowest = replaceVersionWildcards(wildcard)
  const next = incrementWildcardVersion(lowest, wildcard)
  switch (operator) {
    case '>':
      return [`>=${next}`]
    case '>=':
      return [`>=${lowest}`]
    case '<':
      return [`<${lowest}`]
    case '<=':
      return [`<${next}`]
    case '':
    case '=':
    case '==':
      return [`>=${lowest}`, `<${next}`]
    case '!':
    case '!=':
      return [`<${lowest}`, `>=${next}`]
    default:
      return [lowest]
  }
}

function replaceVersionWildcards(version: string): string {
  const flat = version.replace('.x.x', '.x').replace('.x', '.0')
  return flat.split('.').length === 2 ? `${flat}.0` : flat
}

/**
 * The bound above a wildcard. `1.x` increments the first number, and `1.2.x` (and, incorrectly, `1.x.x`) the second.
 */
function incrementWildcardVersion(lowest: string, wildcard: string): string {
  const shape = wildcard.split('.')
  if (shape.at(-1) !== 'x') return ''
  const raised = shape.length === 2 ? 0 : shape.length === 3 ? 1 : -1
  const parts = lowest.split('.')
  const increment = incrementInt64String(parts[raised] ?? '')
  return increment === undefined ? '' : parts.with(raised, increment).join('.')
}

/** Go's Atoi, plus one, wrapping at 64 bits. */
function incrementInt64String(text: string): string | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined
  const digits = text.replace(/^[+-]?0*/, '')
  if (digits.length > 19) return undefined
  const value = BigInt(digits || 0) * (text.startsWith('-') ? -1n : 1n)
  if (BigInt.asIntN(64, value) !== value) return undefined
  return BigInt.asIntN(64, value + 1n).toString()
}

function parseComparator(term: string): VersionComparator {
  const [sign, text] = splitOperatorAndVersion(term)
  const operator = Object.hasOwn(comparisonOperatorBySymbol, sign)
    ? comparisonOperatorBySymbol[sign]
    : undefined
  const written = sign + text
  if (operator === undefined) {
    const why = `Could not parse comparator ${quoteLikeGo(sign)} in ${quoteLikeGo(written)}`
    throw new VersionRangeError(`Could not parse Range ${quoteLikeGo(term)}: ${why}`)
  }
  const version = parseVersion(text)
  if (!version.ok) {
    const why = `Could not parse version ${quoteLikeGo(text)} in ${quoteLikeGo(written)}: ${version.error}`
    throw new VersionRangeError(`Could not parse Range ${quoteLikeGo(term)}: ${why}`)
  }
  return { operator, version: version.value }
}
