const quantityPattern =
  /^(?<sign>[+-]?)(?<whole>\d*)(?:\.(?<part>\d*))?(?<suffix>[numkKMGTPE]i?|[eE][+-]?\d+)?$/

const exponentByDecimalSuffix: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
}
const binarySuffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei']

interface ParsedQuantity {
  readonly sign: bigint
  /** In billionths, Kubernetes' precision. */
  readonly nano: bigint
  readonly kind: 'decimal' | 'binary' | 'exponent'
}

export function isQuantity(text: string): boolean {
  return parseQuantity(text) !== undefined
}

/** Kubernetes' canonical form, for example `1` for `1000m`. Returns other strings unchanged. */
export function toCanonicalQuantity(text: string): string {
  const amount = parseQuantity(text)
  if (!amount) return text
  const { sign, nano, kind } = amount
  if (nano === 0n) return '0'
  const before = sign < 0n ? '-' : ''
  // Below one Ki or with a fraction, Kubernetes uses the decimal form.
  if (kind === 'binary' && nano % 1_000_000_000n === 0n && nano >= 1024n * 1_000_000_000n) {
    let value = nano / 1_000_000_000n
    let power = 0
    for (; value % 1024n === 0n && power < binarySuffixes.length - 1; power++) value /= 1024n
    return `${before}${value}${binarySuffixes[power]}`
  }
  let value = nano
  let exponent = -9
  for (; value % 1000n === 0n && exponent < 18; exponent += 3) value /= 1000n
  if (kind === 'exponent') return `${before}${value}${exponent === 0 ? '' : `e${exponent}`}`
  const suffix = Object.entries(exponentByDecimalSuffix).find(([, power]) => power === exponent)?.[0] ?? ''
  return `${before}${value}${suffix}`
}

function parseQuantity(text: string): ParsedQuantity | undefined {
  const {
    sign = '',
    whole = '',
    part = '',
    suffix = '',
  } = quantityPattern.exec(text)?.groups ?? { suffix: '?' }
  if (suffix === '?' || (whole === '' && part === '')) return undefined
  // Longer than any quantity. The string is untrusted.
  if (text.length > 100) return undefined
  const isBinary = suffix.endsWith('i')
  const isExponent = /^[eE]./.test(suffix)
  if (isBinary && !binarySuffixes.includes(suffix)) return undefined
  if (!isBinary && !isExponent && !Object.hasOwn(exponentByDecimalSuffix, suffix)) return undefined
  const exponent = isExponent
    ? Number(suffix.slice(1))
    : isBinary
      ? 0
      : (exponentByDecimalSuffix[suffix] ?? 0)
  if (Math.abs(exponent) > 1000) return undefined
  const factor = isBinary ? 1024n ** BigInt(binarySuffixes.indexOf(suffix)) : 1n
  // Like Kubernetes, rounds up to billionths.
  const digits = BigInt(whole + part || '0') * factor
  const shift = exponent + 9 - part.length
  const ceiled = shift >= 0 ? digits * 10n ** BigInt(shift) : ceilDivide(digits, 10n ** BigInt(-shift))
  const maxNano = ((1n << 63n) - 1n) * 1_000_000_000n
  return {
    sign: sign === '-' ? -1n : 1n,
    nano: ceiled > maxNano ? maxNano : ceiled,
    kind: isBinary ? 'binary' : isExponent ? 'exponent' : 'decimal',
  }
}

function ceilDivide(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by
}
