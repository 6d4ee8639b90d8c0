// Resolves scalars like go-yaml v2 and its JSON conversion (YAML 1.1 booleans, octal, no base 60). Dates stay text.
import { decodeBase64 } from '../base64.ts'
import { decodeUtf8LikeGo } from '../utf8.ts'
import type { BoolValue, NullValue, NumberValue, StringValue } from '../tree.ts'
import { formatGoFloat32, formatJsonNumber } from '../number.ts'
import { getHexDigitValue, isDigit, YamlError } from './cursor.ts'
import type { ScalarNode } from './token.ts'

export type ParsedScalarValue = NullValue | BoolValue | NumberValue | StringValue

/** Integers keep all digits in keys and messages; floats are separate because they print shorter as keys. */
export type ResolvedScalar =
  | { readonly type: 'null' }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'int'; readonly value: number; readonly text: string }
  /** Beyond int64: valid as a value, rejected as a key. */
  | { readonly type: 'uint'; readonly value: number; readonly text: string }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'str'; readonly value: string }

const yamlTagPrefix = 'tag:yaml.org,2002:'

const scalarByYamlKeyword: ReadonlyMap<string, ResolvedScalar> = new Map<string, ResolvedScalar>([
  ...toYamlKeywordEntries(['', '~', 'null', 'Null', 'NULL'], { type: 'null' }),
  ...toYamlKeywordEntries('y Y yes Yes YES true True TRUE on On ON'.split(' '), {
    type: 'bool',
    value: true,
  }),
  ...toYamlKeywordEntries('n N no No NO false False FALSE off Off OFF'.split(' '), {
    type: 'bool',
    value: false,
  }),
  ...toYamlKeywordEntries(['.nan', '.NaN', '.NAN'], { type: 'float', value: NaN }),
  ...toYamlKeywordEntries(['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'], {
    type: 'float',
    value: Infinity,
  }),
  ...toYamlKeywordEntries(['-.inf', '-.Inf', '-.INF'], { type: 'float', value: -Infinity }),
])

function toYamlKeywordEntries(
  spellings: readonly string[],
  meaning: ResolvedScalar,
): [string, ResolvedScalar][] {
  return spellings.map((spelling) => [spelling, meaning])
}

/** Throws a YamlError if the tag requires another type, or the base64 is invalid. */
export function resolveScalar(node: ScalarNode): ResolvedScalar {
  const { tag, value } = node
  if (tag === '') return node.implicit ? resolvePlainScalar(value) : { type: 'str', value }
  if (!tag.startsWith(yamlTagPrefix)) return { type: 'str', value }
  switch (tag.slice(yamlTagPrefix.length)) {
    case 'binary': {
      const decoded = decodeBase64(value)
      if (typeof decoded === 'number') {
        throw new YamlError('yaml: !!binary value contains invalid base64 data', node.start)
      }
      return { type: 'str', value: decodeUtf8LikeGo(decoded) }
    }
    case 'timestamp':
      if (isTimestamp(value)) return { type: 'str', value }
      return requireScalarType(node, 'timestamp', resolvePlainScalar(value))
    case 'float': {
      const found = resolvePlainScalar(value)
      return requireScalarType(
        node,
        'float',
        found.type === 'int' ? { type: 'float', value: found.value } : found,
      )
    }
    case 'int':
      return requireScalarType(node, 'int', resolvePlainScalar(value))
    case 'bool':
      return requireScalarType(node, 'bool', resolvePlainScalar(value))
    case 'null':
      return requireScalarType(node, 'null', resolvePlainScalar(value))
    default:
      return { type: 'str', value }
  }
}

function requireScalarType(node: ScalarNode, expected: string, found: ResolvedScalar): ResolvedScalar {
  const type = found.type === 'uint' ? 'int' : found.type
  if (type === expected) return found
  throw new YamlError(`yaml: cannot decode !!${type} \`${node.value}\` as a !!${expected}`, node.start)
}

export function resolvePlainScalar(text: string): ResolvedScalar {
  const first = text === '' ? 0 : text.charCodeAt(0)
  const isNumeric = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d
  if (!isNumeric && first !== 0x2e && first !== 0 && !isFirstCharOfYamlKeyword(first))
    return { type: 'str', value: text }
  const word = text.length <= 5 ? scalarByYamlKeyword.get(text) : undefined
  if (word) return word
  if (isNumeric) return resolveNumber(text)
  return first === 0x2e ? resolveFloatWithLeadingPeriod(text) : { type: 'str', value: text }
}

/** n, t, f, o, y in either case, and the tilde. */
function isFirstCharOfYamlKeyword(c: number): boolean {
  const lower = c | 0x20
  return lower === 0x6e || lower === 0x74 || lower === 0x66 || lower === 0x6f || lower === 0x79 || c === 0x7e
}

/** A number that starts with its point: underscores only between digits. */
function resolveFloatWithLeadingPeriod(text: string): ResolvedScalar {
  const misplaced = text.includes('_') && (/[^0-9]_|_[^0-9]|_$/.test(text) || text.startsWith('_'))
  const plain = text.includes('_') ? text.replaceAll('_', '') : text
  return (misplaced ? undefined : parseFloatScalar(plain)) ?? { type: 'str', value: text }
}

const maxInt64 = 2n ** 63n - 1n
const maxUint64 = 2n ** 64n - 1n

function resolveNumber(text: string): ResolvedScalar {
  // Most strings that start with a digit are versions and dates.
  if (!/^[-+]?[0-9._]/.test(text)) return { type: 'str', value: text }
  const plain = text.includes('_') ? text.replaceAll('_', '') : text
  const integer = parseIntegerScalar(plain)
  if (integer !== undefined) {
    if (integer >= -maxInt64 - 1n && integer <= maxInt64) {
      return { type: 'int', value: Number(integer), text: String(integer) }
    }
    const isUnsigned = integer > 0n && integer <= maxUint64 && !plain.startsWith('+')
    if (isUnsigned) return { type: 'uint', value: Number(integer), text: String(integer) }
  }
  return parseFloatScalar(plain) ?? { type: 'str', value: text }
}

/** A decimal float64. Linear, because a text may be a hundred megabytes. */
function parseFloatScalar(text: string): ResolvedScalar | undefined {
  let at = text.startsWith('-') || text.startsWith('+') ? 1 : 0
  const skipDigits = (): number => {
    const from = at
    while (at < text.length && isDigit(text.charCodeAt(at))) at++
    return at - from
  }
  const whole = skipDigits()
  if (text[at] === '.') {
    at++
    if (skipDigits() + whole === 0) return undefined
  } else if (whole === 0) return undefined
  if (text[at] === 'e' || text[at] === 'E') {
    at++
    if (text[at] === '-' || text[at] === '+') at++
    if (skipDigits() === 0) return undefined
  }
  if (at < text.length) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? { type: 'float', value } : undefined
}

const integerRadixByPrefix: Readonly<Record<string, number>> = { x: 16, o: 8, b: 2 }

/** Go's integers with base prefixes; a leading zero means octal. Undefined beyond 64 bits. */
function parseIntegerScalar(text: string): bigint | undefined {
  const isNegative = text.startsWith('-')
  let at = isNegative || text.startsWith('+') ? 1 : 0
  let base = 10
  if (text[at] === '0' && at + 1 < text.length) {
    const named = integerRadixByPrefix[(text[at + 1] as string).toLowerCase()]
    base = named ?? 8
    at += named === undefined ? 1 : 2
  }
  if (at >= text.length) return undefined
  while (text[at] === '0') at++
  // Base 2 needs the most digits for 64 bits. Longer strings are not integers.
  if (text.length - at > 64) return undefined
  let magnitude = 0n
  for (; at < text.length; at++) {
    const digit = getHexDigitValue(text.charCodeAt(at))
    if (digit < 0 || digit >= base) return undefined
    magnitude = magnitude * BigInt(base) + BigInt(digit)
  }
  return isNegative ? -magnitude : magnitude
}

/** go-yaml's date formats; days and hours may have one digit. */
export function isTimestamp(text: string): boolean {
  const match =
    /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[Tt](\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)| (\d{1,2}):(\d{1,2}):(\d{1,2})(?:[.,]\d+)?)?$/.exec(
      text,
    )
  if (!match) return false
  const [year, month, day, hour, minute, second] = [
    ...match.slice(1, 4),
    match[4] ?? match[7],
    match[5] ?? match[8],
    match[6] ?? match[9],
  ].map((part) => Number(part ?? 0)) as [number, number, number, number, number, number]
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
  return day >= 1 && day <= days && hour < 24 && minute < 60 && second < 60
}

/** Throws if JSON has no such value. */
export function toScalarValue(resolved: ResolvedScalar, node: ScalarNode): ParsedScalarValue {
  const { start, end } = node
  switch (resolved.type) {
    case 'null':
      return { kind: 'null', start, end }
    case 'bool':
      return { kind: 'bool', start, end, value: resolved.value }
    case 'str':
      return { kind: 'string', start, end, value: resolved.value, quoted: !node.implicit }
    case 'float': {
      const text = formatJsonNumber(resolved.value)
      const number = { kind: 'number' as const, start, end, value: resolved.value, text }
      return decimalIntegerPattern.test(text) ? { ...number, isFloat: true } : number
    }
    case 'int':
    case 'uint':
      return { kind: 'number', start, end, value: resolved.value, text: resolved.text }
  }
}

const decimalIntegerPattern = /^-?\d+$/

/** The text of a scalar as a key. Undefined for null and integers beyond 63 bits, which are rejected. */
export function formatScalarAsMapKey(resolved: ResolvedScalar): string | undefined {
  switch (resolved.type) {
    case 'null':
    case 'uint':
      return undefined
    case 'float':
      return formatGoFloat32(resolved.value)
    case 'int':
      return resolved.text
    case 'bool':
    case 'str':
      return String(resolved.value)
  }
}
