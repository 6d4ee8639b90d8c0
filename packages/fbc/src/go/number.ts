// Formats numbers like Go and opm. Every number of a catalog passes through a 64-bit float.

/** Like encoding/json: plain digits from 1e-6 up to 1e21, otherwise an exponent. Not for NaN or infinities. */
export function formatJsonNumber(value: number): string {
  if (Object.is(value, -0)) return '-0'
  const size = Math.abs(value)
  if (size === 0 || (size >= 1e-6 && size < 1e21)) return formatNumberWithoutExponent(value)
  // Go drops the padding zero of a small negative exponent only: 1e-09 becomes 1e-9.
  return formatWithPaddedExponent(formatScientificNotation(value), 1)
}

/** Go's `%v` of a float64: `1e+06` from seven digits on. */
export function formatGoFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (Object.is(value, -0)) return '-0'
  return formatFloatAsPercentG(value, formatScientificNotation(value))
}

/** Go's shortest `%g` of a float32, which the YAML converter uses for number keys. */
export function formatGoFloat32(value: number): string {
  const single = Math.fround(value)
  if (Number.isNaN(single)) return '.nan'
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf'
  if (Object.is(single, -0)) return '-0'
  if (single === 0) return '0'
  for (let digits = 1; digits <= 9; digits++) {
    const text = single.toExponential(digits - 1)
    if (Math.fround(Number(text)) === single) return formatFloatAsPercentG(single, text)
  }
  return formatFloatAsPercentG(single, single.toExponential(8))
}

function formatScientificNotation(value: number): string {
  return value.toExponential()
}

/** `%g` with the shortest digits: an exponent below -4 and from 6 on. */
function formatFloatAsPercentG(value: number, scientific: string): string {
  if (value === 0) return '0'
  const exponent = Number(scientific.slice(scientific.indexOf('e') + 1))
  return exponent < -4 || exponent >= 6
    ? formatWithPaddedExponent(scientific, 2)
    : formatFixedNotation(scientific, exponent)
}

function formatNumberWithoutExponent(value: number): string {
  const text = String(value)
  return text.includes('e')
    ? formatFixedNotation(value.toExponential(), Number(text.slice(text.indexOf('e') + 1)))
    : text
}

function formatFixedNotation(scientific: string, exponent: number): string {
  const sign = scientific.startsWith('-') ? '-' : ''
  const digits = scientific.slice(sign.length, scientific.indexOf('e')).replace('.', '')
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  if (digits.length <= exponent + 1) return sign + digits + '0'.repeat(exponent + 1 - digits.length)
  return `${sign}${digits.slice(0, exponent + 1)}.${digits.slice(exponent + 1)}`
}

function formatWithPaddedExponent(scientific: string, width: number): string {
  const at = scientific.indexOf('e')
  const exponent = scientific.slice(at + 2)
  const digits = scientific[at + 1] === '+' ? exponent.padStart(2, '0') : exponent.padStart(width, '0')
  return `${scientific.slice(0, at)}e${scientific[at + 1]}${digits}`
}
